/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads: the table, creation, states, blocking and waking. thread_end.c ends them. Kernel lock
 * held. thread_create() returns -EAGAIN when a table is full.
 */
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/panic.h"
#include "kernel/thread/thread.h"

#include "abi/errno.h"
#include "kernel/base/kercall.h"
#include "kernel/base/pool.h"
#include "kernel/proc/proc.h"
#include "kernel/thread/sched.h"
#include "kernel/base/string.h"
#include "kernel/base/visible.h"
#include "kernel/base/cpu.h"
#include "trace/stamp.h"

TABLE_OF(struct thread, thread_table, CONFIG_THREADS);
static uint16_t generations[CONFIG_THREADS]; /* [k] outlives the threads: part of rcvid */
static struct pool pool;
static uint16_t slots;        /* [k] number of slots in thread_table that were ever used */
static uint8_t inherit_depth; /* [k] */

_Static_assert(CONFIG_THREADS > CONFIG_CPUS, "each CPU has an idle thread");
_Static_assert(CONFIG_CPUS <= CONFIG_THREADS_PER_PROCESS, "idle threads belong to one process");

void thread_init(void)
{
    TABLE_MAKE(thread_table, struct thread, TABLE_ENTRIES(THREADS));
    pool_init(&pool, TABLE_POOL(thread_table), sizeof(struct thread), TABLE_ENTRIES(THREADS));
}

struct thread *thread_find(struct process *proc, int tid)
{
    struct thread *t = proc->threads[thread_slot(tid)];

    return t && t->tid == tid && !(t->flags & THREAD_FORGOTTEN) ? t : NULL;
}

struct thread *thread_living(struct process *proc, int tid)
{
    struct thread *t = thread_find(proc, tid);

    return t && t->state != STATE_DEAD ? t : NULL;
}

struct thread *thread_by_index(unsigned index)
{
    if (index >= TABLE_ENTRIES(THREADS) || !TABLE_HAS(thread_table, index)) {
        return NULL;
    }
    struct thread *t = TABLE_AT(thread_table, index);
    return t->proc ? t : NULL;
}

unsigned thread_slots(void)
{
    return slots;
}

const struct thread *thread_ended_by_index(unsigned index)
{
    if (index >= slots) {
        return NULL;
    }
    const struct thread *t = TABLE_AT(thread_table, index);
    return t->tid != 0 && !t->proc ? t : NULL;
}

void thread_free(struct thread *t)
{
    kernel_assert(kernel_locked());
    kernel_assert(t->state == STATE_DEAD || t->state == STATE_STOPPED);
    kernel_assert(t->proc->threads[thread_slot(t->tid)] == t);
    kernel_assert(t != arch_cpu()->current && !handoff_of(t));
    kernel_assert(!pulse_queued(&t->notice));
    t->proc->threads[thread_slot(t->tid)] = NULL;
    quota_release(&t->proc->quota, KYMO_LIMIT_THREADS, 1);
    generations[t->index]++;
    t->proc = NULL;
    t->rcvid = 0;
    pool_free(&pool, t);
}

void thread_forget(struct thread *t)
{
    kernel_assert(t->state == STATE_DEAD);
    if (pulse_queued(&t->notice)) {
        t->flags |= THREAD_FORGOTTEN;
    } else {
        thread_free(t);
    }
}

/* Returns the next tid after the process's previous one whose slot is free, or 0. So a tid is used
 * again only after all others, and identifies one thread for long. */
static int next_tid(const struct process *proc)
{
    int tid = proc->last_tid;

    for (int i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        tid = tid == KYMO_TID_MAX ? 1 : tid + 1;
        if (!proc->threads[thread_slot(tid)]) {
            return tid;
        }
    }
    return 0;
}

/* Allocates a thread in its tables, zeroed. */
static struct thread *thread_new(struct process *proc)
{
    int tid = next_tid(proc);
    struct thread **slot = &proc->threads[thread_slot(tid)];

    if (tid == 0) {
        return NULL;
    }
    struct thread *t = pool_alloc_charged(&pool, &proc->quota, KYMO_LIMIT_THREADS);
    if (!t) {
        return NULL;
    }
    kernel_assert(!*slot && !t->proc);
    t->proc = proc;
    t->tid = tid;
    t->pid = proc->pid;
    t->index = (uint16_t)TABLE_INDEX(thread_table, t);
    slots = t->index < slots ? slots : (uint16_t)(t->index + 1);
    t->generation = generations[t->index];
    t->rcvid = (int32_t)((t->index + 1u) | (uint32_t)t->generation << THREAD_RCVID_BITS);
    t->state = STATE_STOPPED;
    t->call = THREAD_CALL_NONE;
    t->runmask = UINT32_MAX;
    t->born = arch_cycles();
    list_init(&t->ready);
    list_init(&t->joiners);
    *slot = t;
    proc->last_tid = (uint16_t)tid;
    return t;
}

