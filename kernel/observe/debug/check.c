/* SPDX-License-Identifier: BSD-2-Clause */
/* kernel_check(): processes, threads, CPUs, timers. See check.h. Tested by
 * test/kernel/observe/debug/check_test.c, which plants a breach of each kind. */
#include "kernel/arch/panic.h"
#include "kernel/arch/aspace.h"
#include "kernel/ipc/ipc.h"
#include "kernel/mem/mem.h"
#include "kernel/observe/debug/check.h"
#include "kernel/proc/proc.h"
#include "kernel/thread/thread.h"
#include "kernel/time/time.h"

/* Longer than any list. */
#define LOOP_MAX (CONFIG_CONNECTIONS + CONFIG_THREADS + CONFIG_PULSES + CONFIG_TIMERS + 1000)

/* Panics unless the list is sound: both directions agree. Returns its length. */
unsigned check_list(const struct list *head, const char *list_name)
{
    unsigned n = 0;
    for (const struct list *p = head->next; p != head; p = p->next) {
        if (p->next->prev != p || p->prev->next != p || ++n > LOOP_MAX) {
            kernel_panic("list of %s is broken", list_name);
        }
    }
    return n;
}

bool check_in_list(const struct list *head, const struct list *node)
{
    for (const struct list *p = head->next; p != head; p = p->next) {
        if (p == node) {
            return true;
        }
    }
    return false;
}

static void check_sender(const struct thread *t)
{
    if (!check_is_connection(t->proc, t->connection) || t->connection->channel != t->channel ||
        !check_in_list(&t->channel->senders, &t->ready)) {
        kernel_panic("thread %d of %d in SEND is nowhere", (int)t->tid, (int)t->proc->pid);
    }
    if (t->server && (t->server->xfer != t->rcvid || t->server->proc != t->channel->proc ||
                      !t->server->serving)) {
        kernel_panic("thread %d of %d in SEND isn't being copied", (int)t->tid, (int)t->proc->pid);
    }
}

static void check_client(const struct thread *t)
{
    if (!check_is_connection(t->proc, t->connection) || t->connection->channel != t->channel ||
        !check_is_channel(t->channel->proc, t->channel)) {
        kernel_panic("thread %d of %d in REPLY is nowhere", (int)t->tid, (int)t->proc->pid);
    }
    if (t->channel->proc->dying) {
        return; /* its server may have ended already */
    }
    if (t->server && !(t->server->serving || t->server->served)) {
        kernel_panic("thread %d of %d in REPLY: its server would forget it", (int)t->tid,
                     (int)t->proc->pid);
    }
    if (t->server && (t->server->proc != t->channel->proc || t->server->state == STATE_DEAD)) {
        kernel_panic("thread %d of %d in REPLY has a wrong server", (int)t->tid, (int)t->proc->pid);
    }
}

static void check_waiter(const struct thread *t)
{
    if (!check_in_list(&t->proc->sync_waiters, &t->ready)) {
        kernel_panic("thread %d of %d waits for a sync_t and isn't listed", (int)t->tid,
                     (int)t->proc->pid);
    }
    if (((t->state == STATE_MUTEX) != (t->sync_owner != NULL) && !t->proc->dying) ||
        (t->sync_owner && (t->sync_owner->proc != t->proc || t->sync_owner->state == STATE_DEAD))) {
        kernel_panic("thread %d of %d waits for a wrong owner", (int)t->tid, (int)t->proc->pid);
    }
}

static void check_joiner(const struct thread *t)
{
    const struct thread *of = thread_find(t->proc, (int)t->args[0]);
    if (!of || of->state == STATE_DEAD || !check_in_list(&of->joiners, &t->ready) ||
        check_list(&of->joiners, "joiners") != 1) {
        kernel_panic("thread %d of %d waits for the end of none", (int)t->tid, (int)t->proc->pid);
    }
}

/* Checks a thread that waits for a child, which must still be going to end. */
static void check_parent(const struct thread *t)
{
    for (unsigned slot = 1; slot < process_slots(); slot++) {
        const struct process *child = process_in_slot(slot);
        if (child && child->ppid == t->proc->pid && !child->zombie &&
            ((int)t->args[0] == 0 || (int)t->args[0] == child->pid)) {
            return;
        }
    }
    kernel_panic("thread %d of %d waits for no child", (int)t->tid, (int)t->proc->pid);
}

