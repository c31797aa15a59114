/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys as programs have them fill a table to 80 % without a loss, whatever their pattern: small
 * integers, multiples, process and thread ids, addresses, grids, diagonals, single bits, names that
 * differ in one character; in one aggregation or variable, or in many with neighbouring keys. A
 * generator makes the patterns; each is tried against the hash alone, in tables of many sizes, and
 * some against the machine.
 */
#include "test/trace/dtrace/fire/target.h"
#include "trace/dtrace/consumer.h"
#include "trace/dtrace/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed;

static uint64_t draw(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return below ? seed % below : seed;
}

/* ---- patterns ---------------------------------------------------------------------- */

enum { WORDS = 3 };

/* The n-th key: words that are each base + f(n) << shift, f chosen by the shape. */
enum shape {
    ALL_FIRST, /* the first word counts, the others are constant */
    ALL_LAST,
    GRID,     /* n % width, n / width: pid and tid */
    DIAGONAL, /* n in each word */
    OPPOSED,  /* n, and so many minus n */
    ROTATED,  /* n with its bits in both ends of the words */
    NAMES,    /* one of eight characters counts first, the next ones then */
    SHAPES,
};

struct pattern {
    enum shape shape;
    unsigned words;   /* of a key */
    unsigned numbers; /* of aggregations or variables */
    bool skewed;      /* each of them has other keys: (1,1), (2,2), (3,3) … */
    uint64_t base[WORDS], stride[WORDS];
    uint32_t width;
};

static uint64_t some_base(void)
{
    static const uint64_t bases[] = {
        0,          1,          (uint64_t)-40,      0x20000000,
        0x21001f38, 0x40080000, 0x80000000,         0xffff800000000000u,
        0x7fffffff, 0x9e3779b1, 0x7265636b00000000u};
    uint64_t n = draw(sizeof(bases) / sizeof(*bases) + 2);

    return n < sizeof(bases) / sizeof(*bases) ? bases[n] : draw(0);
}

static struct pattern some_pattern(void)
{
    static const uint64_t odd[] = {1, 1, 1, 2, 3, 5, 8, 10, 12, 24, 40, 100, 1000, 4096, 0x1001};
    struct pattern p = {
        .shape = draw(SHAPES),
        .words = 1 + (unsigned)draw(WORDS),
        .numbers = draw(3) ? 1 : 1 + (unsigned)draw(8),
        .skewed = draw(2),
        .width = 1u << draw(10),
    };

    for (unsigned i = 0; i < WORDS; i++) {
        p.base[i] = some_base();
        p.stride[i] = odd[draw(sizeof(odd) / sizeof(*odd))] << (draw(2) ? 0 : draw(52));
    }
    return p;
}

static uint64_t rotated(uint64_t n)
{
    uint64_t to = 0;

    for (unsigned bit = 0; bit < 32; bit++) {
        to |= (n >> bit & 1) << (bit % 2 ? 63 - bit : bit / 2);
    }
    return to;
}

/* As a name like "thread-a": letters, of which the last of the word counts first. */
static uint64_t lettered(uint64_t n)
{
    uint64_t word = 0x6161616161616161u;

    for (unsigned i = 0; i < 8 && n; i++, n /= 26) {
        word += n % 26 << (56 - 8 * i);
    }
    return word;
}

static uint64_t word_of(const struct pattern *p, uint64_t n, unsigned i, uint64_t all)
{
    switch (p->shape) {
    case ALL_FIRST:
        return p->base[i] + (i == 0 ? n : 0) * p->stride[i];
    case ALL_LAST:
        return p->base[i] + (i == p->words - 1 ? n : 0) * p->stride[i];
    case GRID:
        return p->base[i] + (i % 2 ? n / p->width : n % p->width) * p->stride[i];
    case DIAGONAL:
        return p->base[i] + n * p->stride[i];
    case OPPOSED:
        return p->base[i] + (i % 2 ? all - n : n) * p->stride[i];
    case ROTATED:
        return p->base[i] ^ rotated(n);
    default:
        return i == p->words - 1 ? lettered(n) : 0x2d64616572687431u;
    }
}

struct key {
    uint32_t number;
    uint64_t word[WORDS];
};

/* The n-th of all keys, which go through the numbers in turn. */
static struct key key_of(const struct pattern *p, uint32_t n, uint32_t all)
{
    struct key k = {.number = n % p->numbers};

