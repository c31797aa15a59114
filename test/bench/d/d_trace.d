sdt:::comm_snd_pulse { trace(arg0); }
