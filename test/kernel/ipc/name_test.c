/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/ipc/name.c against a model that searches an array: names are attached, looked up and
 * detached, and processes end. Among them are names that have much in common, and EQUAL of which
 * the hashes are the same, as an attacker would choose them. No call takes more than STEPS_MOST
 * steps. A step is a basic block: name.c and trie.c are compiled with -fsanitize-coverage. SEED=n
 * repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "abi/errno.h"
#include "abi/sys/names.h"
#include "kernel/base/kercall.h"
#include "kernel/ipc/ipc.h"
#include "test/tool/random.h"
#include "test/kernel/fake/fake.h"
#include "test/kernel/fake/steps.h"

#define OWNERS 3
#define GIVEN 1200u /* names that there may be: more than fit */
#define OPERATIONS 60000u
/* The hash of a name, the ends of its search, and its path: some ten names of random ones. */
#define STEPS_MOST 400u

static struct process owners[OWNERS];
static struct thread threads[OWNERS];
static struct channel channel;

struct given {
    char name[KYMO_NAME_MAX];
    int owner; /* -1: nobody's */
    int32_t chid;
    long id;
};

static struct given given[GIVEN];
static unsigned attached;

/* ---- what name.c calls ------------------------------------------------------------- */

long copy_in_string(struct process *proc, char *to, uintptr_t from, size_t size)
{
    (void)proc;
    size_t len = strlen((const char *)from);
    if (len >= size) {
        return -ENAMETOOLONG;
    }
    memcpy(to, (const char *)from, len + 1);
    return (long)len;
}

int copy_out(struct process *proc, uintptr_t to, const void *from, size_t len)
{
    (void)proc;
    memcpy((void *)to, from, len);
    return 0;
}

struct channel *channel_find(struct process *proc, int chid)
{
    (void)proc;
    return chid > 0 ? &channel : NULL;
}

/* ---- the calls --------------------------------------------------------------------- */

static long attach(int owner, const char *name, int chid)
{
    const uintptr_t args[6] = {(uintptr_t)name, (uintptr_t)chid};
    steps = 0;
    return ker_name_attach(&threads[owner], args);
}

static long detach(int owner, long id)
{
    const uintptr_t args[6] = {(uintptr_t)id};
    steps = 0;
    return ker_name_detach(&threads[owner], args);
}

static long lookup(const char *name, struct kymo_name *found)
{
    const uintptr_t args[6] = {(uintptr_t)name, (uintptr_t)found};
    steps = 0;
    return ker_name_lookup(&threads[1], args);
}

static void change(struct given *g)
{
    int owner = (int)random_below(OWNERS);
    int32_t chid = 1 + (int32_t)random_below(100);

    if (g->owner >= 0 && owner != g->owner) {
        assert_int_equal(detach(owner, g->id), -EINVAL);
        assert_int_equal(attach(owner, g->name, chid), -EEXIST);
        steps_end(STEPS_MOST);
    } else if (g->owner >= 0) {
        assert_int_equal(detach(owner, g->id), 0);
        steps_end(STEPS_MOST);
        g->owner = -1;
        attached--;
    } else {
        bool room = quota_has(&owners[owner].quota, KYMO_LIMIT_NAMES, 1);
        g->id = attach(owner, g->name, chid);
        steps_end(STEPS_MOST);
        assert_int_equal(g->id < 0 ? g->id : 0, room ? 0 : -EAGAIN);
        if (g->id > 0) {
            g->owner = owner;
            g->chid = chid;
            attached++;
        }
    }
}

static void look(const struct given *g)
{
    struct kymo_name found = {0, 0};
    long r = lookup(g->name, &found);

    steps_end(STEPS_MOST);
    assert_int_equal(r, g->owner < 0 ? -ENOENT : 0);
    if (r == 0) {
        assert_int_equal(found.pid, owners[g->owner].pid);
        assert_int_equal(found.chid, g->chid);
    }
}

static void end_process(int owner)
{
    while (name_process_gone(&owners[owner])) { /* a few at once */
    }
    assert_true(list_empty(&owners[owner].names));
    assert_int_equal(owners[owner].quota.used[KYMO_LIMIT_NAMES], 0);
    for (unsigned i = 0; i < GIVEN; i++) {
        if (given[i].owner == owner) {
            given[i].owner = -1;
            attached--;
        }
    }
}

#define BLOCK 6 /* characters */
#define BLOCKS 4
#define EQUAL (1u << BLOCKS)
#define TRIED 400000u

struct tried {
    uint32_t hash, n;
};

static uint32_t fnv(uint32_t hash, const char *text)
{
    for (; *text; text++) {
        hash = (hash ^ (uint8_t)*text) * 0x01000193u;
    }
    return hash;
}

