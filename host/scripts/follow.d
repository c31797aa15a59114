#!/usr/bin/env -S kymo dtrace -s
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One call of a function: what it calls in program and kernel.
 *
 * From its first instruction to its last, every function that its thread enters and leaves. U: in the program; K: in a
 * kernel call; -: in an interrupt, or on the way into a call. What the thread does for the probes
 * themselves is left out: each of the program's is an exception. Figure 2 of the DTrace paper
 * (docs/guide/follow.md).
 *
 *   kymo dtrace -c PROGRAM -s follow.d FUNCTION
 *   kymo dtrace -p PROGRAM -s follow.d FUNCTION
 */
#pragma D option flowindent
#pragma D option bufsize=1m

inline int TRAP = probefunc == "a64_fault_from_user" || probefunc == "armv7m_thread_fault" ||
    probefunc == "armv7m_thread_hardfault" || probefunc == "armv7m_boot" ||
    probefunc == "x86_trap_from_user" || probefunc == "kernel_work_pending";

pid$target::$1:entry
/!followed/
{
        self->trace = 1;
        followed = 1;
}

pid$target:::entry, pid$target:::return
/self->trace/
{
        printf("U");
}

fbt:::
/self->trace && !TRAP/
{
        printf("%s", curlwpsinfo->pr_syscall ? "K" : "-");
}

pid$target::$1:return
/self->trace/
{
        self->trace = 0;
        exit(0);
}
