#!/usr/bin/env -S kymo dtrace -s
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts by line, and how long until their threads run.
 *
 * How many came of each line on each CPU, and two histograms of nanoseconds: how long from an
 * interrupt until the threads that it woke were ready, and until the next thread ran.
 *
 *   kymo dtrace -s interrupts.d [SECONDS]     default 1
 */
#pragma D option quiet
#pragma D option defaultargs

inline int SECONDS = $1 ? $1 : 1;

intr:::entry
{
        came[cpu] = timestamp;
        entered[args[0], cpu] = timestamp;
        line[cpu] = args[0];
        @count[args[0], cpu] = count();
}

intr:::return
/entered[args[0], cpu]/
{
        @ready[args[0]] = quantize(timestamp - entered[args[0], cpu]);
        entered[args[0], cpu] = 0;
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
        printa("\nline %d: ns until what it woke was ready%@d", @ready);
        printa("\nline %d: ns until the next thread runs%@d", @next);
}
