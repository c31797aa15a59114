/* A word of the process's memory; the program puts the address in. */
#pragma D option bufsize=64
BEGIN { trace(*(uint64_t *)copyin(0x12345678, 8)); }
