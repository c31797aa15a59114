/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the timeline is known to get wrong, or not to know, of a simulated system: the kind, a seed
 * of a capture in which it is wrong, and one in which it is unknown though the capture shows it; 0:
 * there is none. For oracle_test.c only.
 */
#ifndef TEST_HOST_TIMELINE_ORACLE_KNOWN_H
#define TEST_HOST_TIMELINE_ORACLE_KNOWN_H

#define ORACLE_KNOWN(ROW) \
    ROW("call", 1, 0) \
    ROW("end CONDVAR timer", 5, 1294) \
    ROW("end INTR interrupt", 6, 0) \
    ROW("end INTR timer", 22, 0) \
    ROW("end JOIN timer", 89, 0) \
    ROW("end MUTEX timer", 6, 1723) \
    ROW("end NANOSLEEP timer", 1, 0) \
    ROW("end RECEIVE interrupt", 12, 24) \
    ROW("end RECEIVE timer", 1, 3500) \
    ROW("end REPLY timer", 1, 3885) \
    ROW("end RUNNING self", 25, 0) \
    ROW("end RUNNING yield", 1, 0) \
    ROW("end SEM timer", 7, 2537) \
    ROW("end SEND timer", 2, 910) \
    ROW("object MUTEX", 5, 0) \
    ROW("end * kill", 29, 0) \
    ROW("end * death", 2, 0) \
    ROW("end * thread", 165, 0)

#endif
