/* SPDX-License-Identifier: BSD-2-Clause */
/* <sched.h>: the policies' numbers are the kernel's. */
#ifndef LIB_SCHED_H
#define LIB_SCHED_H

#include "abi/sys/neutrino.h"
#include "lib/include/sys/_pthreadtypes.h"

/* Moves the caller to the end of its priority's queue; returns 0. */
int sched_yield(void);
/* Return 1 and 255, for any policy; above 63 needs ABILITY_PRIORITY. */
int sched_get_priority_min(int policy);
int sched_get_priority_max(int policy);

#endif
