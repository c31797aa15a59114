/* SPDX-License-Identifier: BSD-2-Clause */
/* Accounts of the resources that processes hold, in nested groups: see quota.h. Kernel lock
 * held. */
#include "kernel/base/quota.h"

#include "abi/errno.h"
#include "kernel/base/assert.h"
#include "kernel/base/table.h"
#include "kernel/base/string.h"

struct quota quota_system;
static struct quota groups[CONFIG_GROUPS]; /* [k] */
static size_t ram_total;                   /* [I] */

static size_t tables[KYMO_LIMITS]; /* [I] the tables' sizes */

/* The most of each resource that one process can hold. */
const size_t quota_most[KYMO_LIMITS] = {
    [KYMO_LIMIT_PROCESSES] = CONFIG_PROCESSES - 1, /* one is the kernel */
    [KYMO_LIMIT_THREADS] = CONFIG_THREADS_PER_PROCESS,
    [KYMO_LIMIT_CHANNELS] = CONFIG_CHANNELS_PER_PROCESS,
    [KYMO_LIMIT_CONNECTIONS] = (size_t)2 * CONFIG_CONNECTIONS_PER_PROCESS,
    [KYMO_LIMIT_TIMERS] = CONFIG_TIMERS_PER_PROCESS,
    [KYMO_LIMIT_PULSES] = CONFIG_PULSES,
    [KYMO_LIMIT_NAMES] = CONFIG_NAMES,
    [KYMO_LIMIT_OBJECTS] = CONFIG_OBJECTS,
    [KYMO_LIMIT_MAPPINGS] = CONFIG_MAPPINGS,
    [KYMO_LIMIT_INTERRUPTS] = CONFIG_INTERRUPT_ATTACHMENTS,
    [KYMO_LIMIT_RAM] = SIZE_MAX,
    [KYMO_LIMIT_CONSUMERS] = CONFIG_D_CONSUMERS,
    [KYMO_LIMIT_TRACE] = SIZE_MAX,
};

static size_t quota_percent(size_t n, unsigned percent)
{
    return n / 100 * percent + n % 100 * percent / 100;
}

static size_t quota_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t quota_reserved(enum kymo_limit kind)
{
    size_t all = KYMO_LIMIT_IS_BYTES(kind) ? ram_total : tables[kind];

    size_t share = quota_percent(all, CONFIG_RESERVE_PERCENT);

    if (kind == KYMO_LIMIT_MAPPINGS || CONFIG_RESERVE_PERCENT == 0) {
        return 0;
    }
    return share ? share : 1;
}

/* Default limit of a process: a share of what isn't reserved, at least one piece. Mappings have
 * their own table in each process. Spawning requires an ability, and a process that has it may have
 * any number of children; likewise a process that records, which requires an ability that opens the
 * reserve, may have any number of buffers. */
static size_t quota_default(enum kymo_limit kind, bool reserve)
{
    size_t all = KYMO_LIMIT_IS_BYTES(kind) ? ram_total : tables[kind];
    size_t share = quota_percent(all - quota_reserved(kind), CONFIG_QUOTA_PERCENT);

    if (kind == KYMO_LIMIT_MAPPINGS || kind == KYMO_LIMIT_PROCESSES ||
        (kind == KYMO_LIMIT_TRACE && reserve)) {
        return quota_most[kind];
    }
    return quota_smaller(share ? share : 1, quota_most[kind]);
}

static void quota_sizes(void)
{
    tables[KYMO_LIMIT_PROCESSES] = TABLE_ENTRIES(PROCESSES) - 1; /* one is the kernel */
    tables[KYMO_LIMIT_THREADS] = TABLE_ENTRIES(THREADS);
    tables[KYMO_LIMIT_CHANNELS] = TABLE_ENTRIES(CHANNELS);
    tables[KYMO_LIMIT_CONNECTIONS] = TABLE_ENTRIES(CONNECTIONS);
    tables[KYMO_LIMIT_TIMERS] = TABLE_ENTRIES(TIMERS);
    tables[KYMO_LIMIT_PULSES] = TABLE_ENTRIES(PULSES);
    tables[KYMO_LIMIT_NAMES] = TABLE_ENTRIES(NAMES);
    tables[KYMO_LIMIT_OBJECTS] = CONFIG_OBJECTS;
    tables[KYMO_LIMIT_MAPPINGS] = (size_t)CONFIG_MAPPINGS * TABLE_ENTRIES(PROCESSES);
    tables[KYMO_LIMIT_INTERRUPTS] = CONFIG_INTERRUPT_ATTACHMENTS;
    tables[KYMO_LIMIT_RAM] = SIZE_MAX;
    tables[KYMO_LIMIT_CONSUMERS] = CONFIG_D_CONSUMERS;
    tables[KYMO_LIMIT_TRACE] = SIZE_MAX;
}

