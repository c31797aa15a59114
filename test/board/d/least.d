/* As little as a consumer can have: t_d.c weighs it. */
#pragma D option bufsize=64
#pragma D option aggsize=64
#pragma D option specsize=64
#pragma D option dynvarsize=64
syscall::nop:entry { trace(arg0); }
