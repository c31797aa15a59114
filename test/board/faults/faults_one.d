/* Reads one word, as the kernel and as the program; the address is put in. */
syscall::nop:entry { trace(*(uint32_t *)0x12345678); }
