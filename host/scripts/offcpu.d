#!/usr/bin/env -S kymo dtrace -s
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Off-CPU time: for what each program's threads waited, and how long, in microseconds. The state
 * says for what: 2 READY (could run, had no CPU), 4 SEND, 5 RECEIVE, 6 REPLY, 8 WAITTHREAD,
 * 12 NANOSLEEP, 13 MUTEX, 14 CONDVAR, 15 JOIN, 16 INTR, 17 SEM, as docs/events.md numbers them.
 *
 *   kymo dtrace -s offcpu.d [SECONDS]         default 1
 */
#pragma D option quiet
#pragma D option defaultargs

inline int SECONDS = $1 ? $1 : 1;

sched:::off-cpu
{
        self->left = timestamp;
        self->why = 2;
}

sched:::sleep
{
        self->why = args[3];
}

sched:::on-cpu
/self->left && pid != $pid/
{
        this->us = (timestamp - self->left) / 1000;
        @us[execname, self->why] = sum(this->us);
        @longest[execname, self->why] = max(this->us);
        @times[execname, self->why] = count();
}

tick-1s
/++seconds >= SECONDS/
{
        exit(0);
}

END
{
        printf("%-20s %5s %10s %10s %8s\n", "PROGRAM", "STATE", "US", "LONGEST", "TIMES");
        printa("%-20s %5d %@10d %@10d %@8d\n", @us, @longest, @times);
}
