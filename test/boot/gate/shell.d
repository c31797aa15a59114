/* What can be told from the capture alone, by test/boot/gate.py. */
sdt:::comm_snd_message /arg1 == 2/ {}
sdt:::thread_running, sdt:::thread_ready /arg0 > 2/ {}
syscall::msg_sendv:entry {}
sdt:::int_* {}
