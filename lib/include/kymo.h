/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conveniences of libkymo that neither POSIX nor QNX has. Any thread. -1 and errno on failure.
 */
#ifndef LIB_KYMO_H
#define LIB_KYMO_H

#include <stdbool.h>
#include "abi/sys/ability.h"
#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "lib/include/sys/dispatch.h"

/* Attributes of a new program; a zero field means the caller's own or the default. */
struct kymo_spawn_attr {
    int priority;
    int policy; /* SCHED_* */
    uint32_t ability;
    uint32_t runmask;
    uint32_t stack_size, heap_size; /* bytes */
    uint32_t flags;                 /* KYMO_SPAWN_* */
    /* Limits (abi/sys/quota.h): which are meant, 1 << KYMO_LIMIT_*, and their values, as in struct
     * kymo_spawn. With KYMO_SPAWN_GROUP those of a group. */
    uint32_t limits;
    uint64_t limit[KYMO_LIMITS];
};

/*
 * Starts a program of the boot image. argv: strings ended by NULL, argv[0] is the process's name
 * (NULL argv: just the program's name). attr NULL: all zero. Returns its pid. E2BIG: arguments
 * longer than KYMO_ARG_MAX; ENAMETOOLONG; else ProcSpawn()'s errors.
 */
int kymo_spawn(const char *program, char *const argv[], const struct kymo_spawn_attr *attr);
/* Starts a program and waits for its end; returns the status as ProcWait() does. */
int kymo_run(const char *program, char *const argv[], const struct kymo_spawn_attr *attr);

/*
 * name_attach() for a channel with the given flags (_NTO_CHF_*). For a server that replies late and
 * whose clients must be able to time out without its help: without _NTO_CHF_UNBLOCK they unblock at
 * once. KYMO_NAME_FLAGS: name_attach()'s flags without that one. Returns NULL and errno like
 * name_attach().
 */
#define KYMO_NAME_FLAGS (_NTO_CHF_DISCONNECT | _NTO_CHF_COID_DISCONNECT)
name_attach_t *kymo_name_attach(const char *path, unsigned channel_flags);

uint32_t kymo_abilities(void); /* ABILITY_* of this process */
/* CPUs are numbered below this. */
unsigned kymo_cpus(void);
/* The CPUs that run, one bit per CPU. One that did not start leaves a gap: a run mask that names
 * only such CPUs is EINVAL. Constant from boot on; CPU 0 always runs. */
uint32_t kymo_cpu_mask(void);
uint64_t kymo_cycles_per_sec(void);
/* For a loop that waits for another CPU, or makes work as fast as it can: gives this CPU a hint. An
 * emulator that runs CPUs in turn then continues with the next one; without it, such a loop can
 * keep another CPU from ever running there. */
static inline void kymo_spin_hint(void)
{
#ifdef __x86_64__
    __asm__ volatile("pause" ::: "memory");
#else
    __asm__ volatile("yield" ::: "memory");
#endif
}
/* Names the calling thread (truncated to KYMO_THREAD_NAME_MAX - 1), for listings and the trace. */
int kymo_thread_name(const char *name);
/* Likewise for a living thread of this process; tid 0: the caller. Returns 0 or a negative errno:
 * -ESRCH. */
int kymo_thread_name_of(int tid, const char *name);
/*
 * Makes signals (1 << number of each) arrive at this process as a pulse, whose value is the number,
 * instead of ending it; 0: none any more. EINVAL: SIGKILL is among them; else the errors of
 * registering an event.
 */
int kymo_signal_pulse(uint64_t signals, const struct sigevent *pulse);

/* Returns the scoid of pulses that come over coid, the caller's connection to its own channel: sent
 * by the caller, or for it by a timer, an interrupt or a signal; -1: none. */
int kymo_own_scoid(int coid);
/* Returns whether a received pulse has that scoid, or is the kernel's own: programs can't send
 * negative codes. */
static inline bool kymo_pulse_trusted(int own_scoid, const struct _pulse *pulse)
{
    return pulse->code < 0 || pulse->scoid == own_scoid;
}
/* Returns whether the sender of this message, still to be replied to, may control the caller: it
 * started the caller, or it has the ability. */
bool kymo_may_control(const struct _msg_info *from, uint32_t ability);
/* Returns the name of a thread state, e.g. "RECEIVE"; "?" if there is no such state. */
const char *kymo_state_name(int state);

#endif
