/* Every third of t_gate's calls, by its last argument; of their ends those with an error. */
syscall::signal_kill:entry /execname == "t_gate" && arg5 % 3 == 1/ {}
syscall::signal_kill:return /execname == "t_gate" && errno == 3/ {}
