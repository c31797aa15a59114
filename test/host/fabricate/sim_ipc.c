/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulated system's messages and pulses: kernel/ipc in short. Each process has one channel; a
 * client's rcvid is its thread's, the same for each of its messages.
 */
#include <stdlib.h>

#include "test/host/fabricate/sim.h"

#define IPC_ESRCH 3
#define IPC_SCOID 0x20000000u

static uint32_t ipc_rcvid(const struct sim *sim, int thread)
{
    return ((uint32_t)thread + 1) | sim->threads[thread].generation << 10;
}

static int ipc_result(struct sim *sim, int self, int32_t result, int32_t error)
{
    sim->threads[self].result = result;
    sim->threads[self].error = error;
    return SIM_DONE;
}

static void ipc_raise(struct sim *sim, int server, uint8_t priority)
{
    struct sim_thread *s = &sim->threads[server];

    if (s->message_priority < priority) {
        s->message_priority = priority;
        sim_priority(sim, server);
    }
}

/* A client of that priority has queued: the process's busy servers inherit it. */
static void ipc_boost(struct sim *sim, int proc, uint8_t priority)
{
    for (int i = 0; i < SIM_THREADS; i++) {
        const struct sim_thread *s = &sim->threads[i];

        if (s->used && s->proc == proc && s->serving && s->state != STATE_RECEIVE &&
            s->state != STATE_DEAD) {
            ipc_raise(sim, i, priority);
        }
    }
}

/* ---- the truth --------------------------------------------------------------------- */

static void ipc_sent(struct sim *sim, int client, uint32_t event)
{
    struct truth *truth = sim->truth;
    struct sim_thread *t = &sim->threads[client];

    truth->messages = mk_grown(truth->messages, truth->nmessages, sizeof(*truth->messages));
    t->message = truth->nmessages;
    truth->messages[truth->nmessages++] =
        (struct truth_message){.sent = sim->events[event].time,
                               .client = t->life,
                               .server = TRUTH_NONE,
                               .instance = sim->procs[t->target].instance,
                               .rcvid = ipc_rcvid(sim, client),
                               .server_pid = sim->procs[t->target].pid,
                               .events = {event, TRUTH_NONE, TRUTH_NONE, TRUTH_NONE}};
}

static void ipc_received(struct sim *sim, int client, int server, uint32_t event)
{
    struct truth_message *message = &sim->truth->messages[sim->threads[client].message];

    message->received = sim->events[event].time;
    message->server = sim->threads[server].life;
    message->events[1] = event;
}

/* The client's message has ended. */
void sim_client_end(struct sim *sim, int client, unsigned how, uint32_t event)
{
    struct sim_thread *t = &sim->threads[client];
    struct truth_message *message;

    if (t->message == TRUTH_NONE) {
        return;
    }
    message = &sim->truth->messages[t->message];
    message->replied = sim->events[event].time;
    message->end = (uint8_t)how;
    message->events[3] = event;
    t->message = TRUTH_NONE;
    t->server = -1;
}

/* ---- sending ----------------------------------------------------------------------- */

/* The receiver copies the message itself, in a call that goes on. */
static void ipc_start_pieces(struct sim *sim, int receiver, int client)
{
    sim->threads[client].server = receiver;
    sim->threads[receiver].long_client = client;
    ipc_raise(sim, receiver, sim->threads[client].priority);
    sim->threads[receiver].again = true;
    sim_wake(sim, receiver, 0, 0);
}

static int ipc_send_queue(struct sim *sim, int self, int receiver)
{
    struct sim_thread *t = &sim->threads[self];
    uint32_t event;

    event = sim_event2(sim, sim->on, TRACE_CLASS_COMM, COMM_SND_MESSAGE, ipc_rcvid(sim, self),
                       (uint32_t)sim->procs[t->target].pid);
    ipc_sent(sim, self, event);
    sim_block(sim, self, STATE_SEND);
    ipc_boost(sim, t->target, t->priority);
    if (receiver >= 0) {
        ipc_start_pieces(sim, receiver, self);
    }
    return SIM_BLOCKED;
}

