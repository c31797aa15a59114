#!/usr/bin/env -S kymo dtrace -s
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Priority inversions: a thread waits for one of lower priority.
 *
 * Cured by inheritance: the lower thread's priority is raised because the higher one waits for it,
 * for a mutex or for its reply. Which thread was raised by which, from what priority to what and how often;
 * then the longest time that each stayed raised: so long the one that waited was held up.
 *
 * Not cured: nothing raises the lower thread if the wait is for a semaphore or a condition
 * variable, or for the reply of a server whose channel has _NTO_CHF_FIXED_PRIORITY. Which thread waited for
 * whom, in which state and how often; the longest wait; and HELD OFF, the longest time of such a
 * wait in which the lower thread could have run and others had its CPU. A wait without that is no
 * harm: a thread that waits for work waits for no thread.
 *
 *   kymo dtrace -s inversion.d [SECONDS]      default 1
 */
#pragma D option quiet
#pragma D option defaultargs

inline int SECONDS = $1 ? $1 : 1;

sched:::change-pri
/pid != $pid && arg0 != $pid && args[2] > args[3]/
{
        @raised[execname, args[1]->pr_fname, args[0]->pr_lwpid, args[3], args[2]] = count();
        raised[arg0, arg1] = timestamp;
}

sched:::change-pri
/args[2] < args[3] && raised[arg0, arg1]/
{
        @us[args[1]->pr_fname, args[0]->pr_lwpid, args[3]] =
            max((timestamp - raised[arg0, arg1]) / 1000);
        raised[arg0, arg1] = 0;
}

/* Since when it waits for what inheritance does not see. */
sched:::sleep
/pid != $pid && (args[3] == STATE_SEM || args[3] == STATE_CONDVAR || args[3] == STATE_REPLY ||
                 args[3] == STATE_SEND)/
{
        waits[args[0], args[1]] = timestamp;
}

/* The newest time in which a thread could have run and did not. */
sched:::enqueue
{
        ready[arg0, arg1] = timestamp;
}

sched:::on-cpu
/ready[pid, tid]/
{
        self->from = ready[pid, tid];
        self->to = timestamp;
        ready[pid, tid] = 0;
}

sched:::wakeup
/waits[arg0, arg1] && args[2] > curlwpsinfo->pr_pri && self->to > waits[arg0, arg1]/
{
        this->from = self->from > waits[arg0, arg1] ? self->from : waits[arg0, arg1];
        this->lower = curlwpsinfo->pr_pri;
        @times[args[1]->pr_fname, args[2], args[3], execname, this->lower] = count();
        @longest[args[1]->pr_fname, args[2], args[3], execname, this->lower] =
            max((timestamp - waits[arg0, arg1]) / 1000);
        @held[args[1]->pr_fname, args[2], args[3], execname, this->lower] =
            max((self->to - this->from) / 1000);
}

sched:::wakeup
/waits[arg0, arg1]/
{
        waits[arg0, arg1] = 0;
}

tick-1s
/++seconds >= SECONDS/
{
        exit(0);
}

END
{
        printf("cured by inheritance\n");
        printf("%-14s %-14s %3s %6s %6s %8s\n", "BY", "RAISED", "TID", "FROM", "TO", "TIMES");
        printa("%-14s %-14s %3d %6d %6d %@8d\n", @raised);
        printf("\n%-14s %3s %8s %12s\n", "RAISED", "TID", "PRIORITY", "LONGEST (us)");
        printa("%-14s %3d %8d %@12d\n", @us);
        printf("\nnot cured\n%-14s %3s %-14s %-14s %3s %8s %12s %13s\n", "WAITED", "PRI", "STATE",
            "FOR", "PRI", "TIMES", "LONGEST (us)", "HELD OFF (us)");
        printa("%-14s %3d %-14s %-14s %3d %@8d %@12d %@13d\n", @times, @longest, @held);
}
