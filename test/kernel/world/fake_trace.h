/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace port whose sites are all on, or all off; the events end in fake.c, which counts them. */
#ifndef TEST_KERNEL_WORLD_FAKE_TRACE_H
#define TEST_KERNEL_WORLD_FAKE_TRACE_H

#include "test/kernel/fake/fake_trace_port.h"
#include "trace/event_id.h"

extern struct trace_cpu fake_trace_cpu;
extern uint64_t fake_trace_clock; /* 0: no event is a common case of the log */
extern bool fake_events_off;
/* Else D listens, too: to the events of messages, and on its own sites. */
extern bool fake_log_only;

/* Records what is put into a slot. Returns the same slot. */
struct trace_slot *fake_put(struct trace_slot *slot, uint32_t header, uint32_t d1, uint32_t d2);

static inline uint64_t trace_port_clock(void)
{
    return fake_trace_clock;
}
static inline uint32_t trace_port_clock_low(void)
{
    return (uint32_t)fake_trace_clock;
}
static inline struct trace_slot *trace_port_put(struct trace_slot *slot, uint32_t header,
                                                uint32_t time, uint32_t d1, uint32_t d2)
{
    (void)time;
    return fake_put(slot, header, d1, d2);
}
static inline struct trace_cpu *trace_port_cpu(void)
{
    return &fake_trace_cpu;
}
static inline __attribute__((always_inline)) enum trace_site_mode trace_port_site(unsigned id)
{
    if (fake_events_off || (fake_log_only && id >= TRACE_EV_EVENTS && id != TRACE_EV_messages)) {
        return TRACE_SITE_OFF;
    }
    return id == TRACE_EV_messages && !fake_log_only ? TRACE_SITE_ALL : TRACE_SITE_LOG;
}
static inline __attribute__((always_inline)) bool trace_port_site_on(unsigned id)
{
    return trace_port_site(id) != TRACE_SITE_OFF;
}

#endif
