/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timers: one sorted list per CPU, programmed into that CPU's one-shot hardware timer (no tick).
 */
#ifndef KERNEL_TIMER_H
#define KERNEL_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/list.h"

struct cpu;

struct timer_node {
    struct list link;                      /* [k] in cpu->timers; self-linked: idle */
    uint64_t at;                           /* [k] cycles */
    void (*fire)(struct timer_node *node); /* [I] lock held; the node is out of the list */
    uint8_t cpu;                           /* [k] whose list */
};

void timer_node_init(struct timer_node *node, void (*fire)(struct timer_node *));
void timer_node_start(struct timer_node *node, uint64_t at); /* on this CPU; restarts if running */
void timer_node_stop(struct timer_node *node);               /* from any CPU; idle is fine */
static inline bool timer_node_running(const struct timer_node *node)
{
    return node->link.next && !list_empty(&node->link);
}
/* Kernel exit work: fires what is due on this CPU and sets the hardware timer again. */
void timer_work(struct cpu *cpu);
void timer_reprogram(struct cpu *cpu);
void timer_init(void);

uint64_t clock_ns_to_cycles(uint64_t ns); /* saturates */
uint64_t clock_cycles_to_ns(uint64_t cycles);
uint64_t clock_realtime_ns(void);

#endif
