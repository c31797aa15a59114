#!/usr/bin/env -S kymo dtrace -s
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long each pass of a control loop takes, and the outliers.
 *
 * A pass is each call of a function of a program, and
 * which passes are outliers: a line for each that took more than four times the mean of those
 * before it, with how much of it the thread had no CPU, and which program had it then.
 *
 *   kymo dtrace -c PROGRAM -s slowloop.d FUNCTION           until the program ends
 *   kymo dtrace -p PROGRAM -s slowloop.d FUNCTION SECONDS   of one that runs
 */
#pragma D option quiet
#pragma D option defaultargs

inline int SECONDS = $2;

int64_t total;

BEGIN
{
        passes = 0;
        printf("%8s %10s %10s  %s\n", "PASS", "US", "OFF CPU", "WHO HAD IT");
}

pid$target::$1:entry
{
        self->begun = timestamp;
        self->away = 0;
        self->who = "-";
}

sched:::off-cpu
/self->begun/
{
        self->left = timestamp;
        self->who = args[1]->pr_fname;
}

sched:::on-cpu
/self->left/
{
        self->away += timestamp - self->left;
        self->left = 0;
}

pid$target::$1:return
/self->begun/
{
        this->took = timestamp - self->begun;
        this->mean = passes ? total / passes : this->took;
        passes++;
        total += this->took;
        @us = quantize(this->took / 1000);
        @away = quantize(self->away / 1000);
        self->begun = 0;
}

pid$target::$1:return
/passes > 8 && this->took > 4 * this->mean/
{
        printf("%8d %10d %10d  %s\n", passes, this->took / 1000, self->away / 1000, self->who);
}

tick-1s
/SECONDS && ++seconds >= SECONDS/
{
        exit(0);
}

END
{
        printa("\nus of a pass%@d", @us);
        printa("\nof them, without a CPU%@d", @away);
        printf("\nmean of %d passes: %d us\n", passes, passes ? total / passes / 1000 : 0);
}
