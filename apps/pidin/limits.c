/* SPDX-License-Identifier: BSD-2-Clause */
/* `pidin limits`: the resources and limits of processes, of their groups, and of the system with
 * its reserves. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "apps/pidin/print.h"

#define CELL 24
#define COLUMN_MIN 7
#define KB 1024

static const char *const limits_names[KYMO_LIMITS] = {
#define LIMIT(number, NAME, text, doc) [number] = text,
    LIMIT_LIST(LIMIT)
#undef LIMIT
};

/* Groups that have been printed, by number: as many as there can be bits. */
static uint64_t groups_printed;

static int limits_print_column(unsigned what)
{
    int n = (int)strlen(limits_names[what]);

    return KYMO_LIMIT_IS_BYTES(what) ? 2 * COLUMN_MIN : n < COLUMN_MIN ? COLUMN_MIN : n;
}

static void print_cell(unsigned what, unsigned long long used, unsigned long long limit)
{
    unsigned unit = KYMO_LIMIT_IS_BYTES(what) ? KB : 1;
    const char *k = KYMO_LIMIT_IS_BYTES(what) ? "k" : "";
    char text[2 * CELL];

    if (limit == KYMO_LIMIT_MOST) {
        snprintf(text, sizeof(text), "%llu%s/-", used / unit, k);
    } else {
        snprintf(text, sizeof(text), "%llu%s/%llu%s", used / unit, k, limit / unit, k);
    }
    printf(" %*s", limits_print_column(what), text);
}

static void print_quota(const char *id, const char *name, const struct kymo_quota *quota)
{
    printf("%6s %-16.16s", id, name);
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        print_cell(i, quota->used[i], quota->limit[i]);
    }
    printf("\n");
}

static void print_reserve(const struct kymo_quota *system)
{
    printf("%6s %-16s", "", "(its reserve)");
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        unsigned unit = KYMO_LIMIT_IS_BYTES(i) ? KB : 1;
        char text[CELL];

        snprintf(text, sizeof(text), "%llu%s", (unsigned long long)system->reserve[i] / unit,
                 KYMO_LIMIT_IS_BYTES(i) ? "k" : "");
        printf(" %*s", limits_print_column(i), text);
    }
    printf("\n");
}

void print_limits_head(void)
{
    printf("%6s %-16s", "pid", "name");
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        printf(" %*s", limits_print_column(i), limits_names[i]);
    }
    printf("\n");
}

/* Prints the groups of the process, each once. */
static void print_groups(int pid)
{
    struct kymo_quota quota;

    for (unsigned level = 1; ProcLimits(pid, level, &quota) == pid && quota.group > 0; level++) {
        char name[CELL];

        if (quota.group < 64 && (groups_printed >> quota.group & 1)) {
            continue;
        }
        groups_printed |= quota.group < 64 ? UINT64_C(1) << quota.group : 0;
        snprintf(name, sizeof(name), "group %d (%u)", (int)quota.group, (unsigned)quota.members);
        print_quota("", name, &quota);
    }
}

void print_limits(const struct kymo_proc_info *proc)
{
    struct kymo_quota quota;
    char pid[12];

    if (ProcLimits((int)proc->pid, 0, &quota) == proc->pid) {
        snprintf(pid, sizeof(pid), "%d", (int)proc->pid);
        print_quota(pid, proc->name, &quota);
        print_groups((int)proc->pid);
    }
}

/* The last account of the process is the system's. */
void print_limits_system(void)
{
    struct kymo_quota quota;
    unsigned level = 1;

    while (ProcLimits(0, level, &quota) > 0 && quota.group >= 0) {
        level++;
    }
    print_quota("", "all", &quota);
    print_reserve(&quota);
}
