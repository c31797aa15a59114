/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random clauses on the whole machine: what they record and aggregate is what the naive interpreter
 * says, byte for byte, and no probe firing costs more than dtrace_ecb_cost() says. And images with
 * one bit flipped: refused, or run without harm, within the bound too. And wild ones, of all
 * actions under all policies, likewise: what they record other tests know. STEPS images (a tenth of
 * what interpreter_test.c does) from SEED, as there.
 */
#include "test/trace/dtrace/machine/fake.h"
#include "test/trace/dtrace/random/clauses.h"
#include "test/trace/dtrace/random/pair.h"
#include "trace/dtrace/cost.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 500000,
    SHARE = 10,
    BUFFER = CLAUSES_BUFFER,
    RECORDS = 64,
    DATA = 1024,
    ENTRIES = 64
};
enum { MEMORY = 4 << 20, WILD_MEMORY = 1 << 18 };
#define WRONG(...) (void)snprintf(pair.wrong, sizeof(pair.wrong), __VA_ARGS__)

/* What should have been recorded. */
struct record {
    uint32_t epid;
    uint64_t time;
    uint8_t data[DATA]; /* of its actions, one after the other */
    size_t size;
};

struct entry {
    uint32_t id;
    uint8_t key[DATA];
    size_t key_size;
    int64_t value[2]; /* count, sum, min, max: one; avg: two */
};

static struct {
    struct record records[RECORDS];
    unsigned nrecords;
    struct entry entries[ENTRIES];
    unsigned nentries;
    uint64_t drops, errors;
    size_t offset; /* in the buffer */
} model;

static struct {
    unsigned refused, ran, flipped_ran, wild_ran, unknown, wrong;
    uint64_t records, entries;
} counts;

static struct dtrace_consumer *consumer;
static uint32_t probe;

/* ---- the model --------------------------------------------------------------------- */

static uint64_t evaluate(uint32_t number)
{
    struct dif_object o = pair.program.objects[number - 1].object;

    o.strings = consumer->code.objects[number - 1].strings;
    return n_run(&pair.naive, &o);
}

/* What an object's value puts into a record or key: bytes. */
static size_t datum(uint32_t number, uint8_t *to)
{
    const struct dif_type *t = &pair.program.objects[number - 1].object.result;
    uint32_t size = t->kind == DIF_TYPE_STRING && t->size == 0 ? pair.strsize : t->size;
    uint64_t value = evaluate(number);

    memset(to, 0, size);
    if (pair.naive.fault != DIF_FAULT_NONE || size == 0) {
        return size;
    }
    if (t->kind == DIF_TYPE_STRING) {
        n_text(&pair.naive, value, size, false, to);
    } else if (t->ref) {
        n_block(&pair.naive, to, value, size, false);
    } else {
        memcpy(to, &value, size);
    }
    return size;
}

static struct entry *entry_of(uint32_t id, const uint8_t *key, size_t size, uint16_t kind)
{
    for (unsigned i = 0; i < model.nentries; i++) {
        struct entry *e = &model.entries[i];
        if (e->id == id && e->key_size == size && memcmp(e->key, key, size) == 0) {
            return e;
        }
    }
    struct entry *e = &model.entries[model.nentries++];
    *e = (struct entry){.id = id, .key_size = size};
    e->value[0] = kind == DTRACE_AGG_MIN ? INT64_MAX : kind == DTRACE_AGG_MAX ? INT64_MIN : 0;
    memcpy(e->key, key, size);
    return e;
}

static void fold(struct entry *e, uint16_t kind, int64_t v)
{
    switch (kind) {
    case DTRACE_AGG_COUNT:
        e->value[0]++;
        break;
    case DTRACE_AGG_SUM:
        e->value[0] = (int64_t)((uint64_t)e->value[0] + (uint64_t)v);
        break;
    case DTRACE_AGG_MIN:
        e->value[0] = v < e->value[0] ? v : e->value[0];
        break;
    case DTRACE_AGG_MAX:
        e->value[0] = v > e->value[0] ? v : e->value[0];
        break;
    default:
        e->value[0]++;
        e->value[1] = (int64_t)((uint64_t)e->value[1] + (uint64_t)v);
    }
}

