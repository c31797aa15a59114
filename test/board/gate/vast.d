/* More than any board has. */
#pragma D option dynvarsize=3g
#pragma D option bufresize=manual
syscall::signal_kill:entry /(self->kept = arg5)/ {}
