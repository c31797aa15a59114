/* The CPU's cycles: in whose time the probe fires. t_down has priority 10, the stranger 9. */
#pragma D option bufsize=16k
#pragma D option dynvarsize=4k
cpc:::cycles-all-100000 { @fired = count(); }
cpc:::cycles-all-100000 /curlwpsinfo->pr_pri == 10 && cycles > 0/ { @own = count(); }
cpc:::cycles-all-100000 /curlwpsinfo->pr_pri == 9/ { @stranger = count(); }
tick-100 { @ticks = count(); }
tick-100 /cycles > 0/ { @told = count(); }
