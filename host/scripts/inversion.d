#!/usr/bin/env -S kymo dtrace -s
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Priority inversions that inheritance cured: a thread's priority is raised because one of higher
 * priority waits for it, for a mutex or for its reply. Who was raised by whom, from what priority
 * to what and how often; then the longest time that each stayed raised: so long the one that waited
 * was held up.
 *
 *   kymo dtrace -s inversion.d [SECONDS]      default 1
 */
#pragma D option quiet
#pragma D option defaultargs

inline int SECONDS = $1 ? $1 : 1;

sched:::change-pri
/args[0] != $pid && args[2] > args[3]/
{
        @raised[execname, args[0], args[1], args[3], args[2]] = count();
        raised[args[0], args[1]] = timestamp;
}

sched:::change-pri
/args[2] < args[3] && raised[args[0], args[1]]/
{
        @us[args[0], args[1], args[3]] =
            max((timestamp - raised[args[0], args[1]]) / 1000);
        raised[args[0], args[1]] = 0;
}

tick-1s
/++seconds >= SECONDS/
{
        exit(0);
}

END
{
        printf("%-14s %5s %3s %6s %6s %8s\n", "BY", "PID", "TID", "FROM", "TO", "TIMES");
        printa("%-14s %5d %3d %6d %6d %@8d\n", @raised);
        printf("\n%5s %3s %8s %12s\n", "PID", "TID", "PRIORITY", "LONGEST (us)");
        printa("%5d %3d %8d %@12d\n", @us);
}
