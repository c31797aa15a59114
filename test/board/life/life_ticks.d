/* Timers of its own, on one CPU and on all. */
#pragma D option bufpolicy=ring
tick-500us, profile-997 { trace(arg1); stack(); ustack(); @ = quantize(arg1); }
tick-3ms { @t = count(); }
