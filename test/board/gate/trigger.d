/* An event that passes and is the trigger; one whose predicate fails passes only. */
syscall::signal_kill:entry /arg5 == 50/ { logstop(); }
syscall::signal_kill:entry /arg5 == 48 && *(int *)0/ { logstop(); }
/* Of tracelogger's runs: evstorm's 400th event. */
syscall::trace_event:entry /execname == "evstorm" && arg2 == 400/ { logstop(); logstop(); }
syscall::trace_event:entry /execname == "evstorm"/ {}
/* t_daemon ends its run: _NTO_TRACE_STOP. */
syscall::trace_event:entry /execname == "t_daemon" && arg0 == 0x1000000b/ { logstop(); }
syscall::trace_event:entry /execname == "t_daemon"/ {}
