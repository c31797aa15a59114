#pragma D option cpu=1
syscall::signal_kill: {}
