#!/usr/bin/env -S kymo dtrace -s
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For what each program's threads wait, and how long.
 *
 * Off-CPU time in microseconds. The state
 * says for what: STATE_READY (could run, had no CPU), STATE_REPLY, STATE_NANOSLEEP, STATE_SEM … as
 * docs/reference/events.md has them.
 *
 *   kymo dtrace -s offcpu.d [SECONDS]         default 1
 */
#pragma D option quiet
#pragma D option defaultargs

inline int SECONDS = $1 ? $1 : 1;

sched:::sleep
{
        self->why = args[3];
}

sched:::preempt
{
        self->why = STATE_READY;
}

sched:::off-cpu
/self->why/
{
        self->left = timestamp;
}

sched:::on-cpu
/self->left && pid != $pid/
{
        this->us = (timestamp - self->left) / 1000;
        @us[execname, self->why] = sum(this->us);
        @longest[execname, self->why] = max(this->us);
        @times[execname, self->why] = count();
}

sched:::on-cpu
{
        self->left = 0;
        self->why = 0;
}

tick-1s
/++seconds >= SECONDS/
{
        exit(0);
}

END
{
        printf("%-20s %-16s %10s %10s %8s\n", "PROGRAM", "STATE", "US", "LONGEST", "TIMES");
        printa("%-20s %-16s %@10d %@10d %@8d\n", @us, @longest, @times);
}
