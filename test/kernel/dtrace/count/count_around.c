/* SPDX-License-Identifier: BSD-2-Clause */
/* See count_around.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernel/dtrace/count/own.h"
#include "kernel/dtrace/dtrace.h"
#include "test/kernel/dtrace/count/count_around.h"
#include "trace/dtrace/port.h"
#include "trace/filter.h"

struct cpu cpus[CONFIG_CPUS];
volatile uint32_t cpus_online, kernel_lock_word;
struct cpu *fake_cpu = &cpus[0];
uint64_t fake_cycles;
uint32_t trace_site_probed[TRACE_BITS(TRACE_EV_COUNT)];
struct thread threads[CONFIG_CPUS][2], idle[CONFIG_CPUS];
int site;
unsigned settled;
static struct timer_node *timers[8];

void on(unsigned cpu)
{
    fake_cpu = &cpus[cpu];
    fake_cpu->locked = true;
}

void around_reset(void)
{
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        cpus[n].id = n;
        cpus[n].bit = 1u << n;
        cpus[n].idle = &idle[n];
        cpus[n].current = &threads[n][0];
        idle[n].index = (uint16_t)(3 * n);
        for (unsigned i = 0; i < 2; i++) { /* new ones, at the places of those before */
            threads[n][i].index = (uint16_t)(3 * n + 1 + i);
            threads[n][i].generation++;
        }
        cpus[n].online = true;
    }
    on(0);
    ((struct count_facts *)count_facts())->known = false;
}

void switch_to(struct thread *next)
{
    thread_counted(fake_cpu->current);
    fake_cpu->current = next;
}

void cpu_run_on(uint32_t which, void (*fn)(void *arg), void *arg)
{
    struct cpu *before = fake_cpu;

    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        if (which >> n & 1) {
            on(n);
            fn(arg);
        }
    }
    fake_cpu = before;
}

void cpu_run_on_all(void (*fn)(void *arg), void *arg)
{
    cpu_run_on((1u << CONFIG_CPUS) - 1, fn, arg);
}

void dtrace_site_want(unsigned id, bool wanted)
{
    assert_int_equal(id, TRACE_EV_cpu_switch);
    site += wanted ? 1 : -1;
    settled = 0;
}

void trace_sites_settle(void)
{
    settled = 1;
}

void timer_node_init(struct timer_node *node, void (*fire)(struct timer_node *))
{
    *node = (struct timer_node){.fire = fire};
}

void timer_node_start(struct timer_node *node, uint64_t at)
{
    unsigned i = 0;

    while (timers[i] && timers[i] != node) {
        i++;
    }
    assert_true(i < sizeof(timers) / sizeof(timers[0]));
    timers[i] = node;
    node->at = at;
    node->place = 1;
}

void timer_node_stop(struct timer_node *node)
{
    node->place = 0;
}

uint64_t clock_ns_to_cycles(uint64_t ns)
{
    return ns;
}

void time_passes(void)
{
    for (unsigned i = 0; i < sizeof(timers) / sizeof(timers[0]); i++) {
        struct timer_node *node = timers[i];
        if (node && node->place) {
            node->place = 0;
            node->fire(node);
        }
    }
}

void *dtrace_port_keep(size_t bytes)
{
    static _Alignas(16) char kept[1 << 16];

    assert_true(bytes <= sizeof(kept));
    return kept;
}