static void run_aggregation(const struct dtrace_image_action *a, uint32_t id)
{
    uint8_t key[DATA];
    size_t size = 0;
    uint64_t value = 0;

    for (unsigned i = a->nkeys; i > 0; i--) {
        size += datum(a[-(int)i].object, key + size);
        if (pair.naive.fault != DIF_FAULT_NONE) {
            return;
        }
    }
    if (a->object) {
        value = evaluate(a->object);
    }
    if (pair.naive.fault == DIF_FAULT_NONE) {
        fold(entry_of(id, key, size, a->kind), a->kind, (int64_t)value);
    }
}

static bool is_key(const struct dtrace_image_ecb *e, uint32_t n)
{
    const struct dtrace_image_action *all = pair.image.actions + e->first_action;

    for (uint32_t i = n + 1; i < e->nactions; i++) {
        if (DTRACE_ACT_IS_AGG(all[i].kind)) {
            return n + all[i].nkeys >= i;
        }
    }
    return false;
}

/* All actions; false: a fault. aggs: ids used up before this clause. */
static bool run_actions(const struct dtrace_image_ecb *e, struct record *r, uint32_t aggs)
{
    const struct dtrace_image_action *all = pair.image.actions + e->first_action;

    for (uint32_t i = 0; i < e->nactions; i++) {
        if (DTRACE_ACT_IS_AGG(all[i].kind)) {
            run_aggregation(&all[i], ++aggs);
        } else if (!is_key(e, i)) {
            r->size += datum(all[i].object, r->data + r->size);
        }
        if (pair.naive.fault != DIF_FAULT_NONE) {
            return false;
        }
    }
    return true;
}

static void run_clause(uint32_t n, uint32_t aggs)
{
    const struct dtrace_image_ecb *e = &pair.image.ecbs[n];
    const struct dtrace_ecb *real = &consumer->ecbs[n];
    struct naive *v = &pair.naive;
    size_t start = (model.offset + real->align - 1) & ~(size_t)(real->align - 1);
    size_t scratch = (model.offset + 8 + real->size + 7) & ~(size_t)7;
    size_t room = (BUFFER & ~7u);

    v->epid = n + 1;
    v->scratch.base =
        (uintptr_t)consumer->cpus[0].principal.active + (scratch < room ? scratch : 0);
    v->scratch.size = scratch < room ? room - scratch : 0;
    memset(v->scratch.known, 0, v->scratch.size);
    n_clause(v);
    if (e->predicate && (evaluate(e->predicate) == 0 || v->fault != DIF_FAULT_NONE)) {
        model.errors += v->fault != DIF_FAULT_NONE;
        return;
    }
    if (real->size && (start > room || real->size > room - start)) {
        model.drops++;
        return;
    }
    struct record *r = &model.records[model.nrecords];
    *r = (struct record){.epid = n + 1};
    if (!run_actions(e, r, aggs)) {
        model.errors++;
    } else if (real->size) {
        r->time = v->present & 1 ? v->once[0] : (v->now += 1000);
        model.offset = start + real->size;
        model.nrecords++;
    }
}

static void run_model(void)
{
    uint32_t aggs = 0;

    pair.naive.now = fake.now;
    pair.naive.lookups = fake.lookups;
    n_firing(&pair.naive);
    for (uint32_t n = 0; n < pair.image.necbs; n++) {
        const struct dtrace_image_ecb *e = &pair.image.ecbs[n];
        run_clause(n, aggs);
        for (uint32_t i = 0; i < e->nactions; i++) {
            aggs += DTRACE_ACT_IS_AGG(pair.image.actions[e->first_action + i].kind);
        }
    }
}

/* ---- comparing --------------------------------------------------------------------- */

static void compare_record(const struct record *r, const uint8_t *at)
{
    struct dtrace_epid_desc desc;
    struct dtrace_recdesc recs[40];
    struct dtrace_record head;
    uint32_t nrecs = 40;
    size_t done = 0;

    memcpy(&head, at, sizeof(head));
    dtrace_epid_describe(consumer, r->epid, &desc, recs, &nrecs);
    if (head.epid != r->epid || ((uint64_t)head.time_high << 32 | head.time_low) != r->time) {
        WRONG("a record of EPID %u, naive %u", head.epid, r->epid);
        return;
    }
    for (uint32_t i = 0; i < nrecs; i++) {
        if (memcmp(at + recs[i].offset, r->data + done, recs[i].size) != 0) {
            WRONG("EPID %u, datum %u differs", r->epid, i);
        }
        done += recs[i].size;
    }
    if (done != r->size) {
        WRONG("EPID %u: %zu bytes of data, naive %zu", r->epid, done, r->size);
    }
}

