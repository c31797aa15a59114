/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Executes commands that trace_interrupt() has recorded (interrupt_call.c) when a CPU leaves the
 * kernel, and never during a call that changes the trace or D: the kernel holds them from that
 * call's beginning to its end, even if the call is left in between. Tested by
 * test/trace/interrupt_test.c, test/kernel/thread/long_call_test.c; on a board by
 * test/board/interrupt.
 */
#include "abi/sys/trace.h"
#include "trace/atomic.h"
#include "trace/control.h"
#include "trace/interrupt.h"

static volatile uint32_t wanted; /* [a] a command; 0: none */
static volatile uint32_t flush;  /* [a] FLUSHBUFFER, or 0 */
static bool held;                /* [k] */

static void ask_exit(void)
{
    uintptr_t irq = trace_port_irq_save();
    struct trace_cpu *cpu = trace_port_cpu();

    TRACE_PORT_REQUEST_EXIT(cpu);
    trace_port_irq_restore(irq);
}

void trace_interrupt_note(uint32_t cmd)
{
    trace_atomic_store(cmd == _NTO_TRACE_FLUSHBUFFER ? &flush : &wanted, cmd, __ATOMIC_RELEASE);
    ask_exit();
}

void trace_interrupt_hold(void)
{
    held = true;
}

void trace_interrupt_serve(void)
{
    if (held) {
        return;
    }
    bool flushes = flush && trace_atomic_exchange(&flush, 0, __ATOMIC_ACQUIRE);

    switch (wanted ? trace_atomic_exchange(&wanted, 0, __ATOMIC_ACQUIRE) : 0) {
    case _NTO_TRACE_START:
        trace_state_start(true); /* no thread could make the requested dump */
        break;
    case _NTO_TRACE_STARTNOSTATE:
        trace_state_start(false);
        break;
    case _NTO_TRACE_STOP:
        trace_state_stop();
        break;
    default:
        break;
    }
    if (flushes) {
        trace_state_flush();
    }
}

void trace_interrupt_release(void)
{
    held = false;
    if (wanted || flush) {
        ask_exit();
    }
}

bool trace_interrupt_waits(void)
{
    return held && (wanted || flush);
}
