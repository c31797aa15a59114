/* Dynamic variables, speculations and strings. */
#pragma D option specsize=1k
#pragma D option nspec=2
syscall:::entry { self->s = speculation(); self->n++; names[execname, pid] = timestamp; }
syscall:::entry /self->s/ { speculate(self->s); trace(probefunc); }
syscall:::return /self->s && self->n % 3/ { commit(self->s); self->s = 0; }
syscall:::return /self->s/ { discard(self->s); self->s = 0; }
