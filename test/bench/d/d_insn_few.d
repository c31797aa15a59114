sdt:::comm_snd_pulse /(arg0 ^ 1 ^ 2 ^ 3 ^ 4) == 123456/ {}