static void compare_records(void)
{
    static uint8_t buffer[BUFFER];
    struct dtrace_snap snap;
    size_t at = 0;
    unsigned n = 0;

    dtrace_buffer_snap(consumer, 0, buffer, sizeof(buffer), &snap);
    while (at < snap.size && n < model.nrecords && !pair.wrong[0]) {
        uint32_t epid;
        memcpy(&epid, buffer + at, 4);
        if (epid == 0) {
            at += 4;
            continue;
        }
        compare_record(&model.records[n++], buffer + at);
        at += consumer->ecbs[epid - 1].size;
    }
    if (!pair.wrong[0] && (n != model.nrecords || at != snap.size || snap.drops != model.drops ||
                           snap.errors != model.errors)) {
        WRONG("%u of %u records, %d drops, naive %d, %d errors, naive %d", n, model.nrecords,
              (int)snap.drops, (int)model.drops, (int)snap.errors, (int)model.errors);
    }
    counts.records += n;
}

static const struct entry *find_entry(const struct dtrace_agg_entry *real, const uint8_t *at)
{
    const struct dtrace_aggregation *a = &consumer->aggs[real->id - 1];

    for (unsigned i = 0; i < model.nentries; i++) {
        const struct entry *e = &model.entries[i];
        size_t done = 0;
        bool same = e->id == real->id;
        for (uint32_t k = 0; k < a->nkeys && same; k++) {
            same = memcmp(at + a->keys[k].rec.offset, e->key + done, a->keys[k].rec.size) == 0;
            done += a->keys[k].rec.size;
        }
        if (same) {
            return e;
        }
    }
    return NULL;
}

static void compare_entries(void)
{
    static uint8_t buffer[8192];
    struct dtrace_snap snap;
    unsigned n = 0;

    if (dtrace_aggregation_snap(consumer, 0, buffer, sizeof(buffer), &snap) != 0 || snap.drops) {
        return; /* no aggregation, or too much for one */
    }
    for (size_t at = 0; at < snap.size && !pair.wrong[0]; n++) {
        struct dtrace_agg_entry real;
        memcpy(&real, buffer + at, sizeof(real));
        const struct dtrace_aggregation *a = &consumer->aggs[real.id - 1];
        const struct entry *e = find_entry(&real, buffer + at);
        if (!e || memcmp(buffer + at + a->value, e->value, a->rec.size) != 0) {
            WRONG("an entry of aggregation %u differs", real.id);
        }
        at += real.size;
    }
    if (!pair.wrong[0] && n != model.nentries) {
        WRONG("%u entries, naive %u", n, model.nentries);
    }
    counts.entries += n;
}

/* ---- guards ------------------------------------------------------------------------ */

enum { GUARD = 0x5a, GUARDED = 4096 }; /* bytes of each region, from its beginning */

/* All that a probe firing on this CPU has no business with, while its halves lie in one block. */
static void each_guard(void (*with)(const char *what, uint8_t *at, size_t bytes))
{
    for (unsigned cpu = 0; cpu < FAKE_CPUS; cpu++) {
        struct dtrace_consumer_cpu *c = &consumer->cpus[cpu];
        bool here = cpu == fake.cpu;
        if (c->principal.active && (!here || c->principal.policy == DTRACE_POLICY_SWITCH)) {
            with("the other half of a buffer", c->principal.spare, c->principal.size);
        }
        if (c->principal.active && !here) {
            with("another CPU's buffer", c->principal.active, c->principal.size);
        }
        if (c->agg.active) {
            size_t half = (size_t)(c->agg.spare - c->agg.active); /* nothing is snapped before */
            with("the other half of aggregations", c->agg.spare, half);
        }
    }
}

