/* SPDX-License-Identifier: BSD-2-Clause */
/* world_check(): what must be true of all kernel objects whenever no CPU is in the kernel. */
#include "test/unit_ipc/check.h"

#define LOOP_MAX 1000

/* A list is sound: both directions agree. Returns its length. */
unsigned check_list(const struct list *head, const char *what)
{
    unsigned n = 0;
    for (const struct list *p = head->next; p != head; p = p->next) {
        if (p->next->prev != p || p->prev->next != p || ++n > LOOP_MAX) {
            broken("list of %s is broken", what);
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
        broken("thread %d of %d in SEND is nowhere", t->tid, t->proc->pid);
    }
    if (t->server && (t->server->xfer != t->rcvid || t->server->proc != t->channel->proc)) {
        broken("thread %d of %d in SEND is copied by nobody", t->tid, t->proc->pid);
    }
}

static void check_client(const struct thread *t)
{
    if (!check_is_connection(t->proc, t->connection) || t->connection->channel != t->channel ||
        !check_is_channel(t->channel->proc, t->channel)) {
        broken("thread %d of %d in REPLY is nowhere", t->tid, t->proc->pid);
    }
    if (t->server && (t->server->proc != t->channel->proc || t->server->state == STATE_DEAD)) {
        broken("thread %d of %d in REPLY has a wrong server", t->tid, t->proc->pid);
    }
}

static void check_waiter(const struct thread *t)
{
    if (!check_in_list(&t->proc->sync_waiters, &t->ready)) {
        broken("thread %d of %d waits for a sync_t, and nobody knows", t->tid, t->proc->pid);
    }
    if ((t->state == STATE_MUTEX) != (t->sync_owner != NULL) ||
        (t->sync_owner && (t->sync_owner->proc != t->proc || t->sync_owner->state == STATE_DEAD))) {
        broken("thread %d of %d waits for a wrong owner", t->tid, t->proc->pid);
    }
}

static void check_joiner(const struct thread *t)
{
    const struct thread *of = thread_find(t->proc, (int)t->args[0]);
    if (!of || of->state == STATE_DEAD || !check_in_list(&of->joiners, &t->ready) ||
        check_list(&of->joiners, "joiners") != 1) {
        broken("thread %d of %d waits for the end of none", t->tid, t->proc->pid);
    }
}

/* Waits for a child that is still to end. */
static void check_parent(const struct thread *t)
{
    for (unsigned slot = 1; slot < CONFIG_PROCESSES; slot++) {
        const struct process *child = process_in_slot(slot);
        if (child && child->ppid == t->proc->pid && !child->zombie &&
            ((int)t->args[0] == 0 || (int)t->args[0] == child->pid)) {
            return;
        }
    }
    broken("thread %d of %d waits for no child", t->tid, t->proc->pid);
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
            broken("thread %d of %d in RECEIVE is nowhere", t->tid, t->proc->pid);
        }
        if (t->msg_priority != 0) {
            broken("thread %d of %d waits with an inherited priority", t->tid, t->proc->pid);
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
            broken("thread %d of %d sleeps for ever", t->tid, t->proc->pid);
        }
        break;
    default:
        break;
    }
}

/* A thread that is held runs nowhere, but for what its CPU has not seen yet; and its wake will see
 * that it is held. */
static void check_held(const struct thread *t)
{
    const bool held = t->flags & THREAD_HELD;
    const bool waits = t->state != STATE_STOPPED && t->state != STATE_RUNNING;
    if (!held && t->state == STATE_STOPPED && !t->proc->loading) {
        broken("thread %d of %d has stopped, and nobody holds it", t->tid, t->proc->pid);
    }
    if (held && (t->state == STATE_READY || (t->state == STATE_RUNNING && world_settled()))) {
        broken("thread %d of %d is in state %u and is held", t->tid, t->proc->pid, t->state);
    }
    if (held && waits && (!(t->timeout_states & TIMEOUT_STATE_HELD) || t->plain)) {
        broken("thread %d of %d in state %u will not stop", t->tid, t->proc->pid, t->state);
    }
}

