/* A consumer that is well. */
syscall::nop:entry { @ = count(); }
