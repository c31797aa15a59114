/* SPDX-License-Identifier: BSD-2-Clause */
/* At work before the first process is: test/board/dlog.py claims what it records. */
#pragma D option quiet

BEGIN { printf("armed\n%d\n", `kernel_process->pid); }
proc:::create { printf("%d %s\n", args[0]->pr_pid, args[2]); }
syscall::trace_event:entry /execname == "evstorm" && arg2 == 77/ { logstop(); }
fbt::object_process_gone:entry { printf("gone:%s\n", stringof(args[0]->name)); }
sched:::on-cpu { @[execname] = count(); }
