/* Records of each kernel call, until a buffer of 64 KB is full. */
#pragma D option bufsize=64k
#pragma D option aggsize=64
syscall:::entry { trace(timestamp); trace(arg0); }
