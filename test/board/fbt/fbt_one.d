/* What t_fbt.c makes happen. 1: the thread, and the first argument of the call. */
fbt::ker_channel_create:entry /execname == "t_fbt"/ { trace(arg0 == (uintptr_t)curthread); trace(*(int *)arg1); stack(1); }
fbt::ker_channel_create:return /execname == "t_fbt"/ { trace(arg0 > 0); trace((int)arg1); stack(1); }
