/* Of the probes that t_down makes: in itself, in its child, in the stranger. */
#pragma D option bufsize=8k
pid*::down_probed:entry /arg0 == 0x51/ { @itself = count(); }
pid*::down_probed:entry /arg0 == 0x52/ { @child = count(); }
pid*::down_probed:entry /arg0 == 0x53/ { @stranger = count(); }
pid*::down_probed:entry { @all = count(); }
