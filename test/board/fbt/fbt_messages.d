/* t_fbt.c: each message of its own, while no event of a message is on. */
fbt::ker_msg_sendv:entry /execname == "t_fbt"/ { @sends = count(); }
fbt::ker_msg_receivev:entry /execname == "t_fbt"/ { @receives = count(); }
fbt::ker_msg_replyv:entry /execname == "t_fbt"/ { @replies = count(); }
fbt::ker_msg_sendv:return /execname == "t_fbt"/ { @sent = count(); }
fbt::ker_msg_receivev:return /execname == "t_fbt"/ { @received = count(); }
fbt::ker_msg_replyv:return /execname == "t_fbt"/ { @replied = count(); }
