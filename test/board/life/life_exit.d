/* Ends by itself. */
sched:::on-cpu { trace(arg0); exit(3); }
END { @ = count(); }
