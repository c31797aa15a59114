/* Every clause faults, ERROR's too. */
syscall:::, sched:::, msg:::, timer::: { trace(*(int *)0); }
syscall:::, sched:::, msg:::, timer::: { trace(1 / (arg0 - arg0)); }
ERROR { trace(*(int *)-1); }
