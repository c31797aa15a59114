/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the timeline is known to get wrong, or not to know, of a simulated system: the kind, a seed
 * of a capture in which it is wrong, and one in which it is unknown though the capture shows it; 0:
 * there is none. For oracle_test.c only.
 */
#ifndef TEST_HOST_TIMELINE_ORACLE_KNOWN_H
#define TEST_HOST_TIMELINE_ORACLE_KNOWN_H

#define ORACLE_KNOWN(ROW) \
    ROW("call", 14, 0) \
    ROW("call aborted", 1, 0) \
    ROW("end CONDVAR timer", 5, 43) \
    ROW("end INTR interrupt", 1, 0) \
    ROW("end INTR timer", 120, 0) \
    ROW("end JOIN timer", 40, 0) \
    ROW("end MUTEX timer", 2, 1742) \
    ROW("end NANOSLEEP timer", 1, 0) \
    ROW("end RECEIVE interrupt", 1, 1) \
    ROW("end RECEIVE timer", 1, 153) \
    ROW("end REPLY timer", 2, 0) \
    ROW("end RUNNING self", 4, 0) \
    ROW("end RUNNING yield", 1, 0) \
    ROW("end SEM timer", 5, 190) \
    ROW("end SEND timer", 1, 1629) \
    ROW("object MUTEX", 5, 0) \
    ROW("process name", 82, 0) \
    ROW("end * kill", 22, 0) \
    ROW("end * death", 1, 0) \
    ROW("end * thread", 436, 0)

#endif
