/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quotas: accounts of held resources, each with its limits. A process has an account (struct
 * process.quota) inside that of its group, if it is in one; groups may be nested, and all are
 * inside the system's account. A charge to one account is also charged to all around it, and is
 * refused if one of them has no room.
 *
 * The system's limits are the tables' sizes. A share of them (CONFIG_RESERVE_PERCENT) is reserved
 * for processes with ABILITY_RESERVE. RAM and the trace's memory have no system limit:
 * kernel/mem/ram.c and kernel/dtrace/heap.c test how much is free.
 *
 * A resource that may outlive the process that pays for it (a pulse, a closed connection, a child,
 * an object) records a struct payer, which kernel/proc/proc.h uses to release the charge.
 *
 * A group exists as long as it has members, or something is charged to it.
 *
 * Kernel lock held. docs/reference/security.md. Proved by test/kernel/base/quota_test.c against a
 * model; in debug kernels kernel/observe/debug/check_quota.c counts what every process holds.
 */
#ifndef KERNEL_BASE_QUOTA_H
#define KERNEL_BASE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sys/quota.h"
#include "kernel/base/config.h"

struct quota {
    struct quota *up; /* [I] the account around this one; NULL: this is the system's account */
    size_t used[KYMO_LIMITS];  /* [k] */
    size_t limit[KYMO_LIMITS]; /* [I] */
    /* [k] of a group: number of processes and groups inside. 0: the group has ended */
    uint16_t members;
    uint8_t depth; /* [I] number of accounts around this one */
    bool reserve;  /* [I] of a process: it may use the reserved part */
};

/* Pays for a resource that may outlive its process: the process, if it still exists, and the
 * group. */
struct payer {
    int32_t pid; /* [I] 0: nobody pays */
    /* [I] the account around the process's account; exists as long as this charge */
    struct quota *group;
};

extern struct quota quota_system;
/* The most of each resource that a process can have, whatever its limits are: the sizes of its own
 * tables. */
extern const size_t quota_most[KYMO_LIMITS];
/* Returns the part of the system's limit that is reserved for processes that may use it. */
size_t quota_reserved(enum kymo_limit kind);

/* Sets the limits of the kernel's own process: the sizes of all its tables. */
void quota_init(struct quota *kernel, size_t ram_bytes);
/*
 * Sets up a new process's account inside `up`: the board's default limits, at most those of
 * `parent` and of `up`.
 */
void quota_begin(struct quota *quota, struct quota *up, const struct quota *parent, bool reserve);
/* Replaces the limits whose bit is set in `which`. Returns 0, or -EPERM with nothing changed if one
 * exceeds the parent's. */
int quota_set_limits(struct quota *quota, const struct quota *parent, uint32_t which,
                     const uint64_t limits[KYMO_LIMITS]);

/* Returns whether a charge would succeed. */
bool quota_has(const struct quota *quota, enum kymo_limit kind, size_t n);
/* Charges n to the account and all around it. Returns false, with nothing charged, if one of them
 * has no room. */
bool quota_charge(struct quota *quota, enum kymo_limit kind, size_t n);
/* Releases a charge. */
void quota_release(struct quota *quota, enum kymo_limit kind, size_t n);

/* Returns a new group inside of `up` with these limits, without members: the caller joins it.
 * Returns NULL if all CONFIG_GROUPS exist or the nesting would exceed CONFIG_GROUP_DEPTH. */
struct quota *quota_group_new(struct quota *up, uint32_t which, const uint64_t limits[KYMO_LIMITS]);
/* Make a process a member of a group, and end its membership. The system's account has any
 * number. */
void quota_join(struct quota *group);
void quota_leave(struct quota *group);
/* Returns the number of a group, from 1; -1 for the system's account, 0 for a process's account. */
int quota_group_number(const struct quota *quota);
/* For checks: returns the group with this number, in use or not, or NULL if there is no such
 * number. */
const struct quota *quota_group_at(unsigned number);

#endif
