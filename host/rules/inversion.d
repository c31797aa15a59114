/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * No thread waits longer than $1 ns for one of lower priority. Which waits count:
 *
 *   for a mutex      the one who releases it has a lower priority, before it was raised: the
 *                    priority with which it last woke up
 *   for a semaphore, the one who ends the wait has a lower priority, and others had the CPU
 *   for a reply      meanwhile though it could have run: nothing cures that
 *
 * A wait counts when it ends. Priorities are in wide events only: tracelogger -w.
 *
 *   kymo assert --inversion 1ms FILE
 */
uint64_t waits[pid_t, id_t], ready[pid_t, id_t], held[pid_t, id_t];
int woke[pid_t, id_t];

sched:::sleep
/args[3] == STATE_MUTEX || args[3] == STATE_SEM || args[3] == STATE_REPLY || args[3] == STATE_SEND/
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
        held[pid, tid] = timestamp;
        ready[pid, tid] = 0;
}

sched:::wakeup
/waits[arg0, arg1] && pid/
{
        this->ns = timestamp - waits[arg0, arg1];
        this->mutex = args[3] == STATE_MUTEX;
        this->priority = this->mutex && woke[pid, tid] ? woke[pid, tid] : curlwpsinfo->pr_pri;
}

sched:::wakeup
/waits[arg0, arg1] && pid && this->ns > $1 && this->priority < args[2] &&
 (this->mutex || held[pid, tid] > waits[arg0, arg1])/
{
        printf("%s %d.%d of priority %d waited %d.%06d ms %s, for this thread of priority %d",
            args[1]->pr_fname, arg0, arg1, args[2], this->ns / 1000000, this->ns % 1000000,
            this->mutex ? "for a mutex" : args[3] == STATE_SEM ? "for a semaphore" : "for a reply",
            this->priority);
}

sched:::wakeup
{
        @checked = count();
        waits[arg0, arg1] = 0;
        woke[arg0, arg1] = args[2];
}
