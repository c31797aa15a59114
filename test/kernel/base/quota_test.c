/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accounts (kernel/base/quota.c) against a model that adds up, for each question, all charges that
 * are still out. Random steps: accounts and groups begin and end, charges are made and given back
 * in any order, also after their payer has ended. At the end all is zero and all groups can be had
 * again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "abi/errno.h"
#include "kernel/base/quota.h"
#include "test/tool/random.h"

#define PROCESSES 12
#define CHARGES 200
#define STEPS 400000
#define RAM ((size_t)16 << 20)

static struct quota kernel;

/* What the model knows of a process. */
struct member {
    bool lives;
    bool reserve;
    int pid;
    int group; /* index in model_groups, -1: none */
    size_t limit[KYMO_LIMITS];
    struct quota quota;
};

struct model_group {
    bool used; /* it has been made; it may have ended */
    int around;
    size_t limit[KYMO_LIMITS];
    struct quota *quota;
};
#define GROUPS_EVER 64

struct charge {
    size_t n; /* 0: free */
    enum kymo_limit what;
    int pid, group;
};

static struct member members[PROCESSES];
static struct model_group model_groups[GROUPS_EVER];
static unsigned ngroups;
static struct charge charges[CHARGES];
static int pids;

/* ---- the model ---------------------------------------------------------------------- */

static bool group_within(int group, int around)
{
    while (group >= 0 && group != around) {
        group = model_groups[group].around;
    }
    return group == around;
}

static size_t sum_of_process(int pid, enum kymo_limit what)
{
    size_t sum = 0;

    for (unsigned i = 0; i < CHARGES; i++) {
        sum += charges[i].n && charges[i].what == what && charges[i].pid == pid ? charges[i].n : 0;
    }
    return sum;
}

/* -1: the system. */
static size_t sum_of_group(int group, enum kymo_limit what)
{
    size_t sum = 0;

    for (unsigned i = 0; i < CHARGES; i++) {
        bool inside = group < 0 || group_within(charges[i].group, group);
        sum += charges[i].n && charges[i].what == what && inside ? charges[i].n : 0;
    }
    return sum;
}

static bool model_has(const struct member *m, enum kymo_limit what, size_t n)
{
    size_t most = quota_system.limit[what];

    if (!m->reserve && !KYMO_LIMIT_IS_BYTES(what)) {
        most -= quota_reserved(what);
    }
    if (sum_of_process(m->pid, what) + n > m->limit[what] || sum_of_group(-1, what) + n > most) {
        return false;
    }
    for (int g = m->group; g >= 0; g = model_groups[g].around) {
        if (sum_of_group(g, what) + n > model_groups[g].limit[what]) {
            return false;
        }
    }
    return true;
}

static bool model_group_exists(int group)
{
    bool held = false;

    for (unsigned i = 0; i < PROCESSES; i++) {
        held |= members[i].lives && group_within(members[i].group, group);
    }
    for (unsigned i = 0; i < CHARGES; i++) {
        held |= charges[i].n && group_within(charges[i].group, group);
    }
    return held;
}

static unsigned groups_exist(void)
{
    const struct quota *group;
    unsigned n = 0;

    for (unsigned number = 1; (group = quota_group_at(number)) != NULL; number++) {
        size_t held = group->members;

        for (unsigned i = 0; i < KYMO_LIMITS; i++) {
            held |= group->used[i];
        }
        n += held != 0;
    }
    return n;
}

/* ---- steps -------------------------------------------------------------------------- */

static struct quota *around(int group)
{
    return group < 0 ? &quota_system : model_groups[group].quota;
}

static int depth_of(int group)
{
    int depth = 0;

    for (; group >= 0; group = model_groups[group].around) {
        depth++;
    }
    return depth;
}

static void member_begins(struct member *m)
{
    const struct member *parent = &members[random_below(PROCESSES)];
    const struct quota *limits = parent->lives ? &parent->quota : &kernel;
    int group = parent->lives ? parent->group : -1;

    m->lives = true;
    m->reserve = random_below(2);
    m->pid = ++pids;
    m->group = group;
    quota_begin(&m->quota, around(m->group), limits, m->reserve);
    quota_join(m->quota.up);
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        assert_true(m->quota.limit[i] <= limits->limit[i]);
        assert_true(m->quota.limit[i] <= m->quota.up->limit[i]);
    }
    memcpy(m->limit, m->quota.limit, sizeof(m->limit));
}

/* A new process gets limits of its own: at most those of the kernel, here its parent. */
static void member_is_limited(struct member *m)
{
    uint64_t limits[KYMO_LIMITS];
    uint32_t which = random_below(1u << KYMO_LIMITS);
    bool more = false;

    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        limits[i] = random_below(10) ? random_below(20) : KYMO_LIMIT_MOST;
        more |= (which >> i & 1) && limits[i] != KYMO_LIMIT_MOST && limits[i] > kernel.limit[i];
    }
    assert_int_equal(quota_set_limits(&m->quota, &kernel, which, limits), more ? -EPERM : 0);
    for (unsigned i = 0; i < KYMO_LIMITS && !more; i++) {
        if (which >> i & 1) {
            m->limit[i] = limits[i] == KYMO_LIMIT_MOST ? kernel.limit[i] : limits[i];
        }
        assert_int_equal(m->quota.limit[i], m->limit[i]);
    }
}