static void thread_inherit(struct thread *t, const struct thread *creator,
                           const struct _thread_attr *attr)
{
    t->base_priority = (uint8_t)(attr->priority ? attr->priority : creator->base_priority);
    t->priority = t->base_priority;
    t->policy = (uint8_t)(attr->policy ? attr->policy : creator->policy);
    t->runmask = attr->runmask ? attr->runmask : creator->runmask;
    t->flags = attr->flags & KYMO_THREAD_DETACHED ? THREAD_DETACHED : 0;
    t->stack_low = (uintptr_t)attr->stackaddr;
    t->stack_high = t->stack_low + attr->stacksize;
}

int thread_create(struct process *proc, struct thread *creator, uintptr_t func, uintptr_t arg,
                  const struct _thread_attr *attr, struct thread **out)
{
    struct thread *t = thread_new(proc);

    kernel_assert(kernel_locked());
    if (!t) {
        return -EAGAIN;
    }
    thread_inherit(t, creator, attr);
    int error = arch_context_init(t, func, arg, t->stack_low, t->stack_high,
                                  (uintptr_t)attr->exitfunc, (uintptr_t)attr->tls);
    if (error) {
        thread_free(t);
        return error;
    }
    proc->nthreads++;
    trace_thread_create(proc->pid, t->tid);
    thread_set_state(t, STATE_STOPPED);
    *out = t;
    return 0;
}

struct thread *thread_create_idle(struct process *proc, unsigned cpu)
{
    struct thread *t = thread_new(proc);

    if (!t) {
        kernel_panic("no idle thread for CPU %u", cpu);
    }
    t->cpu = (uint8_t)cpu;
    t->policy = SCHED_FIFO;
    t->state = STATE_READY;
    t->runmask = 1u << cpu;
    memcpy(t->name, "idle", sizeof("idle"));
    proc->nthreads++;
    return t;
}

struct thread *thread_create_kernel(struct process *proc, const char *name)
{
    struct thread *t = thread_new(proc);

    if (!t) {
        kernel_panic("no thread for %s", name);
    }
    arch_context_init_kernel(t);
    t->policy = SCHED_RR;
    t->base_priority = t->priority = PRIORITY_MIN;
    t->state = STATE_WAITCTX;
    t->flags = THREAD_AGAIN;
    for (size_t i = 0; i < sizeof(t->name) - 1 && name[i]; i++) {
        t->name[i] = name[i];
    }
    proc->nthreads++;
    return t;
}

void thread_set_state_logged(struct thread *t, enum thread_state state)
{
    trace_log_thread_state(state, (uint32_t)t->pid, (uint32_t)t->tid, t->priority, t->policy);
    t->state = (uint8_t)state;
}

void thread_set_state_traced(struct thread *t, enum thread_state state)
{
    const uint32_t pid = (uint32_t)t->proc->pid, tid = (uint32_t)t->tid;

    if (state == STATE_DEAD && t->state == STATE_RUNNING) {
        thread_counted(t); /* it has left this CPU, which has no thread to switch from */
    }
    const bool probed = trace_bit(trace_site_probed, TRACE_EV_thread_state);
    const bool logged = trace_bit(trace_site_logged, TRACE_EV_thread_state);

    uintptr_t irq = probed && logged ? trace_stamp_begin() : 0;

    if (logged) {
        trace_emit_thread_state(state, pid, tid, t->priority, t->policy);
    }
    if (probed && logged) {
        trace_stamp_take();
    }
    if (probed) {
        trace_port_fire(TRACE_EV_thread_state,
                        (const uint64_t[]){pid, tid, t->priority, t->policy, state, t->state});
    }
    if (probed && logged) {
        trace_stamp_end(irq);
    }
    t->state = (uint8_t)state;
}

/* Fires sched:::off-cpu as if prev still had the CPU. */
static __attribute__((noinline)) void leave_cpu(const struct thread *next, struct thread *prev)
{
    uintptr_t irq = arch_irq_save();
    struct cpu *cpu = arch_cpu();
    struct thread *current = cpu->current;
    struct thread *left = prev ? prev : cpu->idle;

    cpu->current = prev;
    trace_site_cpu_switch((uint32_t)left->pid, (uint32_t)left->tid, left->priority,
                          (uint32_t)next->pid, (uint32_t)next->tid);
    cpu->current = current;
    thread_counted(left);
    arch_irq_restore(irq);
}

