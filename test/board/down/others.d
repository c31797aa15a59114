/* Not a probe of one process. */
#pragma D option bufsize=16k
sched:::on-cpu { @ = count(); }
