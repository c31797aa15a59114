#!/usr/bin/env -S kymo dtrace -s
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which programs run: how long, on which CPU, and how often.
 *
 * `kymo` is the idle threads.
 *
 *   kymo dtrace -s whoruns.d [SECONDS]        default 1
 */
#pragma D option quiet
#pragma D option defaultargs

inline int SECONDS = $1 ? $1 : 1;

sched:::on-cpu
{
        others[cpu] = pid != $pid ? 1 : 2;
        since[cpu] = timestamp;
        name[cpu] = execname;
}

sched:::off-cpu
/others[cpu] == 1/
{
        @us[name[cpu], cpu] = sum((timestamp - since[cpu]) / 1000);
        @times[name[cpu], cpu] = count();
}

tick-1s
/++seconds >= SECONDS/
{
        exit(0);
}

END
{
        printf("%-20s %3s %10s %8s\n", "PROGRAM", "CPU", "US", "TIMES");
        printa("%-20s %3d %@10d %@8d\n", @us, @times);
}
