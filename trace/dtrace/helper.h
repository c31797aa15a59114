/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers: objects by which a program names the frames of its own stack, in an action jstack() or
 * ustack() (docs/guide/helpers.md). A helper's value is the name of one frame, whose PC is arg0 and
 * whose stack pointer is arg1; arg2 and arg3 are how far the program's text and data lie behind
 * where they were linked. The action has them as a range, from `object` to `weight`: each program
 * brings its own, and the first that gives a name counts.
 *
 * They belong to the programs and not to the user, so they are more restricted than other objects:
 * they store only clause-local variables and read only the process's own memory, and their steps,
 * scratch and frames are bounded. A helper that fails returns no name, and never ends the clause. A
 * port without them has DTRACE_PORT_HELPERS 0, and none of helper*.c.
 */
#ifndef TRACE_DTRACE_HELPER_H
#define TRACE_DTRACE_HELPER_H

#include "trace/dtrace/code.h"
#include "trace/dtrace/ecb.h"

enum {
    DTRACE_HELPER_FRAMES = 128,      /* further ones have no names */
    DTRACE_HELPER_SCRATCH = 4096,    /* bytes, for one frame */
    DTRACE_HELPER_STEPS = 16 * 1024, /* most for one frame, besides those that strings take */
    DTRACE_HELPER_STRINGS = 32,      /* steps, in numbers of strings */
};

/* Returns whether an action of this kind may have helpers. */
static inline bool dtrace_helper_kind(uint16_t kind)
{
    return kind == DTRACE_ACT_USTACK || kind == DTRACE_ACT_JSTACK;
}

/* Checks the range of helpers of an action, whose objects are valid. Returns 0, -EINVAL or -E2BIG.
 * Control context. (helper_load.c) */
int dtrace_helpers_check(const struct dtrace_image *, const struct dtrace_image_action *,
                         uint32_t strsize, struct dtrace_refusal *);

/* Stores the frames' addresses at `to`, at most as many as the action has room for, and after that
 * room the names, one after the other with a NUL each, in `room` bytes. The memory is zeroed
 * before. Returns the number of frames. Probe context. (helper.c) */
unsigned dtrace_helper_stack(struct dtrace_context *, const struct dtrace_action *, uint8_t *to,
                             uint32_t room);

#endif
