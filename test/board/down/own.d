/* t_down counts who makes these calls: 0x51 itself, 0x52 its child, 0x53 a stranger. */
#pragma D option bufsize=16k
#pragma D option dynvarsize=4k
syscall::nop:entry /arg0 == 0x51/ { @itself = count(); }
syscall::nop:entry /arg0 == 0x52/ { @child = count(); }
syscall::nop:entry /arg0 == 0x53/ { @stranger = count(); }
/* Its own memory can be read, the kernel's can't. */
syscall::nop:entry /arg0 == 0x51 && copyinstr(arg1) == "text"/ { @text = count(); }
syscall::nop:entry /arg0 == 0x51/ { trace(*(int *)curthread); }
/* A tick comes whoever runs; whose name it is is a secret, unless it is one of them. */
tick-100 { @ticks = count(); }
tick-100 /execname == "t_down"/ { @known = count(); }
