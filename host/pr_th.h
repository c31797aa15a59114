/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of class PR_TH that tell of processes and threads, as their slots number them; those
 * below PR_TH_CREATE are a thread's states. From trace/events.def and
 * host/reader/foreign_events.def.
 */
#ifndef HOST_PR_TH_H
#define HOST_PR_TH_H

enum {
    PR_TH_CREATE = 24,
    PR_TH_DESTROY = 25,
    PR_TH_VTHREADS = 26, /* from here on virtual ones, up to the processes' */
    PR_TH_PROCCREATE = 64,
    PR_TH_PROCDESTROY = 128,
    PR_TH_PROCCREATE_NAME = 192,
    PR_TH_PROCDESTROY_NAME = 256,
    PR_TH_PROCTHREAD_NAME = 320,
};

#endif
