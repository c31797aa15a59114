/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals on Kymo: all end the process, except those that it receives as pulses
 * (kymo_signal_pulse()) and SIGCONT, which starts a held process (KYMO_SPAWN_HOLD) and has no
 * effect on others; 0 only checks. Replaces the C library's header, whose handlers do not exist
 * here; struct sigevent is the kernel's. Return 0, or -1 and errno.
 */
#ifndef LIB_SIGNAL_H
#define LIB_SIGNAL_H

#include <sys/types.h>

#include "abi/sys/neutrino.h" /* struct sigevent, union sigval */

#define SIGHUP 1
#define SIGINT 2
#define SIGILL 4
#define SIGABRT 6
#define SIGFPE 8
#define SIGKILL 9
#define SIGBUS 10
#define SIGSEGV 11
#define SIGALRM 14
#define SIGTERM 15
#define SIGCONT 25

typedef int sig_atomic_t;

/* Allowed for the caller and its children; with ABILITY_KILL for any process, else EPERM. pid 0:
 * the caller. signo: 0 to 56, else EINVAL. ESRCH: no such process. */
int kill(pid_t pid, int signo);
int raise(int signo); /* kill() of the caller */

#endif
