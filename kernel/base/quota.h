/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quotas: accounts of what is held, each with its limits. A process has one (struct process.quota),
 * inside that of its group, if it has one, which may be inside of others, inside the system's. What
 * is charged to one is charged to all around it, and is refused if one of them has no room.
 *
 * The system's limits are the tables' sizes. Of these a share is reserved (CONFIG_RESERVE_PERCENT)
 * for processes with ABILITY_RESERVE. RAM has no limit here, nor has the trace's memory:
 * kernel/mem/ram.c and kernel/dtrace/heap.c look at what is free.
 *
 * What may outlive the process that pays for it (a pulse, a closed connection, a child, an object)
 * notes a struct payer. kernel/proc/proc.h gives such things back.
 *
 * A group exists as long as it has members, or something is charged to it.
 *
 * Kernel lock held. docs/security.md. Proved by test/kernel/base/quota_test.c against a model; in
 * debug kernels kernel/observe/debug/check_quota.c counts what every process holds.
 */
#ifndef KERNEL_BASE_QUOTA_H
#define KERNEL_BASE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sys/quota.h"
#include "kernel/base/config.h"

struct quota {
    struct quota *up;          /* [I] the account around this one; NULL: this is the system's */
    size_t used[KYMO_LIMITS];  /* [k] */
    size_t limit[KYMO_LIMITS]; /* [I] */
    uint16_t members;          /* [k] of a group: processes and groups inside. 0: it has ended */
    uint8_t depth;             /* [I] accounts around this one */
    bool reserve;              /* [I] of a process: it may take what is reserved */
};

/* Who pays for something that may outlive its process: the process, if it still exists. */
struct payer {
    int32_t pid;         /* [I] 0: nobody pays */
    struct quota *group; /* [I] the account around the process's, which exists as long as this */
};

extern struct quota quota_system;
/* Most that a process can have of each, whatever its limits say: the sizes of its own tables. */
extern const size_t quota_most[KYMO_LIMITS];
/* Of the system's limits, for processes that may take it. */
size_t quota_reserved(enum kymo_limit what);

/* Sets the limits of the process that is the kernel: those of all its tables. */
void quota_init(struct quota *kernel, size_t ram_bytes);
/*
 * Sets up a new process's account inside `up`: the board's default limits, at most those of
 * `parent` and of `up`.
 */
void quota_begin(struct quota *quota, struct quota *up, const struct quota *parent, bool reserve);
/* Replaces the limits whose bit is set. Returns 0, or -EPERM and nothing is changed: one exceeds
 * the parent's. */
int quota_set_limits(struct quota *quota, const struct quota *parent, uint32_t which,
                     const uint64_t limits[KYMO_LIMITS]);

/* Returns whether a charge would succeed. */
bool quota_has(const struct quota *quota, enum kymo_limit what, size_t n);
/* Charges n to the account and all around it. False: one of them has no room, nothing is
 * charged. */
bool quota_charge(struct quota *quota, enum kymo_limit what, size_t n);
/* Gives it back. */
void quota_release(struct quota *quota, enum kymo_limit what, size_t n);

/* Returns a new group inside of `up` with these limits, without members: the caller joins it. NULL:
 * all CONFIG_GROUPS exist, or CONFIG_GROUP_DEPTH are inside each other. */
struct quota *quota_group_new(struct quota *up, uint32_t which, const uint64_t limits[KYMO_LIMITS]);
/* A process begins and ceases to be a member. The system has any number. */
void quota_join(struct quota *group);
void quota_leave(struct quota *group);
/* Number of a group from 1, -1 for the system's account, 0 for a process's. */
int quota_group_number(const struct quota *quota);
/* For checks: the group with this number, existing or not; NULL: there is no such number. */
const struct quota *quota_group_at(unsigned number);

#endif
