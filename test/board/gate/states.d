/* Its own way into one state, and the messages to one process, whatever else happens. */
sdt:::thread_nanosleep /arg0 == pid && execname == "t_gate"/ {}
sdt:::comm_snd_pulse {}
