/* Beside a gate: each of t_gated's calls, entry and return, is counted, on the same sites. */
#pragma D option cleanrate=1000hz
syscall::signal_kill: /execname == "t_gated"/ { @ = count(); }
syscall::signal_kill:entry /execname == "t_gated"/ { self->s = speculation(); }
syscall::signal_kill:entry /self->s/ { speculate(self->s); trace(arg5); }
syscall::signal_kill:return /self->s/ { discard(self->s); self->s = 0; }
