/* All that t_probed.c makes, in whichever process. */
pid*::probed_*: { @ = count(); }
