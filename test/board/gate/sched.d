sched:::on-cpu /pid == 1/ {}