    for (unsigned i = 0; i < p->words; i++) {
        k.word[i] = word_of(p, p->skewed ? n : n / p->numbers, i, all);
    }
    return k;
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct key));
}

/* A stride of which bits fall out of the word can give a key twice: these patterns are skipped. */
static bool are_distinct(const struct pattern *p, uint32_t all, struct key *keys)
{
    memset(keys, 0, sizeof(*keys) * all);
    for (uint32_t n = 0; n < all; n++) {
        struct key k = key_of(p, n, all);
        memcpy(&keys[n], &k, sizeof(k.word) + offsetof(struct key, word));
    }
    qsort(keys, all, sizeof(*keys), compare);
    for (uint32_t n = 1; n < all; n++) {
        if (compare(&keys[n - 1], &keys[n]) == 0) {
            return false;
        }
    }
    return true;
}

static const char *text_of(const struct pattern *p)
{
    static char text[400];
    int n =
        snprintf(text, sizeof(text), "shape %d words %u numbers %u skewed %d width %u:", p->shape,
                 p->words, p->numbers, p->skewed, p->width);

    for (unsigned i = 0; i < p->words; i++) {
        n += snprintf(text + n, sizeof(text) - (size_t)n, " %#llx + n * %#llx",
                      (unsigned long long)p->base[i], (unsigned long long)p->stride[i]);
    }
    return text;
}

/* ---- the hash alone ---------------------------------------------------------------- */

enum { MOST = 1 << 13 };

static uint32_t hash_of(const struct pattern *p, const struct key *k)
{
    uint64_t hash = DTRACE_HASH_START;

    for (unsigned i = 0; i < p->words; i++) {
        hash = dtrace_hash_add(hash, k->word[i]);
    }
    return dtrace_hash_end(hash, k->number + 1);
}

/* Puts the keys into a table; how many find their chain full. */
static uint32_t losses(const uint32_t *hashes, uint32_t n, uint32_t chains, uint32_t longest)
{
    static uint32_t length[MOST], first[MOST], next[MOST];
    uint32_t lost = 0;

    memset(length, 0, sizeof(*length) * chains);
    memset(first, 0, sizeof(*first) * chains);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t chain = hashes[i] & (chains - 1);
        struct dtrace_chain_room room = {0, 0};
        for (uint32_t at = first[chain]; at; at = next[at - 1]) {
            dtrace_chain_pass(&room, hashes[at - 1] == hashes[i]);
        }
        if (dtrace_chain_full(&room, longest)) {
            lost++;
            continue;
        }
        next[i] = first[chain];
        first[chain] = i + 1;
    }
    return lost;
}

static void test_the_hash(void **state)
{
    enum { PATTERNS = 2000 };
    static struct key keys[MOST];
    static uint32_t hashes[MOST];
    unsigned tried = 0;

    (void)state;
    seed = 20261122;
    while (tried < PATTERNS) {
        struct pattern p = some_pattern();
        uint32_t chains = 8u << draw(11), room = chains * 4 < MOST ? chains * 4 : MOST;
        uint32_t n = room * 4 / 5;
        if (!are_distinct(&p, n, keys)) {
            continue;
        }
        for (uint32_t i = 0; i < n; i++) {
            struct key k = key_of(&p, i, n);
            hashes[i] = hash_of(&p, &k);
        }
        uint32_t dynamic = chains * 4 / 5 < n ? chains * 4 / 5 : n;
        uint32_t lost = losses(hashes, n, room / 4, DTRACE_CHAIN_ENTRIES);
        lost += losses(hashes, dynamic, chains, DTRACE_CHAIN_DYNAMIC);
        if (lost) {
            fail_msg("%u of %u keys lost: %s", lost, n, text_of(&p));
        }
        tried++;
    }
}

/* ---- the machine ------------------------------------------------------------------- */

enum { NUMBERS = 8, PATTERNS = 40 };

static char *predicate(unsigned number)
{
    static char text[128];

    snprintf(text, sizeof(text),
             "ldgs arg3 r1; setx %u r2; cmp r1 r2; be t; mov r0 r3; ba e; t: setx 1 r3; e: ret r3",
             100 + number);
    return text;
}

static void fire_key(const struct pattern *p, uint32_t n, uint32_t all)
{
    struct key k = key_of(p, n, all);

    dtrace_fire(target.probe[0], k.word[0], k.word[1], k.word[2], 100 + k.number, 0);
}

