#pragma D option bufsize=16k
/* Loads that must not be: each is a fault of the clause, never of the kernel. */
syscall::nop:entry { trace(*(int *)0); }
syscall::nop:entry { trace(*(int *)-1); }
syscall::nop:entry { trace(*(int *)0x40000000); }
syscall::nop:entry { trace(*(int *)0x09000000); }
syscall::nop:entry { trace(*(int *)0xe000ed00); }
syscall::nop:entry { trace(copyinstr(0)); }
syscall::nop:entry { trace(copyinstr(0xfffffffffffffff0)); }
syscall::nop:entry { trace(1 / (arg0 - arg0)); }
syscall::nop:entry { stack(); }
syscall::nop:entry { ustack(); }
syscall::nop:entry { trace(strlen(copyinstr(arg1))); }
