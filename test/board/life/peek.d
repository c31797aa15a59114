/* Some bytes of the kernel's text; the program puts the address in. */
#pragma D option bufsize=16400
BEGIN { tracemem((void *)0x12345678, 16384); }
