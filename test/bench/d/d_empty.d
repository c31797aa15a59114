sdt:::comm_snd_pulse {}
