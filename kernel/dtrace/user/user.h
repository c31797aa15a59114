/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider pid: probes of programs. The host names places in a process's text
 * (abi/sys/dtrace.h, KYMO_D_USER); a trap takes the place of each that is enabled. The whole is
 * described in docs/guide/userprobes.md.
 *
 * A site is an address of a process at which a trap may be. A probe has one place, or several (a
 * function's returns); a site has a place for each probe that is at it. A group has all objects
 * that belong to one process. All are in tables that are allocated once; number 0 means none.
 * Objects without a clause of any consumer may be reused after a while, because a consumer is
 * created after its probes.
 *
 * All changes are made in control context, under the kernel lock. A process may end in any window:
 * then its text is not found any more (user_text()), and nothing is written. The traps' handler
 * looks sites up without a lock: the fields that it may read change in an order that is readable at
 * any time, or while no CPU is in the handler (cpu_run_alone()). Internal to kernel/dtrace/user.
 * Tested by test/board/pid.py.
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
    uint16_t next;         /* [a] next in its bucket, or in the list of free ones */
    uint16_t places;       /* [a] the first one */
    uint16_t wanted;       /* [k] number of places that are enabled */
    bool on;               /* [k] the trap is in the text */
};

struct user_place {
    uint16_t site, probe;     /* [I] */
    uint16_t at_site, others; /* [a], [k] the next place of the site, and of the probe */
    uint32_t offset;          /* [I] in the function */
    uint8_t kind;             /* [I] enum kymo_d_user_kind */
    bool enabled;             /* [a] */
};

struct user_probe {
    uint32_t id;     /* [I] D's id; 0: the machine has none for it yet */
    uint16_t group;  /* [k] 0: free */
    uint16_t places; /* [k] the first one; for a free probe the next free one */
    bool enabled;    /* [k] */
    char function[KYMO_D_USER_FUNCTION], name[KYMO_D_USER_NAME]; /* [k] */
};

struct user_group {
    int32_t pid;                     /* [k] 0: free */
    uint64_t asked;                  /* [k] ns: when its probes were last requested */
    bool used;                       /* [k] some consumer has a clause on a probe of it */
    bool own;                        /* [k] its creator may observe only its own processes */
    struct dtrace_provider provider; /* [k] */
    char name[USER_PID_TEXT], module[KYMO_NAME_MAX]; /* [k] module: the program */
};

/* ---- table.c ----------------------------------------------------------------------- */

extern struct user_tables {
    struct user_site *sites;   /* [I] NULL: none requested yet; numbers are below `most` */
    struct user_place *places; /* [I] likewise */
    struct user_probe *probes; /* [I] likewise */
    uint16_t *buckets;         /* [a] of sites; their number is a power of two */
    unsigned most, mask;       /* [I] */
    struct user_free {
        uint16_t first; /* [k] first of those that were freed; 0: none */
        uint16_t fresh; /* [k] this one and those above were never used */
        uint16_t room;  /* [k] number of free ones */
    } free_sites, free_places, free_probes;
} user;
extern struct user_group user_groups[USER_GROUPS]; /* the first one means none */

/* Returns the site at this address of the process, or 0. Any context. */
unsigned user_site_find(int32_t pid, uintptr_t address);
/* Allocates the tables once. Returns false if there is no memory. */
bool user_tables_make(void);
/* Returns a new site without places, or 0 if the table is full. */
unsigned user_site_add(int32_t pid, const struct arch_step *step);
/* Adds a place to a probe and a site. Returns false if the table is full. */
bool user_place_add(unsigned site, unsigned probe, const struct kymo_d_user_place *from);
/* Returns a new probe without places, or 0 if there is no room. */
unsigned user_probe_add(unsigned group, const char *function, const char *name);
/* Returns whether the process has a group, or can have one. */
bool user_group_room(int32_t pid, bool own);
/* Returns the process's group, a new one if needed, or 0 if all are in use. */
unsigned user_group_of(const struct process *proc, bool own);
/* Frees groups without a clause of any consumer: those of processes that have ended, or also those
 * that were not requested recently. */
void user_groups_free(bool only_gone);

/* ---- provider.c -------------------------------------------------------------------- */

extern const struct dtrace_provider_ops user_ops, user_own_ops;
/* Returns the kernel's pointer to the site's text, for writing, or NULL if it isn't the process's
 * own text. flags: KYMO_PROT_EXEC, or 0 if the process need not be able to execute it now. */
void *user_text(const struct user_site *site, uint32_t flags);
/* For a place that was added to an enabled probe. */
void user_place_enable(unsigned place, bool on);
void user_settle(void);

#endif