static void aggregations(const struct pattern *p)
{
    static const char *const objects[] = {"ldgs arg0 r1; ret r1", "ldgs arg1 r1; ret r1",
                                          "ldgs arg2 r1; ret r1"};

    uint32_t made[WORDS];

    for (unsigned k = 0; k < p->words; k++) {
        made[k] = image_object(&target.b, objects[k]);
    }
    for (unsigned i = 0; i < p->numbers; i++) {
        clause(target.probe[0], predicate(i));
        for (unsigned k = 0; k < p->words; k++) {
            image_action(&target.b, DTRACE_ACT_DIFEXPR, made[k]);
        }
        struct dtrace_image_action *a = action(DTRACE_AGG_COUNT, NULL);
        a->nkeys = (uint16_t)p->words;
        a->uarg = i + 1;
    }
}

/* Entries of the snapped buffer, each of which must have been counted twice. */
static uint32_t entries(void)
{
    uint32_t found = 0;

    for (size_t at = 0; at < target.snap.size; found++) {
        struct dtrace_agg_entry e;
        uint64_t count;
        memcpy(&e, target.buffer + at, sizeof(e));
        memcpy(&count, target.buffer + at + e.size - sizeof(count), sizeof(count));
        assert_int_equal(count, 2);
        at += e.size;
    }
    return found;
}

static void try_aggregations(const struct pattern *p, uint32_t size)
{
    void *state = NULL;
    static struct key keys[MOST];

    target_open(&state);
    image_option(&target.b, DTRACE_OPT_AGGSIZE, size);
    aggregations(p);
    start();
    uint32_t n = size * 4 / 5 / (24 + 8 * p->words);
    if (are_distinct(p, n, keys)) {
        for (uint32_t i = 0; i < 2 * n; i++) {
            fire_key(p, i % n, n);
        }
        assert_int_equal(dtrace_aggregation_snap(target.consumer, 0, target.buffer,
                                                 sizeof(target.buffer), &target.snap),
                         0);
        if (target.snap.drops) {
            fail_msg("%u drops of %u keys: %s", (unsigned)target.snap.drops, n, text_of(p));
        }
        assert_int_equal(entries(), n);
    }
    target_close(&state);
    target.consumer = NULL;
}

static void variables(const struct pattern *p)
{
    for (unsigned i = 0; i < p->numbers; i++) {
        char text[256] = "";
        snprintf(text, sizeof(text), "var v%u global array value 8; ldgs arg0 r1; pushtv r1;", i);
        for (unsigned k = 1; k < p->words; k++) {
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "ldgs arg%u r1; pushtv r1;",
                     k);
        }
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "setx 1 r2; stgaa v%u r2; ret r0", i);
        clause(target.probe[0], predicate(i));
        action(DTRACE_ACT_DIFEXPR, text);
    }
}

static void try_variables(const struct pattern *p, uint32_t size)
{
    void *state = NULL;
    static struct key keys[MOST];

    target_open(&state);
    image_option(&target.b, DTRACE_OPT_DYNVARSIZE, size);
    variables(p);
    start();
    uint32_t n = target.consumer->dynvars.nchunks * 4 / 5;
    if (are_distinct(p, n, keys)) {
        for (uint32_t i = 0; i < n; i++) {
            fire_key(p, i, n);
        }
        if (status().dynamic_drops) {
            fail_msg("%u drops of %u: %s", (unsigned)status().dynamic_drops, n, text_of(p));
        }
    }
    target_close(&state);
    target.consumer = NULL;
}

static void test_the_machine(void **state)
{
    (void)state;
    seed = 19700101;
    for (unsigned i = 0; i < PATTERNS; i++) {
        struct pattern p = some_pattern();
        uint32_t size = 512u << draw(7);
        try_aggregations(&p, size);
        try_variables(&p, size);
    }
}

/* Nine constant keys in one BEGIN: (1,1), (2,2), (3,3) … had one hash. */
static void test_neighbouring_literals(void **state)
{
    struct pattern p = {.shape = DIAGONAL, .words = 1, .numbers = NUMBERS, .skewed = true};

    (void)state;
    for (unsigned base = 0; base < 3; base++) {
        p.base[0] = base;
        p.stride[0] = 1;
        try_aggregations(&p, 512);
        try_variables(&p, 1024);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_hash),
        cmocka_unit_test(test_the_machine),
        cmocka_unit_test(test_neighbouring_literals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
