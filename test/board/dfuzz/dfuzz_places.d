/* What t_dfuzz.c makes of itself and of others. */
pid*::d_random: { @[pid, probename] = count(); }
