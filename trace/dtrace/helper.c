/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the helpers of a stack, frame by frame, see helper.h. Each run has a context like a clause
 * of its own: arguments, scratch, and no access to kernel memory. Its faults are discarded. Probe
 * context. Tested by test/trace/dtrace/fire/helper_test.c, on boards by test/board/helper.py.
 */
#include "trace/dtrace/helper.h"

#include "trace/assert.h"
#include "trace/dtrace/counter.h"
#include "trace/dtrace/fire.h"
#include "trace/dtrace/port.h"

struct helper_walk {
    struct dtrace_context *context;
    const struct dtrace_object *first, *last;
    uint8_t *frames;
    char *names;
    uint64_t text, data; /* distances by which they are moved */
    uint32_t n, used, room;
    bool lost;
};

/* Runs a helper. Returns its string's length, which is 0 if it has none or has failed, or `room` if
 * the string is longer. */
static uint32_t helper_run(struct dtrace_context *c, const struct dtrace_object *o, char *to,
                           uint32_t room)
{
    uint32_t length = 0;
    uint64_t address = dtrace_eval(c, o);

    if (c->fault.kind == DIF_FAULT_NONE && address) {
        length = (uint32_t)dtrace_load_string(c, to, address, room, false);
    }
    if (c->fault.kind != DIF_FAULT_NONE) {
        c->fault.kind = DIF_FAULT_NONE;
        return 0;
    }
    return length;
}

/* Stores a name. A name that doesn't fit entirely is left out, with all that follow: one overflow
 * per stack. */
static void helper_name(struct helper_walk *w)
{
    struct dtrace_context *c = w->context;
    const size_t scratch_used = c->scratch_used;
    const uint32_t nwindows = c->nwindows, room = w->room - w->used;
    char *to = w->names + w->used;
    uint32_t length = 0;

    for (const struct dtrace_object *o = w->first; o <= w->last && length == 0 && room; o++) {
        length = helper_run(c, o, to, room);
        c->scratch_used = scratch_used;
        c->nwindows = nwindows;
        if (length == 0) { /* a part may have been copied before it failed */
            __builtin_memset(to, 0, room);
        }
    }
    if (length < room) {
        w->used += length + 1;
        return;
    }
    __builtin_memset(to, 0, room);
    w->lost = true;
    dtrace_count(&c->consumer->stack_string_overflows);
}

static void helper_frame(void *arg, uint64_t pc, uint64_t sp)
{
    struct helper_walk *w = arg;
    const uint64_t args[5] = {pc, sp, w->text, w->data};

    dtrace_store_value(w->frames + 8 * w->n, pc, 8);
    if (w->n++ < DTRACE_HELPER_FRAMES && !w->lost) {
        w->context->args = args;
        helper_name(w);
    }
}

unsigned dtrace_helper_stack(struct dtrace_context *c, const struct dtrace_action *a, uint8_t *to,
                             uint32_t room)
{
    const uint32_t frames = (uint32_t)a->arg;
    struct helper_walk w = {.context = c,
                            .first = a->object,
                            .last = a->weight,
                            .frames = to,
                            .names = (char *)to + 8 * (size_t)frames,
                            .room = room};
    const struct dtrace_context saved = {
        .args = c->args, .denied = c->denied, .scratch_used = c->scratch_used};

    trace_assert(c->fault.kind == DIF_FAULT_NONE && room > 0);
    if (c->scratch_used == 0) {
        dtrace_scratch_find(c);
    }
    const size_t size = c->scratch_size, used_end = (c->scratch_used + 8) & ~(size_t)7;
    const size_t start = used_end < size ? used_end : size; /* the used part may be read */
    trace_assert(c->scratch_used <= size);
    if (size - start > DTRACE_HELPER_SCRATCH) {
        c->scratch_size = start + DTRACE_HELPER_SCRATCH;
    }
    c->scratch_used = start; /* not 0 if there is scratch, so that it is not looked up again */
    c->denied |= DTRACE_DENIED_KERNEL;
    dtrace_port_moved(&w.text, &w.data);
    unsigned n = dtrace_port_frames(helper_frame, &w, frames);
    c->args = saved.args;
    c->denied = saved.denied;
    c->scratch_used = saved.scratch_used;
    c->scratch_size = size;
    return n;
}