static void put_guard(const char *what, uint8_t *at, size_t bytes)
{
    (void)what;
    memset(at, GUARD, bytes < GUARDED ? bytes : GUARDED);
}

static void check_guard(const char *what, uint8_t *at, size_t bytes)
{
    for (size_t i = 0; i < bytes && i < GUARDED && !pair.wrong[0]; i++) {
        if (at[i] != GUARD) {
            WRONG("%s: byte %zu was written", what, i);
        }
    }
}

/* ---- one image --------------------------------------------------------------------- */

/* Each clause that faults makes ERROR's run. */
/* Blocks and bytes a step of the bound: of the dearest firing; the sum over all. */
static double dearest, each_sum;
static uint64_t firings;

static void fire(const struct dtrace_image *image)
{
    uint64_t before = counted, steps = 0, *a = pair.args;
    struct dtrace_bounding by = {.weights = &dtrace_weights_steps,
                                 .strsize = consumer->code.strsize};

    by.error = dtrace_error_bound(image, &by);
    for (uint32_t i = 0; i < image->ecbs.count; i++) {
        uint64_t more = dtrace_ecb_bound(image, i, &by);
        steps = steps + more < steps ? UINT64_MAX : steps + more;
    }
    unsigned allocs = fake.allocs;
    before = counted;
    dtrace_fire(probe, a[0], a[1], a[2], a[3], a[4]);
    double each = steps ? (double)(counted - before) / (double)steps : 0; /* 0: no clauses */
    dearest = each > dearest ? each : dearest;
    each_sum += each;
    firings++;
    if ((counted - before) / PAIR_WORK_STEP > steps) {
        WRONG("%" PRIu64 " blocks and bytes for %" PRIu64 " steps", counted - before, steps);
    }
    if (fake.toxic_read) {
        WRONG("toxic memory was read");
    }
    if (fake.allocs != allocs) {
        WRONG("a firing allocated");
    }
}

/* Nothing of it is ever read before it is written. */
static void fire_guarded(const struct dtrace_image *image)
{
    each_guard(put_guard);
    fire(image);
    each_guard(check_guard);
}

static bool create(const struct dtrace_image *image, size_t size)
{
    unsigned cpu;

    if (dtrace_consumer_create(image, size, 0, &consumer, &pair.refusal) != 0) {
        counts.refused++;
        return false;
    }
    dtrace_consumer_go(consumer, &cpu);
    return true;
}

/* As many probe firings as the model has room for. */
static void check_against_model(const struct dtrace_image *image)
{
    pair.consumer.code = consumer->code;
    pair.consumer.dynvars = consumer->dynvars;
    consumer->dynvars.batch = 1;
    memset(&model, 0, sizeof(model));
    pair_copy_fake(&pair.naive);
    pair_copy(&pair.naive, 0, PAIR_SCRATCH);
    pair.naive.id = probe;
    for (unsigned i = 1 + r_below(6); i > 0 && !pair.wrong[0] && !pair.naive.unknown; i--) {
        run_model();
        fire_guarded(image);
        pair.naive.fault = DIF_FAULT_BADADDR; /* scratch is not looked at: it is the buffer's */
        pair.consumer.dynvars = consumer->dynvars;
        if (!pair.naive.unknown && !pair.wrong[0]) {
            pair_compare_memory();
        }
    }
    if (!pair.naive.unknown && !pair.wrong[0]) {
        compare_records();
        compare_entries();
    }
    counts.unknown += pair.naive.unknown;
    n_forget(&pair.naive);
    counts.ran++;
}

static void check_flipped(struct dtrace_image *image)
{
    uint32_t bit = r_below((uint32_t)pair.image.size * 8);

    pair.image.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    if (getenv("SHOW")) {
        printf("then with bit %u of byte %u flipped\n", bit % 8, bit / 8);
    }
    if (!create(image, pair.image.size)) {
        return;
    }
    for (unsigned i = 0; i < 3 && !pair.wrong[0]; i++) {
        fire_guarded(image);
    }
    counts.flipped_ran++;
    dtrace_consumer_destroy(consumer);
}

