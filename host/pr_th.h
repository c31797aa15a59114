/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of class PR_TH that tell of processes and threads, as their slots number them; those
 * below PR_TH_CREATE are a thread's states. Those without a name of trace/events.def are from
 * host/reader/foreign_events.def.
 */
#ifndef HOST_PR_TH_H
#define HOST_PR_TH_H

#include "host/event_numbers.h"

enum {
    PR_TH_CREATE = NUMBER_thread_create,
    PR_TH_DESTROY = NUMBER_thread_destroy,
    PR_TH_VTHREADS = 26, /* from here on virtual ones, up to the processes' */
    PR_TH_PROCCREATE = 64,
    PR_TH_PROCDESTROY = NUMBER_proc_destroy,
    PR_TH_PROCCREATE_NAME = NUMBER_proc_create_name,
    PR_TH_PROCDESTROY_NAME = 256,
    PR_TH_PROCTHREAD_NAME = NUMBER_thread_name,
};

#endif
