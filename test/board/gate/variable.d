/* Each call makes a variable, its end lets it go. */
#pragma D option dynvarsize=1024
syscall::signal_kill:entry /(self->kept = arg5) && self->kept == arg5/ {}
syscall::signal_kill:return /(self->kept = 0) || 1/ {}
