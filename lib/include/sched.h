/* SPDX-License-Identifier: BSD-2-Clause */
/* <sched.h>: the policies' numbers are the kernel's. */
#ifndef LIB_SCHED_H
#define LIB_SCHED_H

#include "kernel/abi/sys/neutrino.h"
#include "lib/include/sys/_pthreadtypes.h"

int sched_yield(void);
int sched_get_priority_min(int policy);
int sched_get_priority_max(int policy);

#endif