static void check_blocked(const struct thread *t)
{
    switch (t->state) {
    case STATE_SEND:
        check_sender(t);
        break;
    case STATE_RECEIVE:
        if (!check_is_channel(t->proc, t->channel) ||
            !check_in_list(&t->channel->receivers, &t->ready)) {
            kernel_panic("thread %d of %d in RECEIVE is nowhere", (int)t->tid, (int)t->proc->pid);
        }
        if (t->msg_priority != 0) {
            kernel_panic("thread %d of %d waits with an inherited priority", (int)t->tid,
                         (int)t->proc->pid);
        }
        break;
    case STATE_REPLY:
        check_client(t);
        break;
    case STATE_MUTEX:
    case STATE_CONDVAR:
    case STATE_SEM:
        check_waiter(t);
        break;
    case STATE_JOIN:
        check_joiner(t);
        break;
    case STATE_WAITTHREAD:
        check_parent(t);
        break;
    case STATE_NANOSLEEP:
        if (!timer_node_running(&t->timeout)) {
            kernel_panic("thread %d of %d sleeps forever", (int)t->tid, (int)t->proc->pid);
        }
        break;
    default:
        break;
    }
}

/* Checks that a held thread is not READY and that its wake will notice the hold. A call_lock's
 * owner continues. */
static void check_held(const struct thread *t)
{
    const bool held = t->flags & THREAD_HELD;
    const bool waits = t->state != STATE_STOPPED && t->state != STATE_RUNNING;
    if (!held && t->state == STATE_STOPPED && !t->proc->loading && !t->proc->held) {
        kernel_panic("thread %d of %d has stopped and isn't held", (int)t->tid, (int)t->proc->pid);
    }
    if (held && call_lock_owns(t)) {
        return;
    }
    if (held && t->state == STATE_READY) {
        kernel_panic("thread %d of %d is in state %u and is held", (int)t->tid, (int)t->proc->pid,
                     t->state);
    }
    if (held && waits && (!(t->timeout_states & TIMEOUT_STATE_HELD) || t->plain)) {
        kernel_panic("thread %d of %d in state %u will not stop", (int)t->tid, (int)t->proc->pid,
                     t->state);
    }
}

static uint8_t check_higher(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

static bool runs_somewhere(const struct thread *t)
{
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        if (cpus[n].current == t) {
            return true;
        }
    }
    return false;
}

static void check_thread(const struct thread *t)
{
    uint8_t sync = 0;
    if (t->state == STATE_DEAD) {
        return;
    }
    check_blocked(t);
    check_held(t);
    uint8_t inherited =
        check_higher(t->msg_priority, check_higher(t->sync_priority, t->call_priority));
    if (t->priority != check_higher(t->base_priority, inherited)) {
        kernel_panic("thread %d of %d: priority %u of %u, %u, %u", (int)t->tid, (int)t->proc->pid,
                     t->priority, t->base_priority, t->msg_priority, t->sync_priority);
    }
    for (const struct list *p = t->proc->sync_waiters.next; p != &t->proc->sync_waiters;
         p = p->next) {
        const struct thread *w = list_entry(p, struct thread, ready);
        sync = w->sync_owner == t ? check_higher(sync, w->priority) : sync;
    }
    if (sync != t->sync_priority) {
        kernel_panic("thread %d of %d inherits %u, should %u", (int)t->tid, (int)t->proc->pid,
                     t->sync_priority, sync);
    }
    if (t->serving && !check_is_channel(t->proc, t->serving)) {
        kernel_panic("thread %d of %d serves no channel", (int)t->tid, (int)t->proc->pid);
    }
    if ((t->state == STATE_RUNNING) != runs_somewhere(t)) {
        kernel_panic("thread %d of %d: state %u, and %s CPU runs it", (int)t->tid,
                     (int)t->proc->pid, t->state, runs_somewhere(t) ? "a" : "no");
    }
    if ((t->state == STATE_RUNNING || t->state == STATE_READY) && timer_node_running(&t->timeout)) {
        kernel_panic("thread %d of %d has a timeout but isn't blocked", (int)t->tid,
                     (int)t->proc->pid);
    }
}

static void check_zombie(const struct process *proc)
{
    bool parent = false;
    for (unsigned slot = 1; slot < process_slots(); slot++) {
        parent |= process_in_slot(slot) && process_in_slot(slot)->pid == proc->ppid;
    }
    if (proc->nthreads != 0 || proc->space.nmaps != 0 || !parent) {
        kernel_panic("zombie %d holds something, or has no parent", (int)proc->pid);
    }
}

/* Checks that a thread's user mapping cache is empty, or describes a mapping of its process that
 * has these rights: all of it that is followed by VM_CACHE_SPAN bytes. */
