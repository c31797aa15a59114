/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of the fast path of messages (msg_direct.c) where the log is their only listener: all
 * of a step's events at once, after its changes (trace/log_batch.h). The events are the same that
 * the slow path records one by one, in the same order and with the same words, for the changes
 * don't alter these. In an uncommon case each event is recorded by itself. Kernel lock held. Tested
 * by test/kernel/entry/direct_test.c, which compares them with the slow path's.
 */
#ifndef KERNEL_ENTRY_MSG_LOG_H
#define KERNEL_ENTRY_MSG_LOG_H

#include "kernel/arch/cpu.h"
#include "kernel/entry/exit.h"
#include "kernel/entry/msg_steps.h"
#include "trace/log_batch.h"

/* The numbers of the events. */
enum {
#define EVENT(name, CLASS, number, ...) NUMBER_##name = (number),
#define EVENT_STATE(...)
#define EVENT_CONTROL(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_STATE
#undef EVENT_CONTROL
};

/* The form of a batch's thread states: how many slots each takes. */
enum state_form { FAST_STATES = 1, WIDE_STATES = 2 };

/* Returns whether the log takes the event of a site. The gate of a site where only the log listens
 * is LOG, or ALL while another CPU is changing it. */
HELD bool log_takes(unsigned id)
{
    switch (TRACE_PORT_SITE(id)) {
    case TRACE_SITE_OFF:
        return false;
    case TRACE_SITE_LOG:
        return true;
    case TRACE_SITE_ALL:
        break;
    }
    return trace_bit(trace_site_logged, id);
}

HELD void batch_message(struct trace_batch *batch, unsigned number, uint32_t d1, uint32_t d2)
{
    trace_batch_count(batch, TRACE_CLASS_COMM, 1);
    trace_batch_put2(batch, TRACE_CLASS_COMM, number, d1, d2);
}

HELD void batch_state(struct trace_batch *batch, enum state_form form, const struct thread *t,
                      enum thread_state state)
{
    const uint32_t words[4] = {(uint32_t)t->pid, (uint32_t)t->tid, t->priority, t->policy};

    if (form == FAST_STATES) {
        trace_batch_put2(batch, TRACE_CLASS_PR_TH, state, words[0], words[1]);
    } else {
        trace_batch_put4(batch, TRACE_CLASS_PR_TH, state, words);
    }
}

static inline void log_state(const struct thread *t, enum thread_state state)
{
    trace_thread_state(state, (uint32_t)t->pid, (uint32_t)t->tid, t->priority, t->policy);
}

/* ---- MsgSend ------------------------------------------------------------------------ */

HELD bool send_log_batch(const struct thread *self, const struct thread *receiver,
                         enum state_form form)
{
    const uint32_t rcvid = (uint32_t)self->rcvid, pid = (uint32_t)self->channel->proc->pid;
    struct trace_batch batch;

    if (!trace_batch_begin(&batch, 2 + 3 * form)) {
        return false;
    }
    trace_batch_count(&batch, TRACE_CLASS_PR_TH, 3);
    if (log_takes(TRACE_EV_comm_snd_message)) {
        batch_message(&batch, NUMBER_comm_snd_message, rcvid, pid);
    }
    batch_state(&batch, form, self, STATE_REPLY);
    if (log_takes(TRACE_EV_comm_rec_message)) {
        batch_message(&batch, NUMBER_comm_rec_message, rcvid, pid);
    }
    batch_state(&batch, form, receiver, STATE_READY);
    batch_state(&batch, form, receiver, STATE_RUNNING);
    trace_batch_end(&batch);
    return true;
}

static __attribute__((noinline)) void send_log_each(const struct thread *self,
                                                    const struct thread *receiver)
{
    msg_trace_send(self, self->channel);
    log_state(self, STATE_REPLY);
    msg_trace_receive(self, self->channel);
    log_state(receiver, STATE_READY);
    log_state(receiver, STATE_RUNNING);
}