static uint8_t max(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

static void check_thread(const struct thread *t)
{
    uint8_t sync = 0;
    if (t->state == STATE_DEAD) {
        return;
    }
    check_blocked(t);
    check_held(t);
    if (t->priority != max(t->base_priority, max(t->msg_priority, t->sync_priority))) {
        broken("thread %d of %d: priority %u of %u, %u, %u", t->tid, t->proc->pid, t->priority,
               t->base_priority, t->msg_priority, t->sync_priority);
    }
    for (const struct list *p = t->proc->sync_waiters.next; p != &t->proc->sync_waiters;
         p = p->next) {
        const struct thread *w = list_entry(p, struct thread, ready);
        sync = w->sync_owner == t ? max(sync, w->priority) : sync;
    }
    if (sync != t->sync_priority) {
        broken("thread %d of %d inherits %u, should %u", t->tid, t->proc->pid, t->sync_priority,
               sync);
    }
    if (t->serving && !check_is_channel(t->proc, t->serving)) {
        broken("thread %d of %d serves no channel", t->tid, t->proc->pid);
    }
    if ((t->state == STATE_RUNNING) != (world_cpu_of(t) >= 0)) {
        broken("thread %d of %d: state %u on CPU %d", t->tid, t->proc->pid, t->state,
               world_cpu_of(t));
    }
    /* From CONDVAR, cut, it comes with its mutex, for which it may have to wait. */
    bool cut = (t->flags & THREAD_CUT) != 0 && t->state == STATE_MUTEX && t->step == 0;
    bool held = (t->flags & (THREAD_HELD | THREAD_DYING)) == THREAD_HELD;
    if (world_settled() && (t->flags & (THREAD_DYING | THREAD_AGAIN)) != 0 &&
        t->state != STATE_READY && !cut && !held) {
        broken("thread %d of %d in state %u: flags %#x", t->tid, t->proc->pid, t->state, t->flags);
    }
    if ((t->state == STATE_RUNNING || t->state == STATE_READY) && timer_node_running(&t->timeout)) {
        broken("thread %d of %d has a timeout but isn't blocked", t->tid, t->proc->pid);
    }
}

static void check_zombie(const struct process *proc)
{
    bool parent = false;
    for (unsigned slot = 1; slot < CONFIG_PROCESSES; slot++) {
        parent |= process_in_slot(slot) && process_in_slot(slot)->pid == proc->ppid;
    }
    if (proc->nthreads != 0 || proc->space.nmaps != 0 || !parent) {
        broken("zombie %d has something, or nobody to ask for it", proc->pid);
    }
}

static void check_process(const struct process *proc)
{
    unsigned threads = 0;
    for (unsigned i = 0; i < CONFIG_CHANNELS_PER_PROCESS; i++) {
        check_channel(proc, i);
    }
    for (unsigned i = 0; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        check_connection(proc, proc->fds[i], (int)i);
        check_connection(proc, proc->side[i], (int)(_NTO_SIDE_CHANNEL + i));
    }
    int last = 256;
    check_list(&proc->sync_waiters, "sync waiters");
    for (const struct list *p = proc->sync_waiters.next; p != &proc->sync_waiters; p = p->next) {
        const struct thread *t = list_entry(p, struct thread, ready);
        if (t->proc != proc || t->priority > last) {
            broken("sync waiters are out of order");
        }
        last = t->priority;
    }
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        if (proc->threads[i]) {
            if (proc->threads[i]->proc != proc || proc->threads[i]->tid != (int)i + 1) {
                broken("thread %u of process %d isn't its own", i + 1, proc->pid);
            }
            check_thread(proc->threads[i]);
            threads += proc->threads[i]->state != STATE_DEAD;
        }
    }
    if (threads != proc->nthreads) {
        broken("process %d has %u threads, counted as %u", proc->pid, threads, proc->nthreads);
    }
}

void world_check(void)
{
    for (unsigned slot = 1; slot < CONFIG_PROCESSES; slot++) {
        const struct process *proc = process_in_slot(slot);
        if (proc) {
            check_process(proc);
        }
        if (proc && proc->zombie) {
            check_zombie(proc);
        }
    }
    check_system();
}
