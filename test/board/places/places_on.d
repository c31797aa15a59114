/* What t_places.c has made a probe at. */
pid*::text_sum:entry { @ = count(); }
