/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timer nodes: one heap per CPU, soonest first, and that CPU's one-shot hardware timer. No tick.
 *
 * A node is in the heap of the CPU that started it, and fires there. The hardware is set for the
 * earlier of the first node and the end of the running thread's quantum, or even earlier, because
 * its range is limited, or because a node has been stopped since. In that case it is only set again
 * when it fires. So a timeout that is started and stopped with each message rarely writes to the
 * hardware.
 *
 * The function of a node is its owner's work. If a thread of higher priority, of another process,
 * has the CPU when the node is due, the interrupt only moves it to the heap of deferred nodes,
 * highest priority first; there it stays, and costs that thread no more time, until the scheduler
 * finds no thread of higher priority for some CPU (sched_service_request()). Nodes that would be
 * due soon are moved together with it. So until such a thread gives up the CPU, timers cost it at
 * most one interrupt per millisecond, and each timer one move into the other heap.
 *
 * Starting and stopping are O(log n). Kernel lock held. Tested by test/kernel (timer_test) and
 * test/board/programs/t_fair.c.
 */
#include "kernel/base/cpu.h"
#include "kernel/base/table.h"
#include "kernel/time/time.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/thread/thread.h"
#include "trace/hook.h"

/* When a node is deferred, nodes that are due within this time are deferred with it, because each
 * would interrupt the same thread again. */
#define AHEAD_NS 1000000u
#define AHEAD_MOST 8
/* The most nodes that fire in one interrupt; a thread that they have made READY may run before the
 * next ones. */
#define FIRED_MOST 4
#define NOT_SET 0 /* cpu->timer_at: unknown, so any value differs from it; 0 is not a valid time */
/* Timers, threads' timeouts, the replacements of sampling interrupts, D's cleaner. */
#define NODES_MAX (TABLE_ENTRIES(TIMERS) + TABLE_ENTRIES(THREADS) + CONFIG_CPUS + 1)

_Static_assert(CONFIG_TIMERS + CONFIG_THREADS + CONFIG_CPUS + 1 < UINT16_MAX, "timer_node.place");

struct heap {
    unsigned count; /* [k] */
    /* [k] a parent, (n - 1) / 2, comes before its children */
    TABLE_ARRAY(struct timer_node *, nodes, NODES_MAX);
};

static struct heap heaps[CONFIG_CPUS], deferred; /* [k] */
static uint32_t started;                         /* [k] number of nodes put into heaps */

/* ---- heaps -------------------------------------------------------------------------- */

static inline bool node_before(const struct timer_node *a, const struct timer_node *b)
{
    return a->key < b->key || (a->key == b->key && (int32_t)(a->seq - b->seq) < 0);
}

static inline void heap_put(struct heap *heap, unsigned place, struct timer_node *node)
{
    heap->nodes[place] = node;
    node->place = (uint16_t)(place + 1);
}

