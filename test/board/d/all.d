/* Every probe there is. */
sdt:::, sched:::, proc:::, msg:::, intr:::, timer:::, lockstat:::, sysinfo:::, syscall::: { @ = count(); }
