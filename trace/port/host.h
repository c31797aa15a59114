/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trace port of the host, for unit tests and fuzzers: CPUs are an array with the current one chosen
 * by a variable, the test sets the clock, interrupts are a counter. The test supplies the variables
 * (test/trace/fake_port.c). -DTRACE_PORT_CLOCK_BITS=32 builds it like a Cortex-M.
 */
#ifndef TRACE_PORT_HOST_H
#define TRACE_PORT_HOST_H

#ifndef TRACE_PORT_CLOCK_BITS
#define TRACE_PORT_CLOCK_BITS 64
#endif
#define TRACE_PORT_IRQ_BITS 8
#define TRACE_PORT_HEADER(cpu, code) ((uint32_t)(cpu)->cpu_bits | (code))

#define TRACE_PORT_CODE_HIGH 0xffffff80u /* as on AArch64 */

#define TRACE_PORT_EXIT_WORK 8u
#define TRACE_PORT_REQUEST_EXIT(cpu) ((cpu)->exit_work |= TRACE_PORT_EXIT_WORK)

extern unsigned trace_host_cpu;       /* the current CPU */
extern unsigned trace_host_irq_depth; /* > 0: interrupts masked */
extern volatile uint8_t trace_host_sites[];
extern uint32_t trace_host_remembered; /* see trace_port_remembered() */
uint64_t trace_host_clock(void);
struct trace_cpu *trace_port_cpu_at(unsigned cpu);
uint64_t trace_clock_extend(uint32_t low); /* trace/clock.c */

static inline struct trace_cpu *trace_port_cpu(void)
{
    return trace_port_cpu_at(trace_host_cpu);
}

static inline uintptr_t trace_port_irq_save(void)
{
    return trace_host_irq_depth++;
}

static inline void trace_port_irq_restore(uintptr_t state)
{
    trace_host_irq_depth = (unsigned)state & ((1u << TRACE_PORT_IRQ_BITS) - 1);
}

static inline void trace_port_irq_window(uintptr_t state)
{
    unsigned depth = trace_host_irq_depth;

    trace_port_irq_restore(state);
    TRACE_YIELD_POINT("window");
    trace_host_irq_depth = depth;
}

static inline bool trace_port_irq_masked(void)
{
    return trace_host_irq_depth > 0;
}

static inline uint32_t trace_port_clock_low(void)
{
    return (uint32_t)trace_host_clock();
}

static inline uint32_t trace_port_remembered(void)
{
    return trace_host_remembered;
}

static inline uint64_t trace_port_clock(void)
{
    return TRACE_PORT_CLOCK_BITS == 32 ? trace_clock_extend(trace_port_clock_low())
                                       : trace_host_clock();
}

static inline uintptr_t trace_port_pack(uint32_t code, uintptr_t irq)
{
    return irq | (uintptr_t)code << TRACE_PORT_IRQ_BITS;
}

static inline struct trace_slot *trace_port_put(struct trace_slot *slot, uint32_t header,
                                                uint32_t time, uint32_t d1, uint32_t d2)
{
    *slot = (struct trace_slot){.header = header, .time = time, .d1 = d1, .d2 = d2};
    return slot + 1;
}

static inline enum trace_site_mode trace_port_site(unsigned id)
{
    return (enum trace_site_mode)trace_host_sites[id];
}

static inline bool trace_port_site_on(unsigned id)
{
    return trace_host_sites[id] != TRACE_SITE_OFF;
}

#endif
