/* With log=1: its record and its entry fit into a trace buffer of any size. */
#pragma D option aggsize=1k
syscall::nop:entry { trace(arg0); @ = count(); }
