sdt:::comm_snd_pulse { self->t = arg0; this->x = self->t; }
