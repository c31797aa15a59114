sdt:::comm_snd_pulse { @[execname] = count(); }