/* Puts node at this index; its parents may have to come after it. */
static void heap_raise(struct heap *heap, unsigned place, struct timer_node *node)
{
    while (place > 0 && node_before(node, heap->nodes[(place - 1) / 2])) {
        heap_put(heap, place, heap->nodes[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    heap_put(heap, place, node);
}

/* Puts node at this index; its children may have to come before it. */
static void heap_lower(struct heap *heap, unsigned place, struct timer_node *node)
{
    for (;;) {
        unsigned child = 2 * place + 1;
        if (child + 1 < heap->count && node_before(heap->nodes[child + 1], heap->nodes[child])) {
            child++;
        }
        if (child >= heap->count || !node_before(heap->nodes[child], node)) {
            break;
        }
        heap_put(heap, place, heap->nodes[child]);
        place = child;
    }
    heap_put(heap, place, node);
}

static void heap_insert(struct heap *heap, struct timer_node *node)
{
    kernel_assert(node->place == 0 && heap->count < NODES_MAX);
    node->seq = started++;
    heap_raise(heap, heap->count++, node);
}

static struct heap *heap_of(const struct timer_node *node)
{
    return node->deferred ? &deferred : &heaps[node->cpu];
}

/* Requests service at the priority of the first deferred node; withdraws the request if there is
 * none. */
static void timer_service_ask(void)
{
    sched_service_request(deferred.count > 0 ? deferred.nodes[0]->priority : 0);
}

static __attribute__((noinline)) void heap_remove(struct timer_node *node)
{
    struct heap *heap = heap_of(node);
    unsigned place = node->place - 1u;

    kernel_assert(node->place != 0 && heap->nodes[place] == node);
    struct timer_node *last = heap->nodes[--heap->count];
    if (last != node && place > 0 && node_before(last, heap->nodes[(place - 1) / 2])) {
        heap_raise(heap, place, last);
    } else if (last != node) {
        heap_lower(heap, place, last);
    }
    node->place = 0;
    if (node->deferred) {
        node->deferred = false;
        timer_service_ask();
    }
}

const struct timer_node *timer_nth(unsigned cpu, unsigned n)
{
    return n < heaps[cpu].count ? heaps[cpu].nodes[n] : NULL;
}

static struct timer_node *timer_first(const struct cpu *cpu)
{
    const struct heap *heap = &heaps[cpu->id];
    return heap->count > 0 ? heap->nodes[0] : NULL;
}

/* ---- nodes -------------------------------------------------------------------------- */

static void heap_make(struct heap *heap)
{
    heap->count = 0;
    TABLE_MAKE(heap->nodes, struct timer_node *, NODES_MAX);
}

void timer_init(void)
{
    clock_init();
    timer_table_init();
    heap_make(&deferred);
    for (unsigned i = 0; i < CONFIG_CPUS; i++) {
        heap_make(&heaps[i]);
        cpus[i].timer_at = NOT_SET;
        cpus[i].quantum_end = UINT64_MAX;
    }
}

void timer_node_init(struct timer_node *node, void (*fire)(struct timer_node *))
{
    *node = (struct timer_node){.fire = fire};
}

static void timer_defer(struct timer_node *node)
{
    node->deferred = true;
    node->key = UINT8_MAX - node->priority;
    heap_insert(&deferred, node);
    timer_service_ask();
}

/* Called when the first node of the CPU's heap is new: the hardware may be set too late for it. */
static __attribute__((noinline)) void timer_first_is_new(struct cpu *cpu)
{
    if (cpu != arch_cpu()) {
        cpu_request(cpu, WORK_TIMER);
    } else if (cpu->timer_at == NOT_SET || heaps[cpu->id].nodes[0]->at < cpu->timer_at) {
        timer_reprogram(cpu);
    }
}

/* Puts a node whose time is set into cpu's heap. */
static void timer_node_enter(struct timer_node *node, struct cpu *cpu)
{
    node->cpu = (uint8_t)cpu->id;
    node->key = node->at;
    heap_insert(&heaps[cpu->id], node);
    if (timer_first(cpu) == node) {
        timer_first_is_new(cpu);
    }
}

void timer_node_start_on(struct timer_node *node, struct cpu *cpu, uint64_t at)
{
    kernel_assert(kernel_locked());
    kernel_assert(node->fire);
    timer_node_stop(node);
    if (TRACE_PORT_SITE_ON(TRACE_EV_timer_arm)) { /* otherwise the time isn't converted */
        trace_site_timer_arm((uintptr_t)node, clock_cycles_to_ns(at));
    }
    node->at = at;
    timer_node_enter(node, cpu);
}

void timer_node_start(struct timer_node *node, uint64_t at)
{
    kernel_assert(kernel_locked());
    timer_node_start_on(node, arch_cpu(), at);
}

/* Starts a node in any case: with the event, and at any position of the heap. */
static __attribute__((noinline)) void timer_start_any(struct timer_node *node, uint64_t at)
{
    timer_node_start_on(node, arch_cpu(), at);
}

/* All calls are tail calls, so no registers are saved. */
void timer_node_start_for(struct timer_node *node, const struct process *owner, uint8_t priority,
                          uint64_t at)
{
    struct cpu *cpu = arch_cpu();
    struct heap *heap = &heaps[cpu->id];
    unsigned place = heap->count;

    kernel_assert(kernel_locked());
    kernel_assert(node->fire && !timer_node_running(node) && !node->deferred);
    node->owner = owner;
    node->priority = priority;
    if (TRACE_PORT_SITE_ON(TRACE_EV_timer_arm) ||
        (place > 0 && at < heap->nodes[(place - 1) / 2]->key)) {
        timer_start_any(node, at);
        return;
    }
    kernel_assert(place < NODES_MAX);
    node->at = at;
    node->key = at;
    node->seq = started++;
    node->cpu = (uint8_t)cpu->id;
    heap->count = place + 1;
    heap_put(heap, place, node);
    if (place == 0 && cpu->timer_at - 1 >= at) { /* or it is NOT_SET, which is 0 */
        timer_first_is_new(cpu);
    }
}

void timer_node_stop(struct timer_node *node)
{
    kernel_assert(kernel_locked());
    struct heap *heap = &heaps[node->cpu];

    if (!timer_node_running(node)) {
        return;
    }
    if (!node->deferred && node->place == heap->count) { /* the last node: no other one moves */
        heap->count--;
        node->place = 0;
    } else {
        heap_remove(node);
    }
}

void timer_node_charge(struct timer_node *node, const struct process *owner, uint8_t priority)
{
    kernel_assert(kernel_locked());
    if (!node->deferred) {
        node->owner = owner;
        node->priority = priority;
        return;
    }
    heap_remove(node);
    node->owner = owner;
    node->priority = priority;
    timer_defer(node);
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

/* Returns whether the thread on this CPU has precedence over the node's owner. */
static bool timer_waits(const struct cpu *cpu, const struct timer_node *node)
{
    const struct thread *t = cpu->current;

    return node->owner && t && t->state == STATE_RUNNING && t->priority > node->priority &&
           t->proc != node->owner;
}

static void timer_node_fire(struct timer_node *node)
{
    trace_site_timer_fire((uintptr_t)node, clock_cycles_to_ns(node->at));
    node->fire(node);
}

void timer_work(struct cpu *cpu)
{
    kernel_assert(kernel_locked());
    kernel_assert(cpu == arch_cpu());
    uint64_t now = arch_cycles(), until = now;
    struct timer_node *node;
    unsigned moved = 0, fired = 0;
    while ((node = timer_first(cpu)) &&
           node->at <= until) { /* periodic nodes start again after `now` */
        if (timer_waits(cpu, node)) {
            heap_remove(node);
            timer_defer(node);
            until = ++moved < AHEAD_MOST ? now + clock_ns_to_cycles(AHEAD_NS) : now;
        } else if (node->at <= now && fired++ < FIRED_MOST) {
            heap_remove(node);
            timer_node_fire(node);
        } else { /* it is not due, or its interrupt comes at once */
            break;
        }
    }
    cpu->timer_at = NOT_SET; /* a one-shot that has fired is no longer set */
    timer_reprogram(cpu);
}

void timer_service(void)
{
    kernel_assert(kernel_locked());
    struct timer_node *node = deferred.count > 0 ? deferred.nodes[0] : NULL;

    if (node && node->at <= arch_cycles()) {
        heap_remove(node);
        timer_node_fire(node);
    } else if (node) { /* it is not due yet */
        heap_remove(node);
        timer_node_enter(node, arch_cpu());
    }
}
