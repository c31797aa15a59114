#!/usr/bin/env -S kymo dtrace -s
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts: how many of each line on each CPU, and two histograms of nanoseconds: how long their
 * first part in the kernel took, and how long from an interrupt until the next thread runs.
 *
 *   kymo dtrace -s interrupts.d [SECONDS]     default 1
 */
#pragma D option quiet
#pragma D option defaultargs

inline int SECONDS = $1 ? $1 : 1;

intr:::entry
{
        came[cpu] = timestamp;
        line[cpu] = args[0];
        @count[args[0], cpu] = count();
}

intr:::return
/came[cpu]/
{
        @first[args[0]] = quantize(timestamp - came[cpu]);
}

sched:::on-cpu
/came[cpu]/
{
        @next[line[cpu]] = quantize(timestamp - came[cpu]);
        came[cpu] = 0;
}

tick-1s
/++seconds >= SECONDS/
{
        exit(0);
}

END
{
        printf("%5s %3s %8s\n", "LINE", "CPU", "COUNT");
        printa("%5d %3d %@8d\n", @count);
        printa("\nline %d: ns in the kernel%@d", @first);
        printa("\nline %d: ns until the next thread runs%@d", @next);
}
