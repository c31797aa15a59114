/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the timeline is known to get wrong, or not to know, of a simulated system: the kind, a seed
 * of a capture in which it is wrong, and one in which it is unknown though the capture shows it; 0:
 * there is none. For oracle_test.c only.
 */
#ifndef TEST_HOST_TIMELINE_ORACLE_KNOWN_H
#define TEST_HOST_TIMELINE_ORACLE_KNOWN_H

#define ORACLE_KNOWN(ROW) \
    ROW("call", 9609, 0) \
    ROW("end RUNNING preempted", 9, 40) \
    ROW("end RUNNING yield", 0, 8) \
    ROW("object MUTEX", 0, 11169) \
    ROW("owner MUTEX", 6251, 0) \
    ROW("process name", 728, 0) \
    ROW("end * death", 22, 0) \
    ROW("end * kill", 837, 0) \
    ROW("end * thread", 436, 95) \
    ROW("end * timer", 3, 739)

#endif
