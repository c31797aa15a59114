/* SPDX-License-Identifier: BSD-2-Clause */
/* The scheduler's state. each.h and one.h include this file where struct ready_queues, a part of
 * the state, is defined, and before their inline functions. Other files include
 * kernel/thread/sched.h. */
#ifndef KERNEL_THREAD_READY_STATE_H
#define KERNEL_THREAD_READY_STATE_H

#include <stdint.h>

struct sched {
    uint32_t above;     /* [k] highest priority in the queues plus 1; 0: all empty */
    uint32_t several;   /* [k] the online CPUs if there are several; otherwise 0 */
    uint32_t queued;    /* [k] threads in the queues */
    uint32_t idle_cpus; /* [k] mask */
    uint32_t quantum;   /* [I] cycles */
    struct ready_queues ready;
};
extern struct sched sched;

#endif
