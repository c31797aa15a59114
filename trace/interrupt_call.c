/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceEvent() for the kernel's own code, from any context: an interrupt's first part, a board
 * driver, a hook, with or without the kernel lock. Takes no lock and never waits.
 *
 * INSERT* write at once. START, STARTNOSTATE and STOP are recorded and executed when this CPU
 * leaves the kernel, because they patch sites and cross-call; if a process's call that changes the
 * trace or D is in progress, after that, by the CPU that ends it. Of several commands the last one
 * counts. FLUSHBUFFER is recorded separately and executed after them, on every CPU. There is no
 * thread to dump the state, so START acts like STARTNOSTATE, except for a ring, which a process's
 * STOP dumps. All other commands are refused with -EPERM. A kernel in which nothing calls it leaves
 * this file out (scripts/board.mk). Tested by test/trace/interrupt_test.c; on a board by
 * test/board/interrupt.
 */
#include "abi/errno.h"
#include "abi/sys/trace.h"
#include "trace/control.h"
#include "trace/interrupt.h"

static long interrupt_noted(uint32_t cmd)
{
    trace_interrupt_note(cmd);
    return 0;
}

/* Returns the length including the NUL, or one more than the limit. */
static unsigned length_with_nul(const char *text)
{
    unsigned n = 0;

    while (n < KYMO_TRACE_USER_COMBINE_MAX && text[n]) {
        n++;
    }
    return n + 1;
}

static long insert_data(uint32_t cmd, const uint32_t args[4], const void *data)
{
    if (!data) {
        return -EFAULT;
    }
    switch (cmd) {
    case _NTO_TRACE_INSERTCUSEREVENT:
        return trace_user_combine(args[0], data, args[2]);
    case _NTO_TRACE_INSERTCCLASSEVENT:
        return trace_class_combine(true, args[0], args[1], data, args[3]);
    default: /* _NTO_TRACE_INSERTUSRSTREVENT */
        return trace_user_string(args[0], data, length_with_nul(data));
    }
}

long trace_interrupt(uint32_t cmd, const uint32_t args[4], const void *data)
{
    switch (cmd) {
    case _NTO_TRACE_INSERTEVENT:
        return trace_raw_event(true, args);
    case _NTO_TRACE_INSERTSUSEREVENT:
        return trace_user_simple(args[0], args[1], args[2]);
    case _NTO_TRACE_INSERTSCLASSEVENT:
        return trace_class_simple(true, args[0], args[1], args[2], args[3]);
    case _NTO_TRACE_INSERTCUSEREVENT:
    case _NTO_TRACE_INSERTCCLASSEVENT:
    case _NTO_TRACE_INSERTUSRSTREVENT:
        return insert_data(cmd, args, data);
    case _NTO_TRACE_START:
    case _NTO_TRACE_STARTNOSTATE:
        return trace_state.log.block ? interrupt_noted(cmd) : -ECANCELED;
    case _NTO_TRACE_STOP:
        return interrupt_noted(cmd);
    case _NTO_TRACE_FLUSHBUFFER:
        /* These are the same results as for a process. The exit checks again, because the state may
         * have changed. */
        if (!trace_state.log.block) {
            return -EFAULT;
        }
        if (trace_state.running && trace_state.policy == TRACE_RING) {
            return -ECANCELED;
        }
        return interrupt_noted(cmd);
    default:
        return -EPERM;
    }
}
