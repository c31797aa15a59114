/* ERROR's own clause faults: that is counted, and the end of it. */
syscall::nop:entry { trace(1 / (arg0 - arg0)); }
ERROR { trace(*(int *)0); }
ERROR { @errors = count(); }
