/* Functions that are called all the time. */
#pragma D option bufpolicy=fill
fbt::ker_*:entry { trace(arg0); self->at = timestamp; }
fbt::ker_*:return { @[probefunc] = max(timestamp - self->at); self->at = 0; }
