#!/usr/bin/env -S kymo dtrace -s
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lock contention: how often and how long threads waited for mutexes, by program and by mutex, and
 * how often a CPU looked at the kernel's lock before it had it. A mutex that is free when it is
 * asked for never enters the kernel and does not count.
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
        @times[execname] = count();
}

lockstat::mutex:acquire
/blocked[args[0], args[1]]/
{
        @us[execname, args[2]] =
            quantize((timestamp - blocked[args[0], args[1]]) / 1000);
        blocked[args[0], args[1]] = 0;
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
        printf("%-20s %8s\n", "PROGRAM", "WAITED");
        printa("%-20s %@8d\n", @times);
        printa("\n%s, mutex %#x: us waited%@d", @us);
        printa("\nlooks at the kernel's lock%@d", @spins);
}
