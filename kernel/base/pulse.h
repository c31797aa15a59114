/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pulse, embedded by the objects that send one of their own: timers, interrupt attachments,
 * connections, threads, processes. kernel/ipc/ipc.h sends, queues and delivers pulses.
 */
#ifndef KERNEL_BASE_PULSE_H
#define KERNEL_BASE_PULSE_H

#include <stdint.h>

#include "kernel/base/order.h"

struct channel;

/* The object that contains a pulse, which decides the action after it has been received. */
enum pulse_kind {
    PULSE_EMBEDDED = 0, /* in an object that may send it again at any time: no action */
    PULSE_USER,         /* sent by a program, from the pool: freed */
    PULSE_CONNECTION,   /* DISCONNECT, COIDDEATH: the connection is freed if it is closed */
    PULSE_THREAD,       /* THREADDEATH: sent to the next channel, or the thread is freed */
    PULSE_SIGNAL,       /* a process's signals: the next pending one is sent */
};

struct pulse {
    struct list link; /* [k] in channel->pulses, by priority; self-linked or {0}: not queued */
    struct channel *channel; /* [k] the channel where it is queued */
    uint32_t seq;            /* [k] order of arrival, compared with senders of the same priority */
    uint8_t kind;            /* [k] enum pulse_kind */
    uint8_t priority;        /* [k] */
    int8_t code;             /* [k] */
    struct order_node order; /* [k] while it is queued */
    int32_t scoid;           /* [k] */
    uintptr_t value;         /* [k] */
};

static inline bool pulse_queued(const struct pulse *p)
{
    return p->link.next && p->link.next != &p->link;
}

#endif