int sim_send(struct sim *sim, int self)
{
    struct sim_thread *t = &sim->threads[self];
    int target = t->call.proc, receiver;
    uint32_t event, rcvid = ipc_rcvid(sim, self), pid;

    if (!sim->procs[target].used || sim->procs[target].dying ||
        sim->procs[target].generation != t->call.words[2]) {
        return ipc_result(sim, self, -1, IPC_ESRCH);
    }
    t->target = target;
    t->server = -1;
    pid = (uint32_t)sim->procs[target].pid;
    receiver = sim_first(sim, target, STATE_RECEIVE, 0);
    if (receiver < 0 || t->call.all) { /* all: it is long */
        return ipc_send_queue(sim, self, receiver);
    }
    event = sim_event2(sim, sim->on, TRACE_CLASS_COMM, COMM_SND_MESSAGE, rcvid, pid);
    ipc_sent(sim, self, event);
    sim_block(sim, self, STATE_REPLY);
    t->server = receiver;
    ipc_raise(sim, receiver, t->priority);
    event = sim_event2(sim, sim->on, TRACE_CLASS_COMM, COMM_REC_MESSAGE, rcvid, pid);
    ipc_received(sim, self, receiver, event);
    sim_wake(sim, receiver, (int32_t)rcvid, 0);
    sim->truth->messages[t->message].events[2] = sim->nevents - 1;
    return SIM_BLOCKED;
}

/* ---- receiving --------------------------------------------------------------------- */

static int ipc_receive_take(struct sim *sim, int self, int client)
{
    struct sim_thread *c = &sim->threads[client];
    uint32_t event, rcvid = ipc_rcvid(sim, client);

    c->server = self;
    sim_state(sim, client, STATE_REPLY);
    c->timed = c->timeout_states >> STATE_REPLY & 1;
    if (c->timed) {
        c->timeout_at = c->timeout_next;
        c->timeout_cpu = (int)sim->on;
    }
    ipc_raise(sim, self, c->priority);
    event = sim_event2(sim, sim->on, TRACE_CLASS_COMM, COMM_REC_MESSAGE, rcvid,
                       (uint32_t)sim->procs[sim->threads[self].proc].pid);
    ipc_received(sim, client, self, event);
    return ipc_result(sim, self, (int32_t)rcvid, 0);
}

int sim_receive(struct sim *sim, int self)
{
    struct sim_thread *t = &sim->threads[self];
    struct sim_proc *proc = &sim->procs[t->proc];
    int client = t->long_client;

    t->serving = true;
    t->long_client = -1;
    if (client >= 0 && (!sim->threads[client].used || sim->threads[client].state != STATE_SEND ||
                        sim->threads[client].server != self)) {
        client = -1; /* it has left */
    }
    if (client >= 0) {
        sim->threads[client].server = -1;
    } else if (proc->queued_pulses > 0) {
        proc->queued_pulses--;
        sim_event2(sim, sim->on, TRACE_CLASS_COMM, COMM_REC_PULSE, IPC_SCOID + 1,
                   (uint32_t)proc->pid);
        return ipc_result(sim, self, 0, 0);
    } else {
        client = sim_first(sim, t->proc, STATE_SEND, 0);
    }
    if (client >= 0) {
        return ipc_receive_take(sim, self, client);
    }
    t->message_priority = 0;
    sim_priority(sim, self);
    sim_block(sim, self, STATE_RECEIVE);
    return SIM_BLOCKED;
}

/* ---- replies and pulses ------------------------------------------------------------ */

int sim_reply(struct sim *sim, int self)
{
    int client = sim->threads[self].call.thread;
    bool error = sim->threads[self].call.number == CALL_MSG_ERROR;
    const struct sim_thread *c = &sim->threads[client];
    uint32_t event;

    if (!c->used || c->state != STATE_REPLY || c->target != sim->threads[self].proc ||
        ipc_rcvid(sim, client) != sim->threads[self].call.words[0]) {
        return ipc_result(sim, self, -1, IPC_ESRCH);
    }
    event = sim_event2(sim, sim->on, TRACE_CLASS_COMM, error ? COMM_ERROR : COMM_REPLY,
                       (uint32_t)c->tid, (uint32_t)sim->procs[c->proc].pid);
    sim_client_end(sim, client, error ? TRUTH_MESSAGE_ERROR : TRUTH_MESSAGE_REPLY, event);
    sim_wake(sim, client, error ? -1 : 0, error ? 5 : 0);
    return ipc_result(sim, self, 0, 0);
}

void sim_pulse_to(struct sim *sim, int proc, uint32_t event, uint32_t scoid)
{
    struct sim_proc *p = &sim->procs[proc];
    int receiver;

    sim_event2(sim, sim->on, TRACE_CLASS_COMM, event, scoid, (uint32_t)p->pid);
    receiver = sim_first(sim, proc, STATE_RECEIVE, 0);
    if (receiver < 0) {
        p->queued_pulses++;
        return;
    }
    ipc_raise(sim, receiver, sim->cause.kind == TRUTH_END_THREAD ? 10 : 20);
    sim_event2(sim, sim->on, TRACE_CLASS_COMM, COMM_REC_PULSE, scoid, (uint32_t)p->pid);
    sim_wake(sim, receiver, 0, 0);
}

