syscall::msg_send_pulse:entry { self->t = timestamp; }
syscall::msg_send_pulse:return /self->t/ { @ = quantize(timestamp - self->t); self->t = 0; }
