/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the timeline is known to get wrong, or not to know, of a simulated system: the kind,
 * wrong, not known, the seed of a capture that shows it. Included by oracle_test.c only.
 */
{"end CONDVAR timer", false, true, 3288},
{"end INTR timer", false, true, 2856},
{"end MUTEX timer", false, true, 1632},
{"end NANOSLEEP timer", false, true, 1794},
{"end SEM timer", false, true, 4864},
{"object MUTEX", false, true, 6921},
{"owner MUTEX", true, true, 12274},