static void show(void)
{
    for (uint32_t i = 0; i < pair.image.necbs; i++) {
        const struct dtrace_image_ecb *e = &pair.image.ecbs[i];
        printf("clause %u: predicate %u;", i, e->predicate);
        for (uint32_t n = 0; n < e->nactions; n++) {
            const struct dtrace_image_action *a = &pair.image.actions[e->first_action + n];
            printf(" %x of object %u, %u keys;", a->kind, a->object, a->nkeys);
        }
        printf("\n");
    }
    p_show(&pair.program);
}

/* ---- wild ones --------------------------------------------------------------------- */

/* Between probe firings it is read and cleaned, as it would be. */
static void check_wild(void)
{
    static uint8_t taken[1 << 12];
    struct dtrace_image *image = clauses_make_wild(probe);
    unsigned refused = counts.refused;
    struct dtrace_snap snap;

    if (getenv("SHOW")) {
        printf("then a wild one\n");
        show();
    }
    fake.alloc_limit = WILD_MEMORY;
    bool made = create(image, pair.image.size);
    fake.alloc_limit = MEMORY;
    if (!made) {
        counts.refused = refused;
        return;
    }
    for (unsigned i = 0; i < 12 && !pair.wrong[0]; i++) {
        fake.cpu = r_below(FAKE_CPUS);
        fire(image);
        if (r_chance(30)) {
            dtrace_buffer_snap(consumer, fake.cpu, taken, sizeof(taken), &snap);
        }
        if (r_chance(30)) {
            dtrace_machine_clean();
        }
    }
    fake.cpu = 0;
    counts.wild_ran++;
    dtrace_consumer_destroy(consumer);
}

/* ---- all --------------------------------------------------------------------------- */

static bool one(uint64_t seed)
{
    r_seed(seed);
    pair_world();
    pair.wrong[0] = '\0';
    fake.state.predicate_cache = 0;
    struct dtrace_image *image = clauses_make(probe);
    if (getenv("SHOW")) {
        show();
    }
    if (create(image, pair.image.size)) {
        check_against_model(image);
        dtrace_consumer_destroy(consumer);
    } else {
        WRONG("refused: %s", dtrace_refusal_text(&pair.refusal));
    }
    if (!pair.wrong[0]) {
        check_flipped(image);
    }
    if (!pair.wrong[0]) {
        check_wild();
    }
    if (pair.wrong[0]) {
        printf("FAILED: SEED=%#" PRIx64 " STEPS=1: %s\n", seed, pair.wrong);
        counts.wrong++;
    }
    return counts.wrong < 5;
}

static uint64_t number(const char *name, uint64_t absent)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 0) : absent;
}

static uint64_t sixth(uint32_t id, void *arg, unsigned n)
{
    (void)id;
    (void)arg;
    return 1000 + n;
}

int main(void)
{
    static const struct dtrace_provider_ops ops = {.argument = sixth};
    static const struct dtrace_provider provider = {"prov", &ops};
    uint64_t seed = number("SEED", 1), steps = number("STEPS", STEPS);

    steps = steps > 1 ? steps / SHARE : 1;
    dtrace_machine_init();
    dtrace_provider_register(&provider);
    probe = dtrace_probe_create(&provider, "mod", "func", "name", NULL);
    pair_init_on(dtrace_probe_at(probe));
    fake.alloc_limit = MEMORY;
    for (uint64_t i = 0; i < steps && one(seed + i * (steps > 1 ? 0x632be59bd9b4e019u : 0)); i++) {
    }
    printf("SEED=%" PRIu64 ": %u images, %u refused; %" PRIu64 " records, %" PRIu64
           " entries the same; %u with a flipped bit and %u wild ones ran, %u looked at what isn't "
           "known\n",
           seed, counts.ran, counts.refused, counts.records, counts.entries, counts.flipped_ran,
           counts.wild_ran, counts.unknown);
    printf("blocks and bytes a step of a firing's bound: at most %.1f, on average %.2f\n", dearest,
           each_sum / (double)(firings + !firings));
    bool dull = steps >= 1000 && (counts.records < steps || counts.entries < steps / 20 ||
                                  counts.flipped_ran < steps / 10 || counts.wild_ran < steps / 2 ||
                                  counts.unknown > steps / 10);
    printf("%u passed, %u failed\n", counts.ran - counts.wrong, counts.wrong + dull);
    return counts.wrong || dull;
}
