/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conveniences of libkymo that neither POSIX nor QNX has. Any thread. -1 and errno on failure.
 */
#ifndef LIB_KYMO_H
#define LIB_KYMO_H

#include "abi/sys/ability.h"
#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "lib/include/sys/dispatch.h"

/* How a program is started; a zero field means the caller's own or the default. */
struct kymo_spawn_attr {
    int priority;
    int policy; /* SCHED_* */
    uint32_t ability;
    uint32_t runmask;
    uint32_t stack_size, heap_size; /* bytes */
    uint32_t flags;                 /* KYMO_SPAWN_* */
};

/*
 * Starts a program of the boot image. argv: strings ended by NULL, argv[0] the name it goes by
 * (NULL argv: just the program's name). attr NULL: all zero. Returns its pid. E2BIG: arguments
 * longer than KYMO_ARG_MAX; ENAMETOOLONG; else ProcSpawn()'s errors.
 */
int kymo_spawn(const char *program, char *const argv[], const struct kymo_spawn_attr *attr);
/* Starts it and waits for its end; returns the status as ProcWait() gives it. */
int kymo_run(const char *program, char *const argv[], const struct kymo_spawn_attr *attr);

/*
 * name_attach() whose channel has the given flags (_NTO_CHF_*). For a server that answers late and
 * whose clients shall time out without it: without _NTO_CHF_UNBLOCK they leave at once.
 * KYMO_NAME_FLAGS: name_attach()'s but for that one. NULL and errno as name_attach().
 */
#define KYMO_NAME_FLAGS (_NTO_CHF_DISCONNECT | _NTO_CHF_COID_DISCONNECT)
name_attach_t *kymo_name_attach(const char *path, unsigned channel_flags);

uint32_t kymo_abilities(void); /* ABILITY_* of this process */
unsigned kymo_cpus(void);
uint64_t kymo_cycles_per_sec(void);
/* Names the calling thread (cut to KYMO_THREAD_NAME_MAX - 1), for listings and the trace. */
int kymo_thread_name(const char *name);
/*
 * Signals (1 << number of each) that this process takes as a pulse, whose value is the number,
 * instead of being ended by them; 0: none any more. EINVAL: SIGKILL is among them; else the errors
 * of registering an event.
 */
int kymo_signal_pulse(uint64_t signals, const struct sigevent *pulse);
/* Name of a thread state, e.g. "RECEIVE"; "?" if there is no such. */
const char *kymo_state_name(int state);

#endif
