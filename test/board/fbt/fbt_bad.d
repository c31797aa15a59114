/* Each function's clause faults: D stays what it is. */
fbt:::entry { trace(*(int *)0); }
fbt:::return { trace(*(int *)-1); }
