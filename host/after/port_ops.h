/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The D machine's port of a capture, its inlines. The machine runs on the thread of the command;
 * "this CPU", "now" and "the current thread" are those of the event that is fed
 * (host/after/feed.c).
 */
#ifndef HOST_AFTER_PORT_OPS_H
#define HOST_AFTER_PORT_OPS_H

#include "trace/dtrace/thread.h"

#define DTRACE_PORT_ALIGN 1 /* as on the boards */
#define DTRACE_PORT_STOPS 0
#define DTRACE_PORT_USERS 0
#define DTRACE_PORT_COUNTS 0
#define DTRACE_PORT_HELPERS 0 /* a capture has no memory of its programs */

/* A thread of the capture, for as long as it lives there. */
struct after_thread {
    struct after_thread *next; /* of its chain */
    struct dtrace_thread dtrace;
    uint64_t key; /* never given twice */
    int32_t pid, tid;
    int32_t priority, policy; /* of its last wide event; -1: none so far */
    uint32_t epoch;           /* its state was learnt in; 0: unknown. See after_epoch */
    uint8_t state, cpu;
    uint32_t rcvid, rcvid_epoch; /* of the call that it is in: messages.c */
    struct after_frame *stack;   /* stack.c; the outermost first */
    uint32_t depth, stack_room, stack_epoch;
};

extern struct after_now {
    uint64_t ns;
    unsigned cpu;
    int32_t error;               /* errno of the call that returns */
    struct after_thread *thread; /* never NULL; pid 0: unknown */
    bool missed;                 /* a clause has asked for it while it was unknown */
} after_now;

static inline unsigned dtrace_port_cpu(void)
{
    return after_now.cpu;
}

static inline uintptr_t dtrace_port_irq_save(void)
{
    return 0;
}

static inline void dtrace_port_irq_restore(uintptr_t state)
{
    (void)state;
}

static inline uint64_t dtrace_port_timestamp(void)
{
    return after_now.ns;
}

static inline struct dtrace_thread *dtrace_port_thread_state(void)
{
    return &after_now.thread->dtrace;
}

static inline uint64_t dtrace_port_thread_key(void)
{
    return after_now.thread->key;
}

#endif
