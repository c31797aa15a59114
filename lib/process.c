/* SPDX-License-Identifier: BSD-2-Clause */
/* POSIX calls about processes. There are no signal handlers: a signal ends its target process. */
#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "lib/libc/syscalls.h"
#include "lib/startup.h"

int kymo_getpid(void)
{
    return kymo_startup->pid;
}

int kymo_kill(int pid, int signo)
{
    return SignalKill(0, pid, 0, signo, 0, 0);
}
