/* SPDX-License-Identifier: BSD-2-Clause */
/* world_check(): what must be true of all kernel objects whenever no CPU is in the kernel. */
#include "kernel/cpu.h"
#include "test/unit_ipc/world.h"

#define LOOP_MAX 1000

/* A list is sound: both directions agree. Returns its length. */
static unsigned sound(const struct list *head, const char *what)
{
    unsigned n = 0;
    for (const struct list *p = head->next; p != head; p = p->next) {
        if (p->next->prev != p || p->prev->next != p || ++n > LOOP_MAX) {
            fail("list of %s is broken", what);
        }
    }
    return n;
}

static bool in_list(const struct list *head, const struct list *node)
{
    for (const struct list *p = head->next; p != head; p = p->next) {
        if (p == node) {
            return true;
        }
    }
    return false;
}

static bool is_channel(const struct process *proc, const struct channel *ch)
{
    for (unsigned i = 0; i < CONFIG_CHANNELS_PER_PROCESS; i++) {
        if (proc->channels[i] == ch) {
            return true;
        }
    }
    return false;
}

static bool is_connection(const struct process *proc, const struct connection *conn)
{
    for (unsigned i = 0; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        if (proc->fds[i] == conn || proc->side[i] == conn) {
            return true;
        }
    }
    return false;
}

/* All threads in a queue of a channel are in that state there, highest priority first. */
static void check_queue(const struct list *head, const struct channel *ch, unsigned state)
{
    int last = 256;
    sound(head, "a channel's threads");
    for (const struct list *p = head->next; p != head; p = p->next) {
        const struct thread *t = list_entry(p, struct thread, ready);
        if (t->state != state || t->channel != ch || t->priority > last) {
            fail("thread %d of %d in a channel's queue: state %u, priority %u after %d", t->tid,
                 t->proc->pid, t->state, t->priority, last);
        }
        last = t->priority;
    }
}

static void check_pulses(const struct channel *ch)
{
    unsigned user = 0;
    int last = 256;
    sound(&ch->pulses, "pulses");
    for (const struct list *p = ch->pulses.next; p != &ch->pulses; p = p->next) {
        const struct pulse *pulse = list_entry(p, struct pulse, link);
        if (pulse->channel != ch || pulse->priority > last) {
            fail("a pulse is in the wrong place");
        }
        last = pulse->priority;
        user += pulse->of_user;
    }
    if (user != ch->user_pulses) {
        fail("%u pulses of programs, counted as %u", user, ch->user_pulses);
    }
}

static void check_channel(const struct process *proc, unsigned i)
{
    const struct channel *ch = proc->channels[i];
    if (!ch) {
        return;
    }
    if (ch->proc != proc || ch->chid != (int)i + 1) {
        fail("channel %d of process %d isn't its own", ch->chid, proc->pid);
    }
    check_queue(&ch->senders, ch, STATE_SEND);
    check_queue(&ch->receivers, ch, STATE_RECEIVE);
    check_pulses(ch);
    if (!list_empty(&ch->receivers) && !list_empty(&ch->pulses)) {
        fail("a pulse waits beside a receiver");
    }
    bool receiver = false, sender = false;
    for (const struct list *p = ch->receivers.next; p != &ch->receivers; p = p->next) {
        receiver |= list_entry(p, struct thread, ready)->call != KER_MSG_RECEIVEPULSEV;
    }
    for (const struct list *p = ch->senders.next; p != &ch->senders; p = p->next) {
        sender |= !list_entry(p, struct thread, ready)->server;
    }
    if (receiver && sender) {
        fail("a message waits beside a receiver");
    }
    sound(&ch->connections, "connections");
    for (const struct list *p = ch->connections.next; p != &ch->connections; p = p->next) {
        const struct connection *conn = list_entry(p, struct connection, link);
        if (conn->channel != ch || !is_connection(conn->proc, conn)) {
            fail("connection %d of process %d leads elsewhere", conn->coid, conn->proc->pid);
        }
    }
}

static void check_connection(const struct process *proc, const struct connection *conn, int coid)
{
    if (!conn) {
        return;
    }
    if (conn->proc != proc || conn->coid != coid) {
        fail("connection %d of process %d isn't its own", coid, proc->pid);
    }
    if (conn->channel && (!is_channel(conn->channel->proc, conn->channel) ||
                          !in_list(&conn->channel->connections, &conn->link))) {
        fail("connection %d of process %d leads to no channel", coid, proc->pid);
    }
    for (unsigned i = 0; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        const struct connection *other = proc->fds[i];
        if (other && conn->channel && other->channel == conn->channel &&
            other->scoid != conn->scoid) {
            fail("two scoids for one client and channel");
        }
    }
}

static void check_sender(const struct thread *t)
{
    if (!is_connection(t->proc, t->connection) || t->connection->channel != t->channel ||
        !in_list(&t->channel->senders, &t->ready)) {
        fail("thread %d of %d in SEND is nowhere", t->tid, t->proc->pid);
    }
    if (t->server && (t->server->xfer != t->rcvid || t->server->proc != t->channel->proc)) {
        fail("thread %d of %d in SEND is copied by nobody", t->tid, t->proc->pid);
    }
}

