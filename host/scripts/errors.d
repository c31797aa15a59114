#!/usr/bin/env -S kymo dtrace -s
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel calls that fail, by program, call and errno.
 *
 * At the end how many calls there were in all. Those of this script's own consumer don't count.
 *
 *   kymo dtrace -s errors.d [SECONDS]         default 1
 */
#pragma D option quiet
#pragma D option defaultargs

inline int SECONDS = $1 ? $1 : 1;

syscall:::return
/pid != $pid/
{
        @calls = count();
}

syscall:::return
/pid != $pid && args[0] == -1 && errno/
{
        @[execname, probefunc, errno] = count();
}

tick-1s
/++seconds >= SECONDS/
{
        exit(0);
}

END
{
        printf("%-20s %-20s %-12s %8s\n", "PROGRAM", "CALL", "ERRNO", "COUNT");
        printa("%-20s %-20s %-12s %@8d\n", @);
        printa("of %@d calls\n", @calls);
}
