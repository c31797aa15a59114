/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sigevents: the events that a timer, an interrupt or a server delivers to a process. Kernel lock
 * held.
 *
 * event_check() runs at registration; event_deliver() looks the connection up again each time, so
 * that a connection closed meanwhile results in EBADF and never in a dangling pointer. SIGEV_SIGNAL
 * ends the process: Kymo has no signal handlers. Tested by test/kernel.
 */
#include "kernel/base/cpu.h"
#include "kernel/ipc/msg.h"

#define SIGNAL_MAX 63

static int check_pulse(struct process *proc, const struct sigevent *event)
{
    int priority = event->sigev_priority;
    if (event->sigev_code < _PULSE_CODE_MINAVAIL || event->sigev_code > _PULSE_CODE_MAXAVAIL ||
        (priority != SIGEV_PULSE_PRIO_INHERIT &&
         (priority < PRIORITY_MIN || priority > PRIORITY_MAX))) {
        return -EINVAL;
    }
    if (priority > PRIORITY_UNPRIVILEGED_MAX && !process_able(proc, ABILITY_PRIORITY)) {
        return -EPERM;
    }
    return msg_connection(proc, (uintptr_t)event->sigev_coid) ? 0 : -EBADF;
}

int event_check(struct process *proc, const struct sigevent *event, uint32_t kinds)
{
    unsigned kind = (unsigned)event->sigev_notify;
    if (kind > 31 || !(kinds & EVENT_KIND(kind))) {
        return -EINVAL;
    }
    if (kind == SIGEV_PULSE) {
        return check_pulse(proc, event);
    }
    if (kind == SIGEV_SIGNAL && (event->sigev_coid < 1 || event->sigev_coid > SIGNAL_MAX)) {
        return -EINVAL;
    }
    return 0;
}

/* Returns the priority of a pulse that says "inherit": the kernel is its only sender, so it is the
 * priority of the thread on whose behalf the pulse is sent. */
static int priority_of(const struct process *proc, const struct sigevent *event)
{
    if (event->sigev_priority != SIGEV_PULSE_PRIO_INHERIT) {
        return event->sigev_priority;
    }
    return proc->threads[0] ? proc->threads[0]->base_priority : PRIORITY_MIN;
}

static int deliver_pulse(struct process *proc, const struct sigevent *event, struct pulse *prealloc)
{
    struct connection *conn = msg_connection(proc, (uintptr_t)event->sigev_coid);
    if (!conn || !conn->channel) {
        return conn && (conn->flags & CONNECTION_DEAD) ? -ESRCH : -EBADF;
    }
    kernel_assert(event->sigev_code >= 0); /* event_check(): negative codes are the kernel's */
    struct channel *ch = conn->channel;
    int priority = priority_of(proc, event);
    uintptr_t value = (uintptr_t)event->sigev_value.sival_ptr;
    if (!prealloc && !pulse_room(ch, proc)) {
        return -EAGAIN;
    }
    trace_comm_snd_pulse_exe((uint32_t)conn->scoid, (uint32_t)ch->proc->pid);
    if (!prealloc) {
        /* it is sent over the process's own connection, so the process is the sender */
        return pulse_send_user(ch, proc, priority, event->sigev_code, value, conn->scoid);
    }
    prealloc->priority = pulse_queued(prealloc) ? prealloc->priority : (uint8_t)priority;
    prealloc->code = (int8_t)event->sigev_code;
    prealloc->value = value;
    prealloc->scoid = conn->scoid;
    pulse_send_prealloc(ch, prealloc);
    return 0;
}

static int deliver_signal(struct process *proc, const struct sigevent *event)
{
    trace_comm_signal((uint32_t)event->sigev_coid, 0, 0, (uint32_t)proc->pid, 0,
                      (uint32_t)event->sigev_value.sival_int, 0, 0, 0, 0);
    process_end(proc, event->sigev_coid);
    return 0;
}

int event_deliver(struct process *proc, struct thread *intr_thread, const struct sigevent *event,
                  struct pulse *prealloc)
{
    kernel_assert(kernel_locked());
    switch (event->sigev_notify) {
    case SIGEV_NONE:
        return 0;
    case SIGEV_PULSE:
        return deliver_pulse(proc, event, prealloc);
    case SIGEV_INTR:
        return thread_intr_wake(intr_thread);
    case SIGEV_SIGNAL:
        return deliver_signal(proc, event);
    default:
        return -EINVAL;
    }
}

