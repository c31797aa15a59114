/* With log=1: an entry of quantize() has more bytes than a trace buffer of 64 slots can hold. */
#pragma D option aggsize=4k
syscall::nop:entry { @ = quantize(arg0); }
