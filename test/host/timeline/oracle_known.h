/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the timeline is known to get wrong, or not to know, of a simulated system: the kind, a seed
 * of a capture in which it is wrong, and one in which it is unknown though the capture shows it; 0:
 * there is none. For oracle_test.c only.
 */
#ifndef TEST_HOST_TIMELINE_ORACLE_KNOWN_H
#define TEST_HOST_TIMELINE_ORACLE_KNOWN_H

#define ORACLE_KNOWN(ROW) \
    ROW("end CONDVAR timer", 1548, 0) \
    ROW("end INTR timer", 1398, 1553) \
    ROW("end JOIN timer", 1562, 0) \
    ROW("end MUTEX kill", 837, 0) \
    ROW("end MUTEX timer", 14, 456) \
    ROW("end NANOSLEEP timer", 1, 739) \
    ROW("end RECEIVE timer", 59, 1609) \
    ROW("end REPLY death", 30, 0) \
    ROW("end REPLY thread", 0, 95) \
    ROW("end REPLY timer", 5, 0) \
    ROW("end RUNNING preempted", 9, 40) \
    ROW("end RUNNING yield", 0, 8) \
    ROW("end SEM timer", 5, 297) \
    ROW("end SEND death", 22, 0) \
    ROW("end SEND timer", 22, 264) \
    ROW("end STOPPED thread", 436, 0) \
    ROW("process name", 82, 0)

#endif