static int event_send_signal(struct process *proc, int signo)
{
    struct sigevent event = proc->signal_event;

    proc->signal_pulse.kind = PULSE_SIGNAL;
    event.sigev_value.sival_int = signo;
    int error = event_deliver(proc, NULL, &event, &proc->signal_pulse);
    if (!error && !pulse_queued(&proc->signal_pulse)) { /* a waiting thread received it */
        trace_site_signal_clear((uint32_t)signo, (uint32_t)proc->pid);
    }
    return error;
}

void event_signals_send(struct process *proc)
{
    kernel_assert(kernel_locked());
    while (proc->signals_pending != 0 && !pulse_queued(&proc->signal_pulse)) {
        int signo = __builtin_ctzll(proc->signals_pending);
        if (event_send_signal(proc, signo) != 0) {
            return;
        }
        proc->signals_pending &= ~(1ull << signo);
    }
}

int event_signal_pulse(struct process *proc, int signo)
{
    struct pulse *p = &proc->signal_pulse;

    kernel_assert(kernel_locked());
    if (pulse_queued(p)) {
        proc->signals_pending |= (int)p->value == signo ? 0 : 1ull << signo;
        return 0;
    }
    int error = event_send_signal(proc, signo);
    if (!error) {
        event_signals_send(proc);
    }
    return error;
}

void event_signal_done(struct pulse *p, bool received)
{
    struct process *proc = list_entry(p, struct process, signal_pulse);

    if (received) {
        trace_site_signal_clear((uint32_t)p->value, (uint32_t)proc->pid);
        event_signals_send(proc);
    } else { /* its channel ends */
        proc->signals_pending |= 1ull << ((int)p->value & SIGNAL_MAX);
    }
}

bool event_process_gone(struct process *proc)
{
    pulse_unqueue(&proc->signal_pulse);
    return false;
}

/* Returns whether one of this client's connections leads to one of the server's channels. */
static bool event_connected(const struct process *client, const struct process *server)
{
    for (unsigned i = 0; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        const struct connection *f = client->fds[i];
        const struct connection *s = client->side[i];
        if ((f && f->channel && f->channel->proc == server) ||
            (s && s->channel && s->channel->proc == server)) {
            return true;
        }
    }
    return false;
}

/*
 * Returns whether a server may deliver this event, which has been checked. The kernel can't know
 * what the client passed to the server in a message. So a pulse may go only to the client's own
 * channels, or over a connection that it has opened for events: otherwise each server could send to
 * all others in its clients' names. A signal, which would end the client, needs ABILITY_KILL.
 */
static bool event_permitted(const struct process *server, const struct process *client,
                            const struct sigevent *event)
{
    if (event->sigev_notify == SIGEV_SIGNAL) {
        return process_able(server, ABILITY_KILL);
    }
    if (event->sigev_notify != SIGEV_PULSE) {
        return true;
    }
    const struct connection *conn = msg_connection(client, (uintptr_t)event->sigev_coid);
    return !conn->channel || conn->channel->proc == client || (conn->flags & KYMO_COF_EVENTS);
}

/*
 * Implements MsgDeliverEvent(): delivers an event that a client passed in a message, even after the
 * reply. So the rcvid is valid as long as that client thread exists and its process is connected to
 * the caller's (ESRCH).
 */
long ker_msg_deliver_event(struct thread *self, const uintptr_t *args)
{
    struct thread *client = rcvid_thread(args[0]);
    struct sigevent event;
    if (!client || client->proc->dying || !event_connected(client->proc, self->proc)) {
        return -ESRCH;
    }
    if (copy_in(self->proc, &event, args[1], sizeof(event)) != 0) {
        return -EFAULT;
    }
    int r =
        event_check(client->proc, &event,
                    EVENT_KIND(SIGEV_NONE) | EVENT_KIND(SIGEV_PULSE) | EVENT_KIND(SIGEV_SIGNAL));
    if (r != 0) {
        return r;
    }
    if (!event_permitted(self->proc, client->proc, &event)) {
        return -EPERM;
    }
    bool suicide = event.sigev_notify == SIGEV_SIGNAL && client->proc == self->proc;
    r = event_deliver(client->proc, client, &event, NULL);
    return suicide ? KER_GONE : r;
}