static void check_client(const struct thread *t)
{
    if (!is_connection(t->proc, t->connection) || t->connection->channel != t->channel ||
        !is_channel(t->channel->proc, t->channel)) {
        fail("thread %d of %d in REPLY is nowhere", t->tid, t->proc->pid);
    }
    if (t->server && (t->server->proc != t->channel->proc || t->server->state == STATE_DEAD)) {
        fail("thread %d of %d in REPLY has a wrong server", t->tid, t->proc->pid);
    }
}

static void check_waiter(const struct thread *t)
{
    if (!in_list(&t->proc->sync_waiters, &t->ready)) {
        fail("thread %d of %d waits for a sync_t, and nobody knows", t->tid, t->proc->pid);
    }
    if ((t->state == STATE_MUTEX) != (t->sync_owner != NULL) ||
        (t->sync_owner && (t->sync_owner->proc != t->proc || t->sync_owner->state == STATE_DEAD))) {
        fail("thread %d of %d waits for a wrong owner", t->tid, t->proc->pid);
    }
}

static void check_blocked(const struct thread *t)
{
    switch (t->state) {
    case STATE_SEND:
        check_sender(t);
        break;
    case STATE_RECEIVE:
        if (!is_channel(t->proc, t->channel) || !in_list(&t->channel->receivers, &t->ready)) {
            fail("thread %d of %d in RECEIVE is nowhere", t->tid, t->proc->pid);
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
    case STATE_NANOSLEEP:
        if (!timer_node_running(&t->timeout)) {
            fail("thread %d of %d sleeps for ever", t->tid, t->proc->pid);
        }
        break;
    default:
        break;
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
    if (t->priority != max(t->base_priority, max(t->msg_priority, t->sync_priority))) {
        fail("thread %d of %d: priority %u of %u, %u, %u", t->tid, t->proc->pid, t->priority,
             t->base_priority, t->msg_priority, t->sync_priority);
    }
    for (const struct list *p = t->proc->sync_waiters.next; p != &t->proc->sync_waiters;
         p = p->next) {
        const struct thread *w = list_entry(p, struct thread, ready);
        sync = w->sync_owner == t ? max(sync, w->priority) : sync;
    }
    if (sync != t->sync_priority) {
        fail("thread %d of %d inherits %u, should %u", t->tid, t->proc->pid, t->sync_priority,
             sync);
    }
    if (t->serving && !is_channel(t->proc, t->serving)) {
        fail("thread %d of %d serves no channel", t->tid, t->proc->pid);
    }
    if (t->state == STATE_RUNNING && world_cpu_of(t) < 0) {
        fail("thread %d of %d runs nowhere", t->tid, t->proc->pid);
    }
    if ((t->state == STATE_RUNNING || t->state == STATE_READY) && timer_node_running(&t->timeout)) {
        fail("thread %d of %d has a timeout but isn't blocked", t->tid, t->proc->pid);
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
    sound(&proc->sync_waiters, "sync waiters");
    for (const struct list *p = proc->sync_waiters.next; p != &proc->sync_waiters; p = p->next) {
        const struct thread *t = list_entry(p, struct thread, ready);
        if (t->proc != proc || t->priority > last) {
            fail("sync waiters are out of order");
        }
        last = t->priority;
    }
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        if (proc->threads[i]) {
            check_thread(proc->threads[i]);
            threads += proc->threads[i]->state != STATE_DEAD;
        }
    }
    if (threads != proc->nthreads && !proc->zombie) {
        fail("process %d has %u threads, counted as %u", proc->pid, threads, proc->nthreads);
    }
}

/* Threads that could run do, if there is a CPU for them. */
static void check_idle(void)
{
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        if (cpus[n].current) {
            continue;
        }
        for (unsigned i = 0; i < CONFIG_THREADS; i++) {
            const struct thread *t = thread_by_index(i);
            if (t && t->proc != kernel_process && t->state == STATE_READY &&
                (t->runmask >> n & 1)) {
                fail("CPU %u idles, but thread %d of %d is READY", n, t->tid, t->proc->pid);
            }
        }
    }
}

void world_check(void)
{
    for (unsigned slot = 1; slot < CONFIG_PROCESSES; slot++) {
        const struct process *proc = process_in_slot(slot);
        if (proc) {
            check_process(proc);
        }
    }
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        uint64_t last = 0;
        sound(&cpus[n].timers, "timers");
        for (const struct list *p = cpus[n].timers.next; p != &cpus[n].timers; p = p->next) {
            const struct timer_node *node = list_entry(p, struct timer_node, link);
            if (node->at < last) {
                fail("timers are out of order");
            }
            last = node->at;
        }
        if (!list_empty(&cpus[n].timers) &&
            fake_timer_at[n] > list_entry(cpus[n].timers.next, struct timer_node, link)->at &&
            fake_timer_at[n] > 1) {
            fail("the hardware timer of CPU %u comes too late", n);
        }
    }
    check_idle();
}
