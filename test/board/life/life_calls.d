/* Counts and records what everybody does all the time. */
syscall:::entry { @[probefunc] = count(); trace(arg0); }
sched:::on-cpu { @on[execname] = count(); }
END { trace(8); }
