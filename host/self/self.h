/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target `self`: this process, with the D machine in it. Its CPUs (cpu.c), what a clause sees
 * of the process (port.c, peek.c), timers (timer.c), the provider profile (profile.c), and the
 * calls of host/target/target.h (target.c, probes.c), under one lock (lock.c). Internal to
 * host/self.
 */
#ifndef HOST_SELF_SELF_H
#define HOST_SELF_SELF_H

#include "trace/dtrace/dtrace.h"
#include "trace/dtrace/port.h"

enum { SELF_CPUS_MAX = 8 };

/* The machine and what it stands on, once. */
void self_start(void);
/* The control lock: of all calls, and of the cleaner. */
void self_lock(void);
void self_unlock(void);
/* Control lock held. Started late: compiling and listing need none. */
void self_cleaner_start(void);

void self_cpus_init(void);
void self_port_init(void);

/* Timers: fn(arg) on a CPU, as that CPU, each interval ns. Started and stopped by the control
 * thread; after self_timer_stop() fn is not running and will not run. */
struct self_timer;
struct self_timer *self_timer_start(unsigned cpu, uint64_t interval, void (*fn)(void *arg),
                                    void *arg);
void self_timer_stop(struct self_timer *);

void self_profile_init(void);

#endif
