sdt:::comm_snd_pulse /arg0 == 123456/ {}
