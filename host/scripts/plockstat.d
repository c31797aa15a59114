#!/usr/bin/env -S kymo dtrace -s
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mutexes that another thread owned: who waited for how long.
 *
 * Mutexes of programs that another thread owned when they were asked for: how often and how long
 * each caller waited, and how long a mutex was held that others waited for. A mutex that is free
 * when it is asked for never enters the kernel and does not count.
 *
 *   kymo dtrace -s plockstat.d [SECONDS]      default 1
 */
#pragma D option quiet
#pragma D option defaultargs

inline int SECONDS = $1 ? $1 : 1;

plockstat:::mutex-block
/pid != $pid/
{
        self->lock = args[0];
        self->asked = timestamp;
}

plockstat:::mutex-blocked
/self->asked && args[0]/
{
        @waits[execname, self->lock, ustack(5)] = count();
        @us[execname, self->lock] = quantize((timestamp - self->asked) / 1000);
        got[pid, self->lock] = timestamp;
        self->asked = 0;
}

plockstat:::mutex-release
/got[pid, args[0]]/
{
        @held[execname, args[0]] = quantize((timestamp - got[pid, args[0]]) / 1000);
        got[pid, args[0]] = 0;
}

tick-1s
/++seconds >= SECONDS/
{
        exit(0);
}

END
{
        printf("Mutex block\n");
        printa("\n%s, mutex %#x, %@d times by%k", @waits);
        printa("\n%s, mutex %#x: us waited%@d", @us);
        printf("\nMutex hold, by threads that had waited\n");
        printa("\n%s, mutex %#x: us held%@d", @held);
}
