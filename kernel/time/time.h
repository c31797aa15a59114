/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time: the clocks, and timers: one heap per CPU, programmed into that CPU's one-shot
 * hardware timer (no tick). Kernel lock held, except for conversions and the monotonic clock.
 */
#ifndef KERNEL_TIME_TIME_H
#define KERNEL_TIME_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"

struct cpu;
struct thread;
struct process;

/*
 * A node fires at a time. A node with an owner is the owner's work, at its priority: if it is due
 * while another process's thread of higher priority has the CPU, it is deferred until a CPU has
 * nothing more important to do. A node without an owner belongs to the kernel and fires in the
 * interrupt's exit.
 */
struct timer_node {
    uint64_t at;  /* [k] cycles */
    uint64_t key; /* [k] order in its heap: at, or by priority */
    /* [I] called with the lock held; the node is in no heap */
    void (*fire)(struct timer_node *node);
    const struct process *owner; /* [k] NULL: the kernel */
    uint32_t seq;                /* [k] order among nodes with equal keys */
    uint16_t place;              /* [k] index in its heap, from 1; 0: idle */
    uint8_t priority;            /* [k] of the owner */
    uint8_t cpu;                 /* [k] CPU in whose heap it is */
    bool deferred;               /* [k] it is in the heap of deferred nodes */
};

void timer_node_init(struct timer_node *node, void (*fire)(struct timer_node *));
/* Sets the owner and the priority with which the node fires from now on; it may be running. */
void timer_node_charge(struct timer_node *node, const struct process *owner, uint8_t priority);
void timer_node_start(struct timer_node *node, uint64_t at); /* on this CPU; restarts if running */
/* Like timer_node_charge() and timer_node_start(), for a node that is not running. */
void timer_node_start_for(struct timer_node *node, const struct process *owner, uint8_t priority,
                          uint64_t at);
/* Like timer_node_start(), on any CPU, which is interrupted if necessary. */
void timer_node_start_on(struct timer_node *node, struct cpu *cpu, uint64_t at);
void timer_node_stop(struct timer_node *node); /* from any CPU; idle is fine */
static inline bool timer_node_running(const struct timer_node *node)
{
    return node->place != 0;
}
/* Returns the n-th node of a CPU's heap, or NULL after the last one. The first is the soonest, and
 * each node's parent, (n - 1) / 2, is no later than the node. */
const struct timer_node *timer_nth(unsigned cpu, unsigned n);
/* Fires or defers, as work of the kernel's exit, the timers due on this CPU, and sets the hardware
 * timer again. */
void timer_work(struct cpu *cpu);
/* Fires the first deferred node, as work of the kernel's exit on a CPU with nothing more important
 * to do. */
void timer_service(void);
void timer_reprogram(struct cpu *cpu);
void timer_init(void);
void timer_table_init(void); /* timer_init() calls it */

/*
 * The timeouts of TimerTimeout() (kernel/time/timeout.c). thread_block() calls timeout_arm() for
 * the state it has just set (after refusing to block if timeout_now is set and the state is one of
 * timeout_states); thread_wake() and thread_end() call timeout_disarm(). timeout_moved() is for a
 * thread that changes from one blocked state to another without running. A call that ends without
 * blocking clears timeout_states itself (timeout_unused()), so that a timeout never outlives its
 * call. A thread needs no set-up except zeroed fields.
 */
void timeout_arm(struct thread *t, unsigned state);
void timeout_disarm(struct thread *t);
void timeout_moved(struct thread *t, unsigned state);

/* Conversions. Both are exact to one unit: the result is floor(exact) or one less; no division. */
uint64_t clock_ns_to_cycles(uint64_t ns); /* saturates */
uint64_t clock_cycles_to_ns(uint64_t cycles);
static inline uint64_t clock_add(uint64_t a, uint64_t b) /* saturates */
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
uint64_t clock_now_ns(void);      /* CLOCK_MONOTONIC: since the trace clock's 0 */
uint64_t clock_realtime_ns(void); /* since 1970, or since boot until the clock is set */
/* Returns the monotonic time of this real time, future or past, or 0 if it is before the clock's
 * start. */
uint64_t clock_monotonic_at(uint64_t realtime_ns);
uint64_t clock_expiry(uint64_t ns); /* converts monotonic ns, never early; UINT64_MAX: never */
struct clock_ratio {
    uint64_t whole;    /* [I] integer part of the ratio */
    uint64_t fraction; /* [I] of 2^64 */
    uint64_t limit;    /* [I] arguments from here on saturate */
};
extern struct clock_ratio clock_cycles_per_ns; /* [I] */
static inline uint64_t clock_scale(uint64_t x, const struct clock_ratio *r)
{
    uint64_t part = arch_multiply_high(x, r->fraction);
    if (r->whole == 0) {
        return part;
    }
    return x >= r->limit ? UINT64_MAX : x * r->whole + part;
}
/* Like clock_expiry(), for ns from now on. Adds 3 cycles: two for rounding down twice, and one for
 * the part of the present cycle that has passed. */
static inline uint64_t clock_expiry_after(uint64_t ns)
{
    return clock_add(arch_cycles(), clock_add(clock_scale(ns, &clock_cycles_per_ns), 3));
}
uint64_t clock_divide(uint64_t n, uint64_t d, uint64_t *rest); /* shift and subtract: slow */
void clock_init(void);                                         /* timer_init() calls it */
/* Called when CLOCK_REALTIME was set: re-arms some of its absolute timers, from number `first` on.
 * Returns the number to continue with, or 0 after the last one. */
unsigned timer_clock_was_set(unsigned first);
unsigned timer_count(const struct process *proc); /* for checks: counts them one by one */
bool timer_process_gone(struct process *proc);    /* removes an ending process's timers */
#define SIGNAL_ALARM 14                           /* SIGALRM */

#endif
