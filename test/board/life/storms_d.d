/* Of this program only: what others do is not counted. */
syscall::nop:entry /execname == "t_storms"/ { @ = count(); }
