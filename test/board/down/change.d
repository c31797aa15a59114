/* Ends who makes this call. */
#pragma D option destructive
#pragma D option bufsize=16k
syscall::nop:entry /arg0 == 0x53/ { raise(9); }
syscall::nop:entry /arg0 == 0x51/ { copyout("mine", arg1, 5); }
