/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Channels, connections, messages and pulses. Kernel lock held.
 */
#ifndef KERNEL_IPC_IPC_H
#define KERNEL_IPC_IPC_H

#include "kernel/proc/proc.h"

struct channel {
    struct process *proc;  /* [I] owner */
    int32_t chid;          /* [I] from 1 in its process */
    uint32_t flags;        /* [I] _NTO_CHF_* */
    struct list senders;   /* [k] threads in SEND, by priority */
    struct list receivers; /* [k] threads in RECEIVE, LIFO within priority */
    struct list pulses;    /* [k] */
    /* [k] the orders of senders and pulses */
    struct order senders_order, pulses_order;
    uint16_t user_pulses;    /* [k] number of queued pulses sent by programs; limited */
    struct list connections; /* [k] connections to this channel */
    /* [k] closed: the channel that the process closed before this one, or NULL */
    struct channel *next_closing;
};

/* A closed connection stays in its table until its notice has been received. */
struct connection {
    struct list link;     /* [k] in channel->connections; closed: in the server's list `closed` */
    struct process *proc; /* [k] the owning client; NULL: closed or free */
    struct channel *channel; /* [k] NULL: the server has ended */
    int32_t coid, scoid;     /* [I] */
    /* [k] in the tree of scoids, on behalf of all connections of proc to this channel:
     * kernel/ipc/connect.c */
    struct trie_node by_scoid;
    uint32_t flags;      /* [k] _NTO_COF_*, CONNECTION_* */
    int32_t pid;         /* [I] the owner's pid; kept when proc is NULL because this is closed */
    struct payer payer;  /* [k] the owner; when closed: the server, if it has room */
    struct pulse notice; /* [k] COIDDEATH while it is open; DISCONNECT when it is closed */
};
/* A pulse that a program sent, allocated from their pool. */
struct user_pulse {
    struct pulse pulse; /* [k] must be first */
    struct payer payer; /* [I] the sender */
};
/* its server ended: ESRCH; otherwise a lost channel means EBADF */
#define CONNECTION_DEAD 0x80000000u

void channel_init(void); /* and connections and pulses */
void name_init(void);
struct channel *channel_find(struct process *proc, int chid);

/* Delivers or queues a pulse that is embedded in an object. If it is already queued, it takes the
 * newest value and keeps its position. */
void pulse_send_prealloc(struct channel *ch, struct pulse *p);
/* Sends a kernel notice about an object by the pulse embedded in the object: never refused,
 * whatever else is queued. A notice that is still queued is replaced. Returns whether it has been
 * received; otherwise it is queued. */
bool pulse_notify(struct channel *ch, struct pulse *p, struct pulse notice);
void pulse_unqueue(struct pulse *p); /* removes the object's own pulse, queued or not */

/* Delivers a sigevent to process proc. event must be checked by event_check(). prealloc may be
 * NULL. */
int event_check(struct process *proc, const struct sigevent *event,
                uint32_t kinds); /* 0, -EINVAL, -EBADF */
int event_deliver(struct process *proc, struct thread *intr_thread, const struct sigevent *event,
                  struct pulse *prealloc);
/*
 * Delivers a signal as the pulse that the process requested (proc->signal_event). While one is
 * queued, others are pending, each number once, and follow as soon as it is received, lowest first.
 * Returns 0, or -EBADF or -ESRCH if the connection has no channel. Signals that are queued or
 * pending when the channel or the connection ends stay pending.
 */
int event_signal_pulse(struct process *proc, int signo);
/* Sends the pending signals, as far as possible, after the process has set another event. */
void event_signals_send(struct process *proc);
#define EVENT_KIND(k) (1u << (k))

extern const struct wait_kind msg_wait_send, msg_wait_receive, msg_wait_reply;

/* Called when a thread ends: for a server's clients, and for the message that it was copying. */
void msg_thread_gone(struct thread *t);
bool msg_thread_gone_piece(struct thread *t);
/* Called after its THDESTROY: sends a pulse to channels that requested it. */
void channel_thread_gone(struct thread *t);
/* Called when a process ends: free its names, channels and connections. */
bool name_process_gone(struct process *proc);
bool channel_process_gone(struct process *proc);
bool connection_process_gone(struct process *proc);
bool event_process_gone(struct process *proc);

#endif
