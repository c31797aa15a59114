/* SPDX-License-Identifier: BSD-2-Clause */
/* <sched.h>: the policies' numbers are the kernel's. */
#ifndef LIB_SCHED_H
#define LIB_SCHED_H

#include "abi/sys/neutrino.h"
#include "lib/include/sys/_pthreadtypes.h"

/* To the end of the queue of its priority. 0. */
int sched_yield(void);
/* 1 and 255, whatever the policy; above 63 takes ABILITY_PRIORITY. */
int sched_get_priority_min(int policy);
int sched_get_priority_max(int policy);

#endif
