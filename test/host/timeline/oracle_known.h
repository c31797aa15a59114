/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the timeline is known to get wrong, or not to know, of a simulated system: the kind,
 * wrong, not known, the seed of a capture that shows it. Included by oracle_test.c only.
 */
{"end JOIN timer", false, true, 1421},
{"end MUTEX kill", true, false, 606},
{"end RECEIVE timer", false, true, 1129},
{"end REPLY death", true, false, 69},
{"end REPLY thread", false, true, 137},
{"end RUNNING preempted", true, true, 117},
{"end RUNNING yield", false, true, 16},
{"end SEND death", true, false, 126},
{"end SEND timer", false, true, 393},
{"end STOPPED thread", true, false, 1469},
{"interrupt", true, false, 6},
{"message end client death", true, false, 301},
{"message of REPLY", false, true, 80},
{"message server", true, false, 107},
{"owner MUTEX", false, true, 200},
{"state NANOSLEEP", true, false, 1215},
{"state READY", true, false, 1215},
