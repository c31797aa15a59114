syscall::nop:entry { trace(copyinstr(0x12345678)); }