/* Logs that self waits for its reply and the receiver has its message and runs. */
HELD void send_log(const struct thread *self, const struct thread *receiver)
{
    const uint32_t states = 1u << STATE_REPLY | 1u << STATE_READY | 1u << STATE_RUNNING;

    if (TRACE_PORT_SITE_ON(TRACE_EV_thread_state)) {
        if ((trace_filter.state_fast & states) == states) {
            if (likely(send_log_batch(self, receiver, FAST_STATES))) {
                return;
            }
        } else if ((trace_filter.state_long & states) == states) {
            if (likely(send_log_batch(self, receiver, WIDE_STATES))) {
                return;
            }
        }
    } else if (!TRACE_PORT_SITE_ON(TRACE_EV_comm_snd_message) &&
               !TRACE_PORT_SITE_ON(TRACE_EV_comm_rec_message)) {
        return;
    }
    send_log_each(self, receiver);
}

/* ---- MsgReceive --------------------------------------------------------------------- */

HELD bool receive_log_batch(const struct thread *self, const struct thread *next,
                            enum state_form form)
{
    struct trace_batch batch;

    if (!trace_batch_begin(&batch, 2 * form)) {
        return false;
    }
    trace_batch_count(&batch, TRACE_CLASS_PR_TH, 2);
    batch_state(&batch, form, self, STATE_RECEIVE);
    batch_state(&batch, form, next, STATE_RUNNING);
    trace_batch_end(&batch);
    return true;
}

/* Logs that self waits for a message and next runs. */
HELD void receive_log(const struct thread *self, const struct thread *next)
{
    const uint32_t states = 1u << STATE_RECEIVE | 1u << STATE_RUNNING;

    if (!TRACE_PORT_SITE_ON(TRACE_EV_thread_state)) {
        return;
    }
    if ((trace_filter.state_fast & states) == states) {
        if (likely(receive_log_batch(self, next, FAST_STATES))) {
            return;
        }
    } else if ((trace_filter.state_long & states) == states) {
        if (likely(receive_log_batch(self, next, WIDE_STATES))) {
            return;
        }
    }
    log_state(self, STATE_RECEIVE);
    log_state(next, STATE_RUNNING);
}

/* ---- MsgReply ----------------------------------------------------------------------- */

HELD bool reply_log_batch(const struct thread *client, enum state_form form)
{
    struct trace_batch batch;

    if (!trace_batch_begin(&batch, 1 + form)) {
        return false;
    }
    trace_batch_count(&batch, TRACE_CLASS_PR_TH, 1);
    if (log_takes(TRACE_EV_comm_reply_message)) {
        batch_message(&batch, NUMBER_comm_reply_message, (uint32_t)client->tid,
                      (uint32_t)client->pid);
    }
    batch_state(&batch, form, client, STATE_READY);
    trace_batch_end(&batch);
    return true;
}

static __attribute__((noinline)) void reply_log_each(const struct thread *client)
{
    trace_comm_reply_message((uint32_t)client->tid, (uint32_t)client->pid);
    log_state(client, STATE_READY);
}

/* Logs that client has its reply and is READY. */
HELD void reply_log(const struct thread *client)
{
    const uint32_t states = 1u << STATE_READY;

    if (TRACE_PORT_SITE_ON(TRACE_EV_thread_state)) {
        if (trace_filter.state_fast & states) {
            if (likely(reply_log_batch(client, FAST_STATES))) {
                return;
            }
        } else if (trace_filter.state_long & states) {
            if (likely(reply_log_batch(client, WIDE_STATES))) {
                return;
            }
        }
    } else if (!TRACE_PORT_SITE_ON(TRACE_EV_comm_reply_message)) {
        return;
    }
    reply_log_each(client);
}

/* ---- the way out -------------------------------------------------------------------- */

/* Leaves after the events are recorded, when next already has this CPU: traces the end of next's
 * call. Each event may have set pending work. */
HELD struct thread *logged_leave(struct thread *next)
{
    struct cpu *cpu = arch_cpu();

    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_exit)) {
        kercall_trace_exit(next);
    }
    if (unlikely(cpu->trace.exit_work)) {
        return exit_locked(cpu);
    }
    kernel_unlock();
    return next;
}

/* Like logged_leave(), after a switch of threads. */
HELD struct thread *logged_leave_switched(struct thread *next)
{
    if (CONFIG_CPUS > 1 && sched.above && several_cpus()) {
        sched_kick_others(arch_cpu());
    }
    return logged_leave(next);
}

#endif
