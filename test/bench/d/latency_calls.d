syscall:::entry { self->t = timestamp; }
syscall:::return /self->t/ { @[execname, probefunc] = quantize(timestamp - self->t); self->t = 0; }
