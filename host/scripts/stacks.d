#!/usr/bin/env -S kymo dtrace -s
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where programs compute: samples of the stacks on every CPU.
 *
 * A sample of every CPU 199 times a second, by program and by stack of
 * functions, the innermost first. Idle CPUs don't count. Names are looked up at the end: a program
 * that has ended by then has only addresses.
 *
 *   kymo dtrace -s stacks.d [SECONDS]         default 1
 */
#pragma D option quiet
#pragma D option defaultargs

inline int SECONDS = $1 ? $1 : 1;

profile-199
/arg1 && pid != $pid/
{
        @[execname, ustack(5)] = count();
}

tick-1s
/++seconds >= SECONDS/
{
        exit(0);
}

END
{
        trunc(@, 10);
        printa("%s%k%@8d\n\n", @);
}
