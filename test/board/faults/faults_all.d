/* Every probe of the kernel has five clauses that fault, and before and behind them one that counts.
   0x12345678 becomes the address of another process's secret, which only where that one runs can be
   read. */
#pragma D option aggsize=40k
sdt:::, sched:::, proc:::, msg:::, intr:::, timer:::, lockstat:::, sysinfo:::, syscall::: { @fired = count(); }
sdt:::, sched:::, proc:::, msg:::, intr:::, timer:::, lockstat:::, sysinfo:::, syscall::: { trace(*(int *)0); }
sdt:::, sched:::, proc:::, msg:::, intr:::, timer:::, lockstat:::, sysinfo:::, syscall::: { trace(1 / (arg0 - arg0)); }
sdt:::, sched:::, proc:::, msg:::, intr:::, timer:::, lockstat:::, sysinfo:::, syscall::: { @theirs[*(uint64_t *)0x12345678] = count(); }
sdt:::, sched:::, proc:::, msg:::, intr:::, timer:::, lockstat:::, sysinfo:::, syscall::: / *(char *)-1 / { trace(1); }
sdt:::, sched:::, proc:::, msg:::, intr:::, timer:::, lockstat:::, sysinfo:::, syscall::: { this->x = strlen(copyinstr(12)); trace(this->x); }
sdt:::, sched:::, proc:::, msg:::, intr:::, timer:::, lockstat:::, sysinfo:::, syscall::: { @behind = count(); }
ERROR { @errors = count(); }