static void member_opens_group(struct member *m)
{
    uint64_t limits[KYMO_LIMITS];
    uint32_t which = random_below(1u << KYMO_LIMITS);
    unsigned exist = 0;

    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        limits[i] = random_below(24);
    }
    for (unsigned g = 0; g < ngroups; g++) {
        exist += model_group_exists((int)g);
    }
    assert_int_equal(groups_exist(), exist);
    struct quota *group = quota_group_new(m->quota.up, which, limits);
    bool expected = exist < CONFIG_GROUPS && depth_of(m->group) < CONFIG_GROUP_DEPTH;
    assert_int_equal(group != NULL, expected);
    if (!group || ngroups == GROUPS_EVER) {
        return;
    }
    struct model_group *g = &model_groups[ngroups];
    *g = (struct model_group){.used = true, .around = m->group, .quota = group};
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        g->limit[i] = which >> i & 1 ? limits[i] : m->quota.up->limit[i];
    }
    struct quota *old = m->quota.up;
    quota_begin(&m->quota, group, &m->quota, m->reserve);
    quota_join(group);
    quota_leave(old);
    m->group = (int)ngroups++;
    memcpy(m->limit, m->quota.limit, sizeof(m->limit));
}

static void member_ends(struct member *m)
{
    quota_leave(m->quota.up);
    memset(m, 0, sizeof(*m));
}

static void charge_some(struct member *m)
{
    struct charge *c = &charges[random_below(CHARGES)];
    enum kymo_limit what = (enum kymo_limit)random_below(KYMO_LIMITS);
    size_t n = 1 + (random_below(4) ? 0 : random_below(6));

    if (c->n) {
        return;
    }
    bool has = model_has(m, what, n);
    assert_int_equal(quota_has(&m->quota, what, n), has);
    assert_int_equal(quota_charge(&m->quota, what, n), has);
    if (has) {
        *c = (struct charge){n, what, m->pid, m->group};
    }
}

/* As process_refund() does. */
static void release_one(struct charge *c)
{
    struct quota *payer = around(c->group);

    for (unsigned i = 0; i < PROCESSES; i++) {
        payer = members[i].lives && members[i].pid == c->pid ? &members[i].quota : payer;
    }
    quota_release(payer, c->what, c->n);
    c->n = 0;
}

static void compare(void)
{
    for (unsigned what = 0; what < KYMO_LIMITS; what++) {
        for (unsigned i = 0; i < PROCESSES; i++) {
            if (members[i].lives) {
                assert_int_equal(members[i].quota.used[what],
                                 sum_of_process(members[i].pid, (enum kymo_limit)what));
            }
        }
        assert_int_equal(quota_system.used[what], sum_of_group(-1, (enum kymo_limit)what));
    }
}

static void step(void)
{
    struct member *m = &members[random_below(PROCESSES)];
    struct charge *c = &charges[random_below(CHARGES)];

    if (!m->lives) {
        member_begins(m);
        if (random_below(3) == 0) {
            member_opens_group(m);
        } else if (random_below(2)) {
            member_is_limited(m);
        }
    } else if (random_below(100) == 0) {
        member_ends(m);
    } else if (c->n && random_below(3) == 0) {
        release_one(c);
    } else {
        charge_some(m);
    }
}

/* Groups that have ended are forgotten, so that there are always some to come. */
static void forget_groups(void)
{
    bool any = false;

    for (unsigned g = 0; g < ngroups; g++) {
        any |= model_group_exists((int)g);
    }
    ngroups = any ? ngroups : 0;
}

static void end_all(void)
{
    for (unsigned i = 0; i < PROCESSES; i++) {
        if (members[i].lives) {
            member_ends(&members[i]);
        }
    }
    for (unsigned i = 0; i < CHARGES; i++) {
        if (charges[i].n) {
            release_one(&charges[i]);
        }
    }
    compare();
    assert_int_equal(groups_exist(), 0);
    forget_groups();
}

static void test_model(void **state)
{
    (void)state;
    quota_init(&kernel, RAM);
    for (unsigned n = 0; n < STEPS; n++) {
        step();
        if (n % 64 == 0) {
            compare();
        }
        if (n % 4000 == 3999) {
            end_all();
        }
    }
    end_all();
}

/* Whoever may not take the reserve leaves exactly it; whoever may takes it. */
static void test_reserve(void **state)
{
    struct quota stranger, driver;

    (void)state;
    quota_init(&kernel, RAM);
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        enum kymo_limit what = (enum kymo_limit)i;
        uint64_t all[KYMO_LIMITS];
        size_t n = 0;

        memset(all, 0xff, sizeof(all)); /* KYMO_LIMIT_MOST */
        quota_begin(&stranger, &quota_system, &kernel, false);
        quota_begin(&driver, &quota_system, &kernel, true);
        stranger.limit[i] = driver.limit[i] = SIZE_MAX;
        if (KYMO_LIMIT_IS_BYTES(what)) {
            assert_int_equal(quota_reserved(what), RAM / 100 * 12 + RAM % 100 * 12 / 100);
            continue;
        }
        while (quota_charge(&stranger, what, 1)) {
            n++;
        }
        assert_int_equal(n, quota_system.limit[i] - quota_reserved(what));
        for (size_t left = quota_reserved(what); left > 0; left--) {
            assert_true(quota_charge(&driver, what, 1));
        }
        assert_false(quota_charge(&driver, what, 1));
        quota_release(&driver, what, quota_reserved(what));
        quota_release(&stranger, what, n);
    }
}

int main(void)
{
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_reserve),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
