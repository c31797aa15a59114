syscall::nop:entry { trace(*(uint32_t *)copyin(0x12345678, 4)); }