int sim_pulse(struct sim *sim, int self)
{
    const struct sim_args *call = &sim->threads[self].call;

    if (!sim->procs[call->proc].used || sim->procs[call->proc].dying ||
        sim->procs[call->proc].generation != call->words[2]) {
        return ipc_result(sim, self, -1, IPC_ESRCH);
    }
    sim_pulse_to(sim, call->proc, COMM_SND_PULSE, IPC_SCOID + 1);
    return ipc_result(sim, self, 0, 0);
}

/* ---- aborted waits ----------------------------------------------------------------- */

/* The client wants to leave: a server that asked for it gets a pulse instead, once. */
static bool ipc_ask_server(struct sim *sim, int client)
{
    const struct sim_thread *c = &sim->threads[client];
    struct sim_proc *server = &sim->procs[c->target];

    if (!server->unblock || server->dying) {
        return false;
    }
    sim_pulse_to(sim, c->target, COMM_SND_PULSE_UN, IPC_SCOID + 2);
    return true;
}

static void ipc_leave(struct sim *sim, int thread, int32_t error)
{
    struct sim_thread *t = &sim->threads[thread];
    uint32_t message = t->message, event;

    sim_wake(sim, thread, -1, error);
    event = sim->nevents - 1;
    if (message != TRUTH_NONE) {
        sim_client_end(sim, thread,
                       sim->cause.kind == TRUTH_END_TIMER ? TRUTH_MESSAGE_TIMEOUT
                                                          : TRUTH_MESSAGE_SERVER_DEATH,
                       event);
    }
}

bool sim_cancel(struct sim *sim, int thread, int32_t error)
{
    struct sim_thread *t = &sim->threads[thread];
    bool sleeps = t->state == STATE_NANOSLEEP;
    int owner = t->owner;

    switch (t->state) {
    case STATE_CONDVAR:
        t->timed = false;
        sim_cond_end(sim, thread, error);
        break;
    case STATE_REPLY:
        if (ipc_ask_server(sim, thread)) {
            return false;
        }
        ipc_leave(sim, thread, error);
        break;
    case STATE_SEND:
        ipc_leave(sim, thread, error);
        break;
    case STATE_RECEIVE:
        sim_event2(sim, sim->on, TRACE_CLASS_COMM, COMM_REC_MESSAGE, ~0u, ~0u);
        sim_wake(sim, thread, -1, error);
        break;
    case STATE_MUTEX:
        t->owner = -1;
        sim_inherit(sim, owner);
        sim_wake(sim, thread, -1, error);
        break;
    case STATE_JOIN:
        for (int i = 0; i < SIM_THREADS; i++) {
            sim->threads[i].joiner = sim->threads[i].joiner == thread ? -1 : sim->threads[i].joiner;
        }
        sim_wake(sim, thread, -1, error);
        break;
    default:
        sim_wake(sim, thread, -1, error);
        break;
    }
    t->aborted = !sleeps;
    return true;
}

/* ---- ends -------------------------------------------------------------------------- */

/* The thread is gone: a message that it copies goes back to the queue, and its clients wait on. */
void sim_message_thread_gone(struct sim *sim, int thread)
{
    sim->threads[thread].serving = false;
    for (int i = 0; i < SIM_THREADS; i++) {
        struct sim_thread *client = &sim->threads[i];

        if (client->used && client->server == thread) {
            client->server = -1;
            if (client->state == STATE_SEND) {
                int receiver = sim_first(sim, client->target, STATE_RECEIVE, 0);

                if (receiver >= 0 && receiver != thread) {
                    ipc_start_pieces(sim, receiver, i);
                }
            }
        }
    }
}

/* A client of a process that ends goes on; sim_life.c calls this until none is left. */
void sim_message_process_gone(struct sim *sim, int proc)
{
    for (int i = 0; i < SIM_THREADS; i++) {
        const struct sim_thread *client = &sim->threads[i];

        if (client->used && client->target == proc && client->message != TRUTH_NONE &&
            (client->state == STATE_SEND || client->state == STATE_REPLY)) {
            ipc_leave(sim, i, IPC_ESRCH);
            return;
        }
    }
}
