/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quotas: what a process, a group of processes, and all processes together may hold. A spawn sets
 * the child's limits, at most the parent's own; docs/reference/security.md has the rules.
 *
 * X-macro: LIMIT(number, NAME, "script name", "what is counted"). All count pieces, except RAM and
 * TRACE, which count bytes.
 */
#ifndef ABI_SYS_QUOTA_H
#define ABI_SYS_QUOTA_H

#include <stdint.h>

#define LIMIT_LIST(LIMIT) \
    LIMIT(0, PROCESSES, "processes", "processes that it has spawned, until their status is taken") \
    LIMIT(1, THREADS, "threads", "its threads, ended ones included until they are joined") \
    LIMIT(2, CHANNELS, "channels", "its channels") \
    LIMIT(3, CONNECTIONS, "connections", \
          "its connections, closed ones included until the server has received the notice") \
    LIMIT(4, TIMERS, "timers", "its timers, TimerAlarm()'s included") \
    LIMIT(5, PULSES, "pulses", "pulses that it has sent and nobody has received yet") \
    LIMIT(6, NAMES, "names", "names that it has attached") \
    LIMIT(7, OBJECTS, "objects", "memory objects that it has created and that still exist") \
    LIMIT(8, MAPPINGS, "mappings", "its mappings, of its program too") \
    LIMIT(9, INTERRUPTS, "interrupts", "its interrupt attachments") \
    LIMIT(10, RAM, "ram", "bytes of RAM: what it has mapped as its own, and its objects' memory") \
    LIMIT(11, CONSUMERS, "consumers", "its consumers of D") \
    LIMIT(12, TRACE, "trace", \
          "bytes of the kernel's memory for its consumers of D and its event log's buffers")

enum kymo_limit {
#define LIMIT(number, name, text, doc) KYMO_LIMIT_##name = (number),
    LIMIT_LIST(LIMIT)
#undef LIMIT
        KYMO_LIMITS
};

#define KYMO_LIMIT_IS_BYTES(what) ((what) == KYMO_LIMIT_RAM || (what) == KYMO_LIMIT_TRACE)

/* In struct kymo_spawn: as much as the parent may have. In struct kymo_quota: no limit. */
#define KYMO_LIMIT_MOST UINT64_MAX

/* ProcLimits(pid, level, …): level 0 is the process, followed by its groups from the innermost
 * outwards, and finally the whole system. */
struct kymo_quota {
    int32_t group;               /* number of the group; 0: a process; -1: the system */
    uint32_t members;            /* number of processes and groups inside */
    uint64_t used[KYMO_LIMITS];  /* now */
    uint64_t limit[KYMO_LIMITS]; /* most; KYMO_LIMIT_MOST: no limit of its own */
    /* of the system: the part of limit for processes with ABILITY_RESERVE */
    uint64_t reserve[KYMO_LIMITS];
};

#endif
