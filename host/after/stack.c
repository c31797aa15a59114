/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ustack() of threads whose program records its functions: FUNC_ENTER and FUNC_EXIT tell which have
 * been entered and not left. The innermost frame is the function's first address, as where in it
 * the thread was is in no event; the others are where the calls were made. See after.h.
 */
#include "host/after/after.h"
#include "host/kymo.h"

#include <stdlib.h>

enum { DEPTH_MOST = 1024, ROOM = 16 };

struct after_frame {
    uint64_t function, call_site;
};

static uint32_t after_stack_state_epoch = 1; /* rises when events of functions were lost */

void after_stacks_forget(void)
{
    after_stack_state_epoch++;
}

static void stack_current(struct after_thread *t)
{
    if (t->stack_epoch != after_stack_state_epoch) {
        t->stack_epoch = after_stack_state_epoch;
        t->depth = 0;
    }
}

/* A recursion that is deeper than DEPTH_MOST has its outermost functions only. */
void after_stack_enter(struct after_thread *t, uint64_t function, uint64_t call_site)
{
    stack_current(t);
    if (t->depth < DEPTH_MOST && t->depth == t->stack_room) {
        uint32_t room = t->stack_room ? 2 * t->stack_room : ROOM;

        t->stack = kymo_memory(realloc(t->stack, room * sizeof(*t->stack)));
        t->stack_room = room;
    }
    if (t->depth < DEPTH_MOST) {
        t->stack[t->depth] = (struct after_frame){function, call_site};
    }
    t->depth++;
}

/* longjmp() leaves several at once. If nothing tells that the function was entered, all that is
 * known was inside of it. */
void after_stack_exit(struct after_thread *t, uint64_t function)
{
    stack_current(t);
    if (t->depth > DEPTH_MOST) {
        t->depth--;
        return;
    }
    while (t->depth > 0 && t->stack[--t->depth].function != function) {
    }
}

unsigned after_stack(const struct after_thread *t, uint64_t *to, unsigned max)
{
    unsigned known = t->depth < DEPTH_MOST ? t->depth : DEPTH_MOST;
    unsigned n = t->stack_epoch == after_stack_state_epoch && known > 0 ? known + 1 : 0;

    n = n < max ? n : max;
    for (unsigned i = 0; to && i < n; i++) {
        to[i] = i == 0 ? t->stack[known - 1].function : t->stack[known - i].call_site;
    }
    return n;
}
