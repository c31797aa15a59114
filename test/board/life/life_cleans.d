/* One dynamic variable a message, given back at once: without cleaning there is soon none. */
#pragma D option dynvarsize=4k
#pragma D option cleanrate=101hz
syscall::msg_sendv:entry { self->x = 1; self->x = 0; }
