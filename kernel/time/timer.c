/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timer nodes: one list per CPU, soonest first, and that CPU's one-shot hardware timer. No tick.
 *
 * A node is in the list of the CPU that started it, and fires there. The hardware is set for the
 * sooner of the first node and the end of the running thread's quantum. It may fire too early (its
 * range is limited, or the node has been stopped meanwhile): then it is only set again. Kernel lock
 * held. Proved by test/unit_ipc.
 */
#include "kernel/base/cpu.h"
#include "kernel/time/time.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "trace/hook.h"

#define NOT_SET 0 /* cpu->timer_at: unknown, so any value differs; no time is 0 */

void timer_init(void)
{
    clock_init();
    for (unsigned i = 0; i < CONFIG_CPUS; i++) {
        list_init(&cpus[i].timers);
        cpus[i].timer_at = NOT_SET;
        cpus[i].quantum_end = UINT64_MAX;
    }
}

void timer_node_init(struct timer_node *node, void (*fire)(struct timer_node *))
{
    list_init(&node->link);
    node->fire = fire;
}

static struct timer_node *timer_first(const struct cpu *cpu)
{
    return list_empty(&cpu->timers) ? NULL : list_entry(cpu->timers.next, struct timer_node, link);
}

/* For assertions: the CPU's nodes are all its own, soonest first. */
static inline bool timers_ordered(const struct cpu *cpu)
{
    uint64_t at = 0;

    list_for_each (pos, &cpu->timers) {
        const struct timer_node *node = list_entry(pos, struct timer_node, link);
        if (node->at < at || node->cpu != cpu->id) {
            return false;
        }
        at = node->at;
    }
    return true;
}

void timer_node_start_on(struct timer_node *node, struct cpu *cpu, uint64_t at)
{
    kernel_assert(kernel_locked());
    kernel_assert(node->fire);
    timer_node_stop(node);
    struct list *pos = cpu->timers.next;
    while (pos != &cpu->timers && list_entry(pos, struct timer_node, link)->at <= at) {
        pos = pos->next;
    }
    trace_site_timer_arm((uintptr_t)node, clock_cycles_to_ns(at));
    node->at = at;
    node->cpu = (uint8_t)cpu->id;
    list_insert_before(pos, &node->link);
    kernel_assert(timers_ordered(cpu));
    if (cpu->timers.next != &node->link) {
        return;
    }
    if (cpu == arch_cpu()) {
        timer_reprogram(cpu);
    } else {
        cpu_request(cpu, WORK_TIMER);
    }
}

void timer_node_start(struct timer_node *node, uint64_t at)
{
    kernel_assert(kernel_locked());
    timer_node_start_on(node, arch_cpu(), at);
}

void timer_node_stop(struct timer_node *node)
{
    kernel_assert(kernel_locked());
    if (timer_node_running(node)) {
        list_remove(&node->link);
    }
}

void timer_reprogram(struct cpu *cpu)
{
    kernel_assert(kernel_locked());
    kernel_assert(cpu == arch_cpu());
    const struct timer_node *node = timer_first(cpu);
    uint64_t at = node ? node->at : UINT64_MAX;
    at = cpu->quantum_end < at ? cpu->quantum_end : at;
    at = at == NOT_SET ? NOT_SET + 1 : at;
    if (at != cpu->timer_at) {
        cpu->timer_at = at;
        arch_timer_set(at);
    }
}

void timer_work(struct cpu *cpu)
{
    kernel_assert(kernel_locked());
    kernel_assert(cpu == arch_cpu() && timers_ordered(cpu));
    uint64_t now = arch_cycles();
    struct timer_node *node;
    while ((node = timer_first(cpu)) &&
           node->at <= now) { /* periodic nodes start again after `now` */
        list_remove(&node->link);
        trace_site_timer_fire((uintptr_t)node, clock_cycles_to_ns(node->at));
        node->fire(node);
    }
    cpu->timer_at = NOT_SET; /* a one-shot that has fired is no longer set */
    timer_reprogram(cpu);
}
