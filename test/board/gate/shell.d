/* What can be told from the capture alone, by test/board/gate.py. */
sdt:::comm_snd_message /arg1 == 2/ {}
sdt:::thread_running, sdt:::thread_ready /arg0 > 2/ {}
syscall::msg_sendv:entry {}
sdt:::int_* {}
