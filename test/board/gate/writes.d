#pragma D option destructive
syscall::signal_kill:entry /(copyout(alloca(4), arg1, 4), 1)/ {}
