/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace port whose sites are all on, or all off; the events end in fake.c, which counts them. */
#ifndef TEST_UNIT_IPC_FAKE_TRACE_H
#define TEST_UNIT_IPC_FAKE_TRACE_H

#define TRACE_PORT_CLOCK_BITS 64
#define TRACE_PORT_IRQ_BITS 0
#define TRACE_PORT_HEADER(cpu, code) (code)
#define TRACE_PORT_EXIT_WORK 8u
#define TRACE_PORT_REQUEST_EXIT(cpu) ((void)(cpu))

extern struct trace_cpu fake_trace_cpu;

extern bool fake_events_off;

static inline struct trace_cpu *trace_port_cpu(void)
{
    return &fake_trace_cpu;
}
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
static inline uint64_t trace_port_clock(void)
{
    return 0;
}
static inline uint32_t trace_port_clock_low(void)
{
    return 0;
}
static inline uintptr_t trace_port_what(uint32_t code, uintptr_t irq)
{
    return irq | (uintptr_t)code << TRACE_PORT_IRQ_BITS;
}
static inline struct trace_slot *trace_port_put(struct trace_slot *slot, uint32_t header,
                                                uint32_t time, uint32_t d1, uint32_t d2)
{
    *slot = (struct trace_slot){.header = header, .time = time, .d1 = d1, .d2 = d2};
    return slot + 1;
}
static inline __attribute__((always_inline)) enum trace_site_mode trace_port_site(unsigned id)
{
    (void)id;
    return TRACE_SITE_LOG;
}
static inline __attribute__((always_inline)) bool trace_port_site_on(unsigned id)
{
    (void)id;
    return !fake_events_off;
}
static inline bool trace_port_cas32(volatile uint32_t *p, uint32_t expected, uint32_t desired)
{
    return __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

#endif
