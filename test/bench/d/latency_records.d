/* A full buffer to take. */
#pragma D option bufsize=256k
#pragma D option aggsize=1k
syscall:::entry { trace(arg0); trace(timestamp); }
