#!/usr/bin/env -S kymo dtrace -s
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How often and how long threads wait for mutexes and semaphores.
 *
 * Lock contention: how often and how long threads waited for mutexes and semaphores, by program and
 * by lock, and how often a CPU looked at the kernel's lock before it had it. A lock that is free
 * when it is asked for never enters the kernel and does not count. A semaphore that is no lock but
 * says that there is work counts too: its waits are long.
 *
 *   kymo dtrace -s locks.d [SECONDS]          default 1
 */
#pragma D option quiet
#pragma D option defaultargs

inline int SECONDS = $1 ? $1 : 1;

lockstat:::block
/pid != $pid/
{
        blocked[args[0], args[1]] = timestamp;
        @times[execname, "mutex"] = count();
}

lockstat::mutex:acquire
/blocked[args[0], args[1]]/
{
        @us[pidname(args[0]), "mutex", args[2]] =
            quantize((timestamp - blocked[args[0], args[1]]) / 1000);
        blocked[args[0], args[1]] = 0;
}

sched:::sleep
/pid != $pid && args[3] == STATE_SEM/
{
        blocked[args[0], args[1]] = timestamp;
        @times[execname, "semaphore"] = count();
}

sched:::wakeup
/args[3] == STATE_SEM && blocked[arg0, arg1]/
{
        @us[args[1]->pr_fname, "semaphore", args[0]->pr_wchan] =
            quantize((timestamp - blocked[arg0, arg1]) / 1000);
        blocked[arg0, arg1] = 0;
}

lockstat:::spin
{
        @spins = quantize(args[0]);
}

tick-1s
/++seconds >= SECONDS/
{
        exit(0);
}

END
{
        printf("%-20s %-10s %8s\n", "PROGRAM", "LOCK", "WAITED");
        printa("%-20s %-10s %@8d\n", @times);
        printa("\n%s, %s %#x: us waited%@d", @us);
        printa("\nlooks at the kernel's lock%@d", @spins);
}