void quota_init(struct quota *kernel, size_t ram_bytes)
{
    quota_sizes();
    ram_total = ram_bytes;
    memcpy(quota_system.limit, tables, sizeof(tables));
    memcpy(kernel->limit, quota_most, sizeof(quota_most));
    kernel->up = &quota_system;
    kernel->depth = 1;
    kernel->reserve = true;
}

void quota_begin(struct quota *quota, struct quota *up, const struct quota *parent, bool reserve)
{
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        size_t most = quota_smaller(parent->limit[i], up->limit[i]);

        quota->used[i] = 0;
        quota->limit[i] = quota_smaller(quota_default((enum kymo_limit)i, reserve), most);
    }
    quota->up = up;
    quota->members = 0;
    quota->depth = (uint8_t)(up->depth + 1);
    quota->reserve = reserve;
}

int quota_set_limits(struct quota *quota, const struct quota *parent, uint32_t which,
                     const uint64_t limits[KYMO_LIMITS])
{
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        if ((which >> i & 1) && limits[i] != KYMO_LIMIT_MOST && limits[i] > parent->limit[i]) {
            return -EPERM;
        }
    }
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        if (which >> i & 1) {
            quota->limit[i] = limits[i] == KYMO_LIMIT_MOST ? parent->limit[i] : (size_t)limits[i];
        }
    }
    return 0;
}

/* Returns how much more may be charged to this account alone; reserve: for a process that may use
 * the reserved part. A limit below the current use leaves nothing. */
static size_t quota_room(const struct quota *quota, enum kymo_limit kind, bool reserve)
{
    size_t limit = quota->limit[kind];

    if (!quota->up && !reserve && !KYMO_LIMIT_IS_BYTES(kind)) {
        limit -= quota_reserved(kind);
    }
    return limit > quota->used[kind] ? limit - quota->used[kind] : 0;
}

bool quota_has(const struct quota *quota, enum kymo_limit kind, size_t n)
{
    kernel_assert(quota->depth <= CONFIG_GROUP_DEPTH + 1);
    for (const struct quota *q = quota; q; q = q->up) { /* at most depth */
        if (n > quota_room(q, kind, quota->reserve)) {
            return false;
        }
    }
    return true;
}

bool quota_charge(struct quota *quota, enum kymo_limit kind, size_t n)
{
    if (!quota_has(quota, kind, n)) {
        return false;
    }
    for (struct quota *q = quota; q; q = q->up) {
        q->used[kind] += n;
    }
    return true;
}

void quota_release(struct quota *quota, enum kymo_limit kind, size_t n)
{
    for (struct quota *q = quota; q; q = q->up) { /* at most depth */
        kernel_assert(q->used[kind] >= n);
        q->used[kind] -= n;
    }
}

/* ---- groups ------------------------------------------------------------------------ */

static bool group_holds_something(const struct quota *group)
{
    size_t held = 0;

    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        held |= group->used[i];
    }
    return held != 0;
}

/* An entry is free if it has no members and nothing is charged to it. Then nothing refers to it: no
 * process, no group inside it and no payer. */
static bool group_exists(const struct quota *group)
{
    return group->members > 0 || group_holds_something(group);
}

struct quota *quota_group_new(struct quota *up, uint32_t which, const uint64_t limits[KYMO_LIMITS])
{
    struct quota *group = groups;

    if (up->depth >= CONFIG_GROUP_DEPTH) {
        return NULL;
    }
    while (group < groups + CONFIG_GROUPS && group_exists(group)) {
        group++;
    }
    if (group == groups + CONFIG_GROUPS) {
        return NULL;
    }
    memset(group, 0, sizeof(*group));
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        bool given = (which >> i & 1) && limits[i] < SIZE_MAX;

        group->limit[i] = given ? (size_t)limits[i] : up->limit[i];
    }
    group->up = up;
    group->depth = (uint8_t)(up->depth + 1);
    return group;
}

/* A group that gets its first member becomes a member of the group around it, and stops being one
 * with its last. */
void quota_join(struct quota *group)
{
    for (struct quota *g = group; g->up; g = g->up) { /* at most depth */
        kernel_assert(g->members < UINT16_MAX);
        if (g->members++ > 0) {
            return;
        }
    }
}

void quota_leave(struct quota *group)
{
    for (struct quota *g = group; g->up; g = g->up) { /* at most depth */
        kernel_assert(g->members > 0);
        if (--g->members > 0) {
            return;
        }
    }
}

int quota_group_number(const struct quota *quota)
{
    if (quota >= groups && quota < groups + CONFIG_GROUPS) {
        return (int)(quota - groups) + 1;
    }
    return quota == &quota_system ? -1 : 0;
}

const struct quota *quota_group_at(unsigned number)
{
    return number - 1 < CONFIG_GROUPS ? &groups[number - 1] : NULL;
}
