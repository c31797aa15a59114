/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider pid: probes of programs. The host names places in a process's text
 * (abi/sys/dtrace.h, KYMO_D_USER); a trap takes the place of each that is enabled. The whole is
 * described in docs/userprobes.md.
 *
 * A site is an address of a process at which a trap may be. A probe has one place, or several (a
 * function's returns); a site has a place of each probe that is there. A group has all that belongs
 * to one process. All are in tables that are allocated once; number 0 is none. What no consumer's
 * clause is on may be given to others, after a while: a consumer comes after its probes.
 *
 * Everything changes in control context, under the kernel lock. A process may end in any window:
 * then its text is not found any more (user_text()), and nothing is written. The traps' handler
 * looks sites up without a lock: what it may read changes in an order that it can read at any time,
 * or while no CPU is in it (cpu_run_alone()). Internal to kernel/dtrace/user. Proved by
 * test/board/pid.py.
 */
#ifndef KERNEL_DTRACE_USER_USER_H
#define KERNEL_DTRACE_USER_USER_H

#include "abi/sys/dtrace.h"
#include "abi/sys/kymo.h"
#include "kernel/arch/step.h"
#include "kernel/base/config.h"
#include "trace/dtrace/dtrace.h"
#include "trace/dtrace/probe.h"

enum { USER_GROUPS = 16, USER_PID_TEXT = 16 };

struct user_site {
    struct arch_step step; /* [I] while it is in the table */
    int32_t pid;           /* [I] likewise */
    uint16_t next;         /* [a] in its bucket, or of the free ones */
    uint16_t places;       /* [a] the first one */
    uint16_t wanted;       /* [k] places that are enabled */
    bool on;               /* [k] the trap is there */
};

struct user_place {
    uint16_t site, probe;     /* [I] */
    uint16_t at_site, others; /* [a], [k] the next place of the site, and of the probe */
    uint32_t offset;          /* [I] in the function */
    uint8_t kind;             /* [I] enum kymo_d_user_kind */
    bool enabled;             /* [a] */
};

struct user_probe {
    uint32_t id;     /* [I] D's; 0: the machine has none for it yet */
    uint16_t group;  /* [k] 0: free */
    uint16_t places; /* [k] the first one; of a free one the next free one */
    bool enabled;    /* [k] */
    char function[KYMO_D_USER_FUNCTION], name[KYMO_D_USER_NAME]; /* [k] */
};

struct user_group {
    int32_t pid;                     /* [k] 0: free */
    uint64_t asked;                  /* [k] ns: when probes of it were asked for last */
    bool used;                       /* [k] some consumer has a clause on a probe of it */
    bool own;                        /* [k] who made it may observe only own processes */
    struct dtrace_provider provider; /* [k] */
    char name[USER_PID_TEXT], module[KYMO_NAME_MAX]; /* [k] module: the program */
};

/* ---- table.c ----------------------------------------------------------------------- */

extern struct user_tables {
    struct user_site *sites;   /* [I] NULL: nobody has asked for any yet; numbers below `most` */
    struct user_place *places; /* [I] likewise */
    struct user_probe *probes; /* [I] likewise */
    uint16_t *buckets;         /* [a] of sites, a power of two of them */
    unsigned most, mask;       /* [I] */
    struct user_free {
        uint16_t first; /* [k] of those that were freed; 0: none */
        uint16_t fresh; /* [k] this one and those above were never used */
        uint16_t room;  /* [k] how many are free */
    } free_sites, free_places, free_probes;
} user;
extern struct user_group user_groups[USER_GROUPS]; /* the first one is none */

/* Returns the site at this address of the process, 0: none. Any context. */
unsigned user_site_find(int32_t pid, uintptr_t address);
/* Allocates the tables once; false: no memory. */
bool user_tables_make(void);
/* Returns a new site without places, 0: the table is full. */
unsigned user_site_add(int32_t pid, const struct arch_step *step);
/* Adds a place to a probe and a site; false: the table is full. */
bool user_place_add(unsigned site, unsigned probe, const struct kymo_d_user_place *from);
/* Returns a new probe without places, 0: there is no room. */
unsigned user_probe_add(unsigned group, const char *function, const char *name);
/* Returns whether the process has a group, or can have one. */
bool user_group_room(int32_t pid, bool own);
/* Returns the process's group, a new one if need be; 0: all are in use. */
unsigned user_group_of(const struct process *proc, bool own);
/* Frees groups that no consumer has a clause on: of processes that have ended, or also those that
 * nobody has asked for lately. */
void user_groups_free(bool only_gone);

/* ---- provider.c -------------------------------------------------------------------- */

extern const struct dtrace_provider_ops user_ops, user_own_ops;
/* Where the kernel has the site's text: it may write there. flags: KYMO_PROT_EXEC, or 0 if the
 * process need not be able to execute it now. NULL: not the process's own text. */
void *user_text(const struct user_site *site, uint32_t flags);
/* A place that was added to an enabled probe. */
void user_place_enable(unsigned place, bool on);
void user_settle(void);

#endif
