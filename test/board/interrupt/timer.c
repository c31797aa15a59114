/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linked into the kernel of one test image: what a board's driver may do with TraceEvent() from an
 * interrupt (kernel_trace_event()), done in the first part of the timer's: the linker sends calls
 * of intr_timer() through here (--wrap). test/board/programs/t_interrupt.c looks at what comes.
 *
 * While there are buffers: at its 4th interrupt it starts the trace, then it inserts an event of
 * each kind in each, in one it asks for a flush and inserts another one, and at the 12th after the
 * start it stops. User event 900: d1 is a count; 901: the answers to calls that may not be made
 * here; 904: the answer to the flush.
 */
#include <stddef.h>

#include "abi/sys/trace.h"
#include "kernel/arch/entry.h"
#include "trace/slot.h"

#define START_AT 4
#define FLUSH_AT 8
#define STOP_AT 16

void __real_intr_timer(unsigned irq, uintptr_t ip, bool in_kernel);
void __wrap_intr_timer(unsigned irq, uintptr_t ip, bool in_kernel);

static uint32_t count; /* of this CPU's interrupts: the image runs on one */

static void insert(void)
{
    static const uint32_t words[6] = {1, 2, 3, 4, 5, 6};

    kernel_trace_event(_NTO_TRACE_INSERTSUSEREVENT, (const uint32_t[4]){900, count, ~count}, NULL);
    kernel_trace_event(_NTO_TRACE_INSERTCUSEREVENT, (const uint32_t[4]){902, 0, 6}, words);
    kernel_trace_event(_NTO_TRACE_INSERTUSRSTREVENT, (const uint32_t[4]){903}, "an interrupt");
    kernel_trace_event(_NTO_TRACE_INSERTSCLASSEVENT,
                       (const uint32_t[4]){TRACE_CLASS_COMM, 3, count, 0x1234}, NULL);
    kernel_trace_event(_NTO_TRACE_INSERTEVENT,
                       (const uint32_t[4]){TRACE_CLASS_INT << TRACE_CLASS_SHIFT | 2, 0, 77, count},
                       NULL);
}

/* A long interrupt: the flush is done after it. */
static void flush(void)
{
    long r = kernel_trace_event(_NTO_TRACE_FLUSHBUFFER, (const uint32_t[4]){0}, NULL);

    kernel_trace_event(_NTO_TRACE_INSERTSUSEREVENT, (const uint32_t[4]){904, count, (uint32_t)-r},
                       NULL);
}

/* What it must not: each answer is an event. */
static void refused(void)
{
    static const uint32_t commands[] = {_NTO_TRACE_QUERYEVENTS, _NTO_TRACE_DEALLOCBUFFER,
                                        _NTO_TRACE_DELALLCLASSES, KYMO_TRACE_TAKEBUFFER,
                                        0xffffffff};

    for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        long r = kernel_trace_event(commands[i], (const uint32_t[4]){0}, NULL);
        kernel_trace_event(_NTO_TRACE_INSERTSUSEREVENT,
                           (const uint32_t[4]){901, commands[i], (uint32_t)-r}, NULL);
    }
}

void __wrap_intr_timer(unsigned irq, uintptr_t ip, bool in_kernel)
{
    static const uint32_t none[4];

    if (count < START_AT) {
        if (kernel_trace_event(_NTO_TRACE_STARTNOSTATE, none, NULL) == 0 && ++count < START_AT) {
            kernel_trace_event(_NTO_TRACE_STOP, none, NULL); /* the last one counts: not yet */
        }
    } else if (count < STOP_AT) {
        insert();
        if (count == FLUSH_AT) {
            flush();
        }
        if (++count == STOP_AT) {
            refused();
            kernel_trace_event(_NTO_TRACE_STOP, none, NULL);
        }
    }
    __real_intr_timer(irq, ip, in_kernel);
}
