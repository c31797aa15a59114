/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Channels, connections, messages and pulses. Kernel lock held.
 */
#ifndef KERNEL_IPC_IPC_H
#define KERNEL_IPC_IPC_H

#include "kernel/proc/proc.h"

struct pulse {
    struct list link; /* [k] in channel->pulses, by priority; self-linked or {0}: not queued */
    struct channel *channel; /* [k] the channel where it is queued */
    uint32_t seq;            /* [k] order of arrival, compared with senders of the same priority */
    bool of_user;            /* [k] counted in channel->user_pulses */
    uint8_t priority;        /* [k] */
    int8_t code;             /* [k] */
    bool preallocated;       /* [I] belongs to an attachment: not freed on receipt */
    int32_t scoid;           /* [k] */
    uintptr_t value;         /* [k] */
};

struct channel {
    struct process *proc;    /* [I] owner */
    int32_t chid;            /* [I] from 1 in its process */
    uint32_t flags;          /* [I] _NTO_CHF_* */
    struct list senders;     /* [k] threads in SEND, by priority */
    struct list receivers;   /* [k] threads in RECEIVE, LIFO within priority */
    struct list pulses;      /* [k] */
    uint32_t user_pulses;    /* [k] queued pulses sent by programs; limited */
    struct list connections; /* [k] connections to this channel */
};

struct connection {
    struct list link;        /* [k] in channel->connections */
    struct process *proc;    /* [I] the owning client; NULL: free */
    struct channel *channel; /* [k] NULL: the server is gone */
    int32_t coid, scoid;     /* [I] */
    uint32_t flags;          /* [k] _NTO_COF_*, CONNECTION_* */
};
#define CONNECTION_DEAD 0x80000000u /* its server ended: ESRCH; else a lost channel is EBADF */

void channel_init(void);
struct channel *channel_find(struct process *proc, int chid);

/* Returns whether a pulse would be accepted now. Called before sending, because the trace records
 * the sending before the receipt and must not record a pulse that is refused. (A receiver with a
 * bad buffer is not considered.) */
bool pulse_room(const struct channel *ch, bool of_user);
/* Queues or delivers a pulse from the kernel. Returns 0, or -EAGAIN if none is free. */
int pulse_send(struct channel *ch, int priority, int code, uintptr_t value, int scoid);
/* Like pulse_send(), with the caller's own pulse: coalesces (a queued one just takes the newest
 * value). */
void pulse_send_prealloc(struct channel *ch, struct pulse *p);

bool pulse_queued(const struct pulse *p);
void pulse_unqueue(struct pulse *p); /* removes the caller's own pulse; it need not be queued */

/* Delivers a sigevent to process proc. event must be checked by event_check(). prealloc may be
 * NULL. */
int event_check(struct process *proc, const struct sigevent *event,
                uint32_t kinds); /* 0, -EINVAL, -EBADF */
int event_deliver(struct process *proc, struct thread *intr_thread, const struct sigevent *event,
                  struct pulse *prealloc);
#define EVENT_KIND(k) (1u << (k))

extern const struct wait_kind msg_wait_send, msg_wait_receive, msg_wait_reply;

/* A thread has ended: a server's clients, and the messages that it was copying. */
void msg_thread_gone(struct thread *t);
/* The same, after its THDESTROY: a pulse to channels that asked for it. */
void channel_thread_gone(struct thread *t);
/* A process ends: what it holds. */
void name_process_gone(struct process *proc);
void channel_process_gone(struct process *proc);
void connection_process_gone(struct process *proc);

#endif
