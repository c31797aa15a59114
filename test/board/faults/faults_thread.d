/* An address of the kernel's. */
#pragma D option bufsize=64
BEGIN { trace((uint64_t)curthread); }
