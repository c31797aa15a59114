/* A word of the kernel's memory; the program puts the address in. */
#pragma D option bufsize=64
BEGIN { trace(*(uint64_t *)0x12345678); }