/* The provider keeps the site thread_state on as long as cpu_switch is enabled
 * (trace/dtrace/site/sites.c). */
void thread_set_running_traced(struct thread *next, struct thread *prev)
{
    if (TRACE_PORT_SITE_ON(TRACE_EV_cpu_switch)) {
        leave_cpu(next, prev);
    }
    thread_set_state_traced(next, STATE_RUNNING);
}

/* States in which a thread that ThreadCancel() was called for continues at its stub. */
#define CANCEL_STATES \
    (1u << STATE_SEND | 1u << STATE_RECEIVE | 1u << STATE_REPLY | 1u << STATE_WAITTHREAD | \
     1u << STATE_NANOSLEEP | 1u << STATE_CONDVAR | 1u << STATE_JOIN | 1u << STATE_INTR | \
     1u << STATE_SEM)

bool thread_cancellable(const struct thread *t, enum thread_state state)
{
    return (CANCEL_STATES >> state & 1) && t->call != KER_MSG_SENDVNC;
}

/* Returns 0, or the error that forbids the caller to block. */
static long block_refused(struct thread *t, enum thread_state state)
{
    if (t->canstub && thread_cancellable(t, state)) {
        arch_context_redirect(t, t->canstub);
        t->canstub = 0;
        return -EINTR;
    }
    if (t->timeout_now && (t->timeout_states >> state & 1)) {
        return -ETIMEDOUT;
    }
    return 0;
}

long thread_block_limited(struct thread *t, enum thread_state state)
{
    long error = block_refused(t, state);
    kernel_assert(kernel_locked());
    kernel_assert(t->state == STATE_RUNNING);
    if (error) {
        return error;
    }
    thread_set_state(t, state);
    if (t->flags & THREAD_HELD) {
        t->timeout_states |= TIMEOUT_STATE_HELD;
    }
    timeout_arm(t, state);
    return KER_BLOCKED;
}

bool thread_wait_over(struct thread *t, int error)
{
    kernel_assert(kernel_locked());
    if (error) {
        thread_wake(t, -1, error);
    }
    return true;
}

const struct wait_kind thread_wait_unqueued = {.cancel = thread_wait_over};

bool thread_cancel_wait(struct thread *t, int error)
{
    const struct wait_kind *wait = wait_kinds[t->state];

    kernel_assert(kernel_locked());
    return wait && wait->cancel(t, error);
}

static uint8_t thread_highest(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

void thread_update_priority(struct thread *t)
{
    uint8_t inherited = thread_highest(t->sync_priority, t->call_priority);
    uint8_t priority = thread_highest(t->base_priority, thread_highest(t->msg_priority, inherited));

    kernel_assert(kernel_locked());
    kernel_assert(t->state != STATE_DEAD);
    if (priority == t->priority) {
        return;
    }
    trace_site_change_pri((uint32_t)t->pid, (uint32_t)t->tid, priority, t->priority);
    if (t->state == STATE_READY) {
        sched_unready(t);
        t->priority = priority;
        sched_ready(t);
        return;
    }
    t->priority = priority;
    if (t->state == STATE_RUNNING) {
        sched_changed(t);
        return;
    }
    if (timer_node_running(&t->timeout)) {
        timer_node_charge(&t->timeout, t->proc, priority);
    }
    const struct wait_kind *wait = wait_kinds[t->state];
    if (wait && wait->requeue) {
        wait->requeue(t);
    }
}

void thread_raise_call(struct thread *t, uint8_t priority)
{
    if (t->call_priority < priority) {
        t->call_priority = priority;
        thread_update_priority(t);
    }
}

FBT_VISIBLE bool inherit_enter(void)
{
    if (inherit_depth >= CONFIG_INHERIT_DEPTH) {
        return false;
    }
    inherit_depth++;
    return true;
}

FBT_VISIBLE void inherit_leave(void)
{
    kernel_assert(inherit_depth > 0);
    inherit_depth--;
}

FBT_VISIBLE void thread_insert_by_priority(struct list *head, struct thread *t)
{
    struct list *pos = head->prev; /* from the back: most have equal priorities */
    while (pos != head && list_entry(pos, struct thread, ready)->priority < t->priority) {
        pos = pos->prev;
    }
    list_insert_before(pos->next, &t->ready);
    kernel_assert(thread_queue_ordered(head));
}
