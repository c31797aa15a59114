/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends the tracelogger a signal when it enters its n-th kernel call, or, if n is 10000 more, when
 * it returns from it. t_slain sets n by a NOP with arguments: 0x510, n and the signal; n 0: never.
 * Counts its calls, the buffers that it gives back (0x20001001), each of which was in the sink by
 * then, and its tries to take one (0x20001000).
 */
#pragma D option destructive

int n, calls, signal;

syscall::nop:entry /arg0 == 0x510/ { n = arg1; signal = arg2; calls = 0; }
syscall:::entry /execname == "tracelogger"/ { @ = count(); calls++; }
syscall::trace_event:entry /execname == "tracelogger" && (uint32_t)arg0 == 0x20001001/
{
	@given = count();
}
syscall::trace_event:entry /execname == "tracelogger" && (uint32_t)arg0 == 0x20001000/
{
	@taken = count();
}
syscall:::entry /execname == "tracelogger" && calls == n/ { raise(signal); }
syscall:::return /execname == "tracelogger" && calls == n - 10000/ { raise(signal); }