static int tried_compare(const void *a, const void *b)
{
    const struct tried *x = a, *y = b;

    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static void block_text(uint32_t n, char text[BLOCK + 1])
{
    uint32_t bits = n * 0x9e3779b1u;

    for (unsigned i = 0; i < BLOCK; i++) {
        text[i] = (char)('@' + (bits >> 5 * i & 31));
    }
    text[BLOCK] = '\0';
}

/* Finds two blocks that lead from this hash to one hash, which is returned. */
static uint32_t blocks_find(uint32_t hash, char blocks[2][BLOCK + 1])
{
    static struct tried tried[TRIED];

    for (uint32_t n = 0; n < TRIED; n++) {
        char text[BLOCK + 1];
        block_text(n, text);
        tried[n] = (struct tried){fnv(hash, text), n};
    }
    qsort(tried, TRIED, sizeof(tried[0]), tried_compare);
    for (uint32_t n = 1; n < TRIED; n++) {
        if (tried[n].hash == tried[n - 1].hash) {
            block_text(tried[n - 1].n, blocks[0]);
            block_text(tried[n].n, blocks[1]);
            return tried[n].hash;
        }
    }
    fail_msg("no two blocks with one hash");
    return 0;
}

/* The first names given: all have one hash. */
static void names_with_one_hash(void)
{
    char blocks[BLOCKS][2][BLOCK + 1];
    uint32_t hash = 0x811c9dc5u;

    for (unsigned b = 0; b < BLOCKS; b++) {
        hash = blocks_find(hash, blocks[b]);
    }
    for (unsigned i = 0; i < EQUAL; i++) {
        for (unsigned b = 0; b < BLOCKS; b++) {
            memcpy(given[i].name + b * BLOCK, blocks[b][i >> b & 1], BLOCK + 1);
        }
        assert_int_equal(fnv(0x811c9dc5u, given[i].name), hash);
    }
}

static void name_of(unsigned i, char *name)
{
    if (i % 3 == 0) {
        snprintf(name, KYMO_NAME_MAX, "server/%u", i);
    } else if (i % 3 == 1) {
        memset(name, 'a', i % (KYMO_NAME_MAX - 8));
        snprintf(name + i % (KYMO_NAME_MAX - 8), 8, "%x", i);
    } else {
        snprintf(name, KYMO_NAME_MAX, "%08x/%08x", random_below(0x10000000), i);
    }
}

static void names_are_found(void **state)
{
    (void)state;
    unsigned full = 0;
    for (unsigned i = 0; i < GIVEN; i++) {
        name_of(i, given[i].name);
    }
    names_with_one_hash();
    for (unsigned n = 0; n < OPERATIONS; n++) {
        struct given *g = &given[random_below(GIVEN)];
        if (g->owner >= 0 && n / 5000 % 2 == 0) { /* they become many, then fewer */
            look(g);
        } else {
            change(g);
        }
        look(&given[random_below(GIVEN)]);
        full += attached == CONFIG_NAMES;
        assert_int_equal(quota_system.used[KYMO_LIMIT_NAMES], attached);
        if (n % 9000 == 8999) {
            end_process((int)random_below(OWNERS));
        }
    }
    assert_true(full > 0);
    print_message("at most %u steps\n", steps_worst);
}

static void what_is_refused(void **state)
{
    (void)state;
    static const char *const system_names[] = {"console", "disk0/a", "tracelogger"};
    struct kymo_name found;

    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(attach(1, system_names[i], 1), -EPERM);
        assert_true(attach(0, system_names[i], 1) > 0);
    }
    assert_true(attach(1, "consoles", 1) > 0);
    assert_int_equal(attach(1, "", 1), -EINVAL);
    assert_int_equal(attach(1, "x", 0), -EBADF);
    assert_int_equal(lookup("", &found), -ENOENT);
    assert_int_equal(detach(1, 0), -EINVAL);
    assert_int_equal(detach(1, CONFIG_NAMES + 1), -EINVAL);
    assert_int_equal(detach(1, -1), -EINVAL);
    end_process(0);
    end_process(1);
    assert_int_equal(lookup("console", &found), -ENOENT);
}

static int begin(void **state)
{
    (void)state;
    for (int i = 0; i < OWNERS; i++) {
        fake_account(&owners[i]);
        owners[i].pid = i + 1;
        list_init(&owners[i].names);
        threads[i].proc = &owners[i];
    }
    for (unsigned i = 0; i < GIVEN; i++) {
        given[i].owner = -1;
    }
    owners[0].ability = ABILITY_DEVICE | ABILITY_TRACE;
    kernel_debug(cpus[0].locked = true);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(names_are_found),
    };

    random_start();
    return cmocka_run_group_tests(tests, begin, NULL);
}
