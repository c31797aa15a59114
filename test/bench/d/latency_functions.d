fbt:::entry { @[probefunc] = count(); }