static void check_cache(const struct thread *t, const struct vm_cache *w, unsigned prot)
{
    const struct vm_space *space = &t->proc->space;
    bool good = w->covered == 0;

    for (unsigned i = 0; i < space->nmaps && !good; i++) {
        const struct mapping *m = vm_nth(space, i);
        good = w->base == m->vaddr && w->covered == m->len - VM_CACHE_SPAN + 1 &&
               w->base + w->offset == (uintptr_t)arch_phys_to_virt(m->phys) &&
               (m->flags & (prot | KYMO_MAP_DEVICE)) == prot;
    }
    if (!good) {
        kernel_panic("thread %d of process %d: user mapping cache of %lx bytes at %lx", (int)t->tid,
                     (int)t->pid, (unsigned long)w->covered, (unsigned long)w->base);
    }
}

static void check_caches(const struct thread *t)
{
    check_cache(t, &t->iov_cache, KYMO_PROT_READ);
    check_cache(t, &t->out_cache, KYMO_PROT_READ);
    check_cache(t, &t->in_cache, KYMO_PROT_WRITE);
    check_cache(t, &t->sync_cache, KYMO_PROT_READ | KYMO_PROT_WRITE);
    check_cache(t, &t->text_cache, KYMO_PROT_READ);
    check_cache(t, &t->words_cache, KYMO_PROT_READ);
}

static void check_process(const struct process *proc)
{
    unsigned threads = 0;
    check_channels(proc);
    for (unsigned i = 0; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        check_connection(proc, proc->fds[i], (int)i);
        check_connection(proc, proc->side[i], (int)(_NTO_SIDE_CHANNEL + i));
    }
    int last = 256;
    check_list(&proc->sync_waiters, "sync waiters");
    for (const struct list *p = proc->sync_waiters.next; p != &proc->sync_waiters; p = p->next) {
        const struct thread *t = list_entry(p, struct thread, ready);
        if (t->proc != proc || t->priority > last) {
            kernel_panic("sync waiters are out of order");
        }
        last = t->priority;
    }
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        if (proc->threads[i]) {
            if (proc->threads[i]->proc != proc || thread_slot(proc->threads[i]->tid) != i) {
                kernel_panic("slot %u of process %d has a wrong thread", i, (int)proc->pid);
            }
            check_thread(proc->threads[i]);
            check_caches(proc->threads[i]);
            threads += proc->threads[i]->state != STATE_DEAD;
        }
    }
    if (threads != proc->nthreads) {
        kernel_panic("process %d has %u threads, counted as %u", (int)proc->pid, threads,
                     (unsigned)proc->nthreads);
    }
}

/* Checks that a lock's owner, and the thread woken to take it, have inherited from the first of the
 * waiting threads. */
static void check_call_lock(const struct call_lock *lock)
{
    const struct thread *t = lock->owner ? lock->owner : lock->woken;

    if (check_list(&lock->waiting, "a lock of calls") == 0) {
        return;
    }
    const struct thread *first = list_entry(lock->waiting.next, struct thread, ready);
    if (!t || t->priority < first->priority) {
        kernel_panic("thread %d of %d waits for a lock of calls at priority %u, its owner has %u",
                     (int)first->tid, (int)first->pid, first->priority, t ? t->priority : 0);
    }
}

/* Checks that the thread that a CPU runs is a living one. */
static void check_cpu(unsigned n)
{
    const struct thread *t = cpus[n].current;

    if (t && (!t->proc || t->state != STATE_RUNNING || t->cpu != n)) {
        kernel_panic("CPU %u runs a thread in state %u, of CPU %u", n, (unsigned)t->state,
                     (unsigned)t->cpu);
    }
}

static void check_timers(unsigned n)
{
    const struct timer_node *node;

    for (unsigned i = 0; (node = timer_nth(n, i)) != NULL; i++) {
        size_t at = TABLE_WITH(thread_table, TABLE_ENTRIES(THREADS), node);

        if (node->place != i + 1 || node->cpu != n || node->deferred ||
            (i > 0 && timer_nth(n, (i - 1) / 2)->at > node->at)) {
            kernel_panic("timers are out of order");
        }
        if (at < TABLE_ENTRIES(THREADS) && !TABLE_AT(thread_table, at)->proc) {
            kernel_panic("a thread that has ended has a timeout");
        }
    }
}

void kernel_check(void)
{
    for (unsigned slot = 0; slot < process_slots(); slot++) {
        const struct process *proc = process_in_slot(slot);

        if (!proc) {
            continue;
        }
        if (proc != kernel_process) {
            check_process(proc);
        }
        if (proc->zombie) {
            check_zombie(proc);
        }
    }
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        if (cpus[n].online) {
            check_cpu(n);
            check_timers(n);
        }
    }
    for (const struct call_lock *lock = call_lock_first(); lock; lock = lock->next) {
        check_call_lock(lock);
    }
    check_quotas();
}
