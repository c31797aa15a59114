/* A process's frames are counted, more than the first. */
syscall::nop:entry /ustackdepth > 2 && ustackdepth < 40/ { trace(ustackdepth); }
