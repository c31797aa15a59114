/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the trace ports of tests of the kernel have in common: no interrupts. Included by those,
 * which have the clock, the slots and the sites.
 */
#ifndef TEST_KERNEL_FAKE_FAKE_TRACE_PORT_H
#define TEST_KERNEL_FAKE_FAKE_TRACE_PORT_H

#define TRACE_PORT_CLOCK_BITS 64
#define TRACE_PORT_IRQ_BITS 0
#define TRACE_PORT_HEADER(cpu, code) (code)
#define TRACE_PORT_EXIT_WORK 8u
#define TRACE_PORT_REQUEST_EXIT(cpu) ((void)(cpu))

static inline uint32_t trace_port_remembered(void)
{
    return 0;
}
static inline uintptr_t trace_port_irq_save(void)
{
    return 0;
}
static inline void trace_port_irq_restore(uintptr_t state)
{
    (void)state;
}
static inline void trace_port_irq_window(uintptr_t state)
{
    (void)state;
}
static inline bool trace_port_irq_masked(void)
{
    return true;
}
static inline uintptr_t trace_port_pack(uint32_t code, uintptr_t irq)
{
    return irq | (uintptr_t)code << TRACE_PORT_IRQ_BITS;
}

#endif
