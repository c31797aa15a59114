#pragma D option destructive
#pragma D option bufsize=16k
syscall::nop:entry /arg0 == 0x53/ { panic(); }
