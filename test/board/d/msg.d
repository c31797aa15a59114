/* What t_d.c makes happen, counted and recorded. */
BEGIN { trace(7); }
msg:::send /execname == "t_d"/ { trace(arg1); }
syscall::msg_sendv:entry /execname == "t_d"/ { @calls = count(); }
syscall::msg_sendv:return /execname == "t_d"/ { @calls = count(); }
sched:::on-cpu { @on[execname] = count(); }
tick-10 { @ticks = count(); }
END { trace(8); }
