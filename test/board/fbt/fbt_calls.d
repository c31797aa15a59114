/* t_fbt.c: the functions against the calls. */
syscall::msg_sendv:entry /execname == "t_fbt"/ { @sends = count(); }
syscall::msg_receivev:entry /execname == "t_fbt"/ { @receives = count(); }
syscall::msg_replyv:entry /execname == "t_fbt"/ { @replies = count(); }
fbt::ker_msg_sendv:entry /execname == "t_fbt"/ { @sent = count(); }
fbt::ker_msg_receivev:entry /execname == "t_fbt"/ { @received = count(); }
fbt::ker_msg_replyv:entry /execname == "t_fbt"/ { @replied = count(); }
