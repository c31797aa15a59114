/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the timeline is known to get wrong, or not to know, of a simulated system: the kind,
 * wrong, not known, the seed of a capture that shows it. Included by oracle_test.c only.
 */
{"call", true, false, 1}, {"end CONDVAR timer", true, false, 1},
    {"end INTR interrupt", true, false, 1}, {"end INTR kill", true, false, 184},
    {"end INTR timer", true, false, 137}, {"end JOIN death", true, false, 1349},
    {"end JOIN timer", true, true, 43}, {"end MUTEX kill", true, false, 262},
    {"end MUTEX timer", true, true, 4}, {"end NANOSLEEP kill", true, false, 97},
    {"end NANOSLEEP timer", true, false, 1}, {"end READY kill", true, false, 1065},
    {"end RECEIVE interrupt", true, true, 3}, {"end RECEIVE timer", true, true, 1},
    {"end REPLY death", true, false, 69}, {"end REPLY timer", true, false, 43},
    {"end RUNNING self", true, false, 4}, {"end RUNNING yield", true, false, 1},
    {"end SEM timer", true, true, 26}, {"end SEND death", true, false, 7},
    {"end SEND timer", true, true, 3}, {"end STOPPED thread", true, false, 1469},
    {"end WAITCTX death", true, false, 2}, {"end WAITTHREAD death", true, false, 25},
    {"interrupt", true, false, 6}, {"message end client death", true, false, 301},
    {"message of REPLY", false, true, 80}, {"message server", true, false, 107},
    {"object MUTEX", true, false, 1}, {"owner MUTEX", false, true, 200},
    {"state NANOSLEEP", true, false, 1215}, {"state READY", true, false, 1215},
