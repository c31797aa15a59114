/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers in retained memory (trace/dtrace/retained*.c), and what lib/retain finds in the window:
 * after any instruction of a probe firing all records up to the newest whole one, and each
 * aggregation's entry as before or after that probe firing; then the same with damage of each
 * part: no record and no value that was never there, and what is missing is told. A failure prints
 * its seed; SEED=n repeats it, ROUNDS=n makes more.
 *
 * The instructions are those of this machine: the trap flag stops after each (x86-64).
 */
#include "test/trace/dtrace/fire/target.h"
#include "lib/retain/retain.h"
#include "lib/retain/sum.h"
#include "trace/dtrace/consumer.h"
#include "trace/dtrace/log_event.h"
#include "trace/dtrace/retained.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AGGS = 5, KEYS = 4, MADE = 1 << 14, WORDS = 128, USUAL = 2048, LEAST = 60 };

static struct retain found;
static uint8_t image[FAKE_WINDOW];
static uint32_t random_state = 1;

static uint32_t below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % n;
}

/* ---- what must be there ------------------------------------------------------------ */

static struct {
    uint32_t made[FAKE_CPUS];                     /* records; number n says n */
    uint64_t value[FAKE_CPUS][AGGS][KEYS][WORDS]; /* as dtrace_agg_update() makes them */
    uint64_t next[FAKE_CPUS][AGGS][KEYS][WORDS];  /* after the probe firing under way */
    bool there[FAKE_CPUS][AGGS][KEYS], comes[FAKE_CPUS][AGGS][KEYS];
    bool firing;
    unsigned cpu;
} model;

static const uint16_t kinds[AGGS] = {DTRACE_AGG_COUNT, DTRACE_AGG_SUM, DTRACE_AGG_AVG,
                                     DTRACE_AGG_STDDEV, DTRACE_AGG_QUANTIZE};
static const uint32_t value_words[AGGS] = {1, 1, 2, 4, 127};

static void add(unsigned cpu, uint32_t key, uint64_t value)
{
    for (unsigned i = 0; i < AGGS; i++) {
        struct dtrace_aggregation a = {.kind = kinds[i], .rec.size = value_words[i] * 8};
        unsigned k = i == 2 ? 0 : key; /* the average has no key */
        if (!model.there[cpu][i][k]) {
            dtrace_agg_init(&a, model.next[cpu][i][k]);
        }
        dtrace_agg_update(&a, model.next[cpu][i][k], value, 1);
        model.comes[cpu][i][k] = true;
    }
}

static void is_over(void)
{
    memcpy(model.value, model.next, sizeof(model.value));
    memcpy(model.there, model.comes, sizeof(model.there));
    model.firing = false;
}

/* ---- the consumer ------------------------------------------------------------------ */

static void aggregate(uint16_t kind, bool key)
{
    if (key) {
        action(DTRACE_ACT_DIFEXPR, "ldgs arg0 r1; ret r1");
    }
    action(kind, kind == DTRACE_AGG_COUNT ? NULL : "ldgs arg1 r1; ret r1")->nkeys = key;
}

/* p0 { trace(arg0); trace(arg1); } p1 { trace(arg0); } p2: all aggregations. */
static void build(uint32_t bufsize)
{
    clause(target.probe[0], NULL);
    action(DTRACE_ACT_DIFEXPR, "ldgs arg0 r1; ret r1");
    action(DTRACE_ACT_DIFEXPR, "ldgs arg1 r1; ret r1");
    clause(target.probe[1], NULL);
    action(DTRACE_ACT_DIFEXPR, "ldgs arg0 r1; ret r1");
    clause(target.probe[2], NULL);
    for (unsigned i = 0; i < AGGS; i++) {
        aggregate(kinds[i], i != 2);
    }
    image_option(&target.b, DTRACE_OPT_RETAIN, 1);
    image_option(&target.b, DTRACE_OPT_BUFPOLICY, DTRACE_POLICY_RING);
    image_option(&target.b, DTRACE_OPT_BUFSIZE, bufsize);
    image_option(&target.b, DTRACE_OPT_AGGSIZE, 16384);
}

/* What a kernel makes of its window (kernel/observe/retain.c, kernel/dtrace/retained.c). */
static void put_window(uint8_t *window)
{
    struct kymo_retain_header *header = (void *)window;
    struct kymo_retain_d *d = (void *)(window + FAKE_D);
    size_t from = offsetof(struct kymo_retain_header, boots);

    *header = (struct kymo_retain_header){
        .magic = KYMO_RETAIN_MAGIC,
        .version = KYMO_RETAIN_VERSION,
        .bytes = sizeof(*header),
        .boots = 1,
        .word_bits = 64,
        .base = (uintptr_t)fake_window,
        .window = FAKE_WINDOW,
        .areas = FAKE_AREAS,
    };
    header->crc = retain_crc(window + from, sizeof(*header) - from);
    memset(d, 0, KYMO_RETAIN_D_MOST * sizeof(*d));
    if (fake.is) {
        *d = *fake.is;
        d->magic = KYMO_RETAIN_MAGIC;
        d->boots = 1;
        d->tables_crc = retain_crc(window + d->tables, (d->records + d->aggregations) * 4);
        d->notes_crc = retain_crc(window + d->notes, d->notes_bytes);
        from = offsetof(struct kymo_retain_d, boots);
        d->crc = retain_crc((uint8_t *)d + from, sizeof(*d) - from);
    }
}

static const uint8_t some_notes[1300] = {[0] = 7, [1299] = 9};

static uint32_t least; /* records that a ring holds, whatever their sizes are */

static void begin_with(uint32_t bufsize)
{
    least = bufsize < USUAL ? 1 : LEAST;
    memset(&model, 0, sizeof(model));
    memset(fake_window + FAKE_FREE, 0xa5, FAKE_WINDOW - FAKE_FREE);
    build(bufsize);
    start();
    assert_int_equal(dtrace_kept_notes(target.consumer, some_notes, sizeof(some_notes)), 0);
    put_window(fake_window);
}

static void begin(void)
{
    begin_with(USUAL);
}

static void record_on(unsigned cpu)
{
    uint32_t n = model.made[cpu];

    fake.cpu = model.cpu = cpu;
    model.firing = true;
    dtrace_fire(target.probe[n % 3 == 0], n, ~n, 0, 0, 0);
    model.made[cpu]++;
    is_over();
}

static void aggregate_on(unsigned cpu, uint32_t key, uint64_t value)
{
    fake.cpu = model.cpu = cpu;
    add(cpu, key, value);
    model.firing = true;
    dtrace_fire(target.probe[2], key, value, 0, 0, 0);
    is_over();
}

/* ---- what is there ----------------------------------------------------------------- */

struct seen {
    uint32_t first, last, records, made; /* of one CPU */
    uint32_t entries, counted;
    bool key[AGGS][KEYS];
};
static struct seen seen[FAKE_CPUS];
static uint8_t notes_seen[sizeof(some_notes)];
static uint32_t nnotes;
static const char *wrong;

#define WANT(condition) \
    do { \
        if (!(condition) && !wrong) { \
            wrong = #condition; \
        } \
    } while (0)

static uint64_t u64(const uint32_t *words, unsigned at)
{
    return words[at] | (uint64_t)words[at + 1] << 32;
}

/* words: id, number, then struct dtrace_record and data: at 12 bytes padding to 16. */
static void see_record(unsigned cpu, const uint32_t *w, unsigned n)
{
    struct seen *s = &seen[cpu];
    uint32_t value = w[6], number = w[1];
    bool large = w[2] == 1;

    WANT(n >= 8 && w[2] >= 1 && w[2] <= 2 && w[7] == 0);
    WANT(value < model.made[cpu] + (model.firing && model.cpu == cpu));
    WANT((value % 3 == 0) == !large);
    WANT(!large || (n >= 10 && w[8] == ~value && w[9] == 0));
    WANT(s->records == 0 || value > s->last);
    s->first = s->records == 0 ? value : s->first;
    s->last = value;
    s->records++;
    WANT(number < s->records + found.losses.records + 1);
}

static unsigned agg_of(uint32_t id)
{
    return id - 1;
}

static void see_entry(const uint32_t *w, unsigned n)
{
    unsigned cpu = w[2], i = agg_of(w[4]), value = i == 2 ? 8 : 10;
    uint64_t key = i == 2 ? 0 : u64(w, 8);

    WANT(cpu < FAKE_CPUS && i < AGGS && n >= value + 2 * value_words[i % AGGS] && key < KEYS);
    if (wrong) {
        return;
    }
    const uint64_t *before = model.value[cpu][i][key], *behind = model.next[cpu][i][key];
    size_t bytes = value_words[i] * 8;
    WANT((model.there[cpu][i][key] && memcmp(&w[value], before, bytes) == 0) ||
         (model.firing && model.cpu == cpu && memcmp(&w[value], behind, bytes) == 0));
    WANT(!seen[cpu].key[i][key]);
    seen[cpu].key[i][key] = true;
    seen[cpu].entries++;
}

static void see(unsigned cpu, unsigned number, const uint32_t *w, unsigned n)
{
    switch (number) {
    case DTRACE_LOG_NOTES:
        WANT(w[1] == sizeof(some_notes) && w[2] < sizeof(some_notes));
        for (unsigned i = 0; i < DTRACE_LOG_NOTES_PART && w[2] + i < sizeof(some_notes); i++) {
            notes_seen[w[2] + i] = ((const uint8_t *)&w[3])[i];
            nnotes++;
        }
        break;
    case DTRACE_LOG_RECORD:
        see_record(cpu, w, n);
        break;
    case DTRACE_LOG_TAKEN:
        seen[cpu].made = w[2];
        break;
    case DTRACE_LOG_ENTRY:
        see_entry(w, n);
        break;
    case DTRACE_LOG_ENTRIES:
        seen[w[2] % FAKE_CPUS].counted = w[3];
        break;
    default:
        WANT(number == DTRACE_LOG_STATUS);
    }
}

static void see_piece(const struct retain_piece *piece)
{
    static uint32_t words[RETAIN_EVENT_WORDS];
    unsigned n = 0;

    for (uint32_t i = 0; i < piece->count; i++) {
        const struct trace_slot *slot = &piece->slots[i];
        uint32_t structure = TRACE_GET_STRUCT(slot->header);
        if (TRACE_GET_CLASS(slot->header) != TRACE_CLASS_D) {
            continue;
        }
        n = structure == TRACE_STRUCT_CB ? 0 : n;
        WANT(n + 2 <= RETAIN_EVENT_WORDS);
        words[n++] = slot->d1;
        words[n++] = slot->d2;
        if (structure == TRACE_STRUCT_CE) {
            see(piece->cpu, TRACE_GET_EVENT(slot->header), words, n);
        }
    }
}

static void look(uint8_t *window)
{
    struct retain_memory memory = {window, FAKE_WINDOW};
    struct retain_piece piece;

    memset(seen, 0, sizeof(seen));
    nnotes = 0;
    wrong = NULL;
    if (retain_open(&found, retain_memory_read, &memory) != 0) {
        return;
    }
    while (retain_next(&found, &piece)) {
        see_piece(&piece);
    }
}

/* Undamaged. */
static void look_for_all(void)
{
    look(fake_window);
    WANT(found.losses.records == 0 && found.losses.keys == 0 && found.losses.programs == 0);
    WANT(nnotes == sizeof(some_notes) && memcmp(notes_seen, some_notes, nnotes) == 0);
    for (unsigned cpu = 0; cpu < FAKE_CPUS; cpu++) {
        const struct seen *s = &seen[cpu];
        uint32_t made = model.made[cpu];
        WANT(s->made == s->records && s->counted == s->entries);
        WANT(s->records >= (made < least ? made : least));
        WANT(s->records == 0 || s->last - s->first + 1 == s->records);
        WANT(made == 0 || s->last + 1 >= made);
        for (unsigned i = 0; i < AGGS * KEYS; i++) {
            WANT(!model.there[cpu][i / KEYS][i % KEYS] || s->key[i / KEYS][i % KEYS]);
        }
    }
}

/* ---- after any instruction --------------------------------------------------------- */

static volatile unsigned steps, looks;

static void trapped(int signal)
{
    (void)signal;
    steps++;
    if (model.firing && below(12) == 0) {
        look_for_all();
        looks++;
        if (wrong) {
            fprintf(stderr, "instruction %u: not so: %s\n", steps, wrong);
            abort();
        }
    }
}

/* Sets or clears the trap flag; below the red zone. */
static inline void step(bool on)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\t"
                     "orq %0, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp"
                     :
                     : "r"(on ? 0x100ul : 0ul)
                     : "memory", "cc");
}

static void any_instruction(void **state)
{
    struct sigaction action = {.sa_handler = trapped}, before;
    const char *rounds = getenv("ROUNDS");
    unsigned firings = rounds ? (unsigned)atoi(rounds) / 10 : 260;

    (void)state;
    begin();
    sigaction(SIGTRAP, &action, &before);
    for (unsigned n = 0; n < firings; n++) {
        unsigned cpu = below(8) == 0, which = below(3);
        uint32_t key = below(KEYS);
        bool steps_now = n % 90 == 1 || below(which ? 40 : 150) == 0;
        if (steps_now) {
            step(true);
        }
        if (which) {
            record_on(cpu);
        } else {
            aggregate_on(cpu, key, below(100000));
        }
        step(false);
        look_for_all();
        assert_null(wrong);
    }
    sigaction(SIGTRAP, &before, NULL);
    assert_in_range(looks, 1000, UINT32_MAX);
    printf("  %u instructions, looked at behind %u\n", steps, looks);
}

/* A ring of little more than a record: the cursor does not say that it has wrapped. */
static void small_rings(void **state)
{
    (void)state;
    for (uint32_t bufsize = 32; bufsize <= 128; bufsize += 8) {
        begin_with(bufsize);
        for (unsigned n = 0; n < 60; n++) {
            record_on(n % 7 == 0);
            look_for_all();
            if (wrong) {
                fail_msg("a ring of %u bytes, firing %u: not so: %s", bufsize, n, wrong);
            }
        }
        target_close(NULL);
        target_open(NULL);
    }
}

/* ---- damage ------------------------------------------------------------------------ */

struct part {
    uint32_t at, bytes;
};

/* Each kind of byte that there is, by turns. */
static struct part part_of(unsigned which)
{
    const struct kymo_retain_d *is = fake.is;
    const struct kymo_retain_d_cpu *cpu = &is->cpu[which / 12 % FAKE_CPUS];
    const struct part parts[12] = {
        {FAKE_D, sizeof(*is)},
        {is->tables, (is->records + is->aggregations) * 4},
        {is->notes, is->notes_bytes},
        {cpu->live, sizeof(struct kymo_retain_d_live)},
        {cpu->cursors + is->at.offset, 8},
        {cpu->cursors + is->at.oldest, 16},
        {cpu->cursors + is->at.entries, 8},
        {cpu->cursors + is->at.used, 8},
        {cpu->records, is->record_bytes},
        {cpu->record_marks, (is->record_bytes / is->record_least + 1) * 4},
        {cpu->entries, 4096},
        {cpu->entry_marks, 64},
    };

    return parts[which % 12];
}

static void harm(struct part part)
{
    uint32_t at = part.at + below(part.bytes), n = 1 + below(below(4) ? 1 : 64);

    for (uint32_t i = 0; i < n && at + i < part.at + part.bytes; i++) {
        image[at + i] = below(2) ? (uint8_t)below(256) : image[at + i] ^ (uint8_t)(1u << below(8));
    }
}

/* A newest record without its mark is believed: there is none here, so each has one. */
static void damaged(void **state)
{
    const char *seed = getenv("SEED"), *rounds = getenv("ROUNDS");
    unsigned n = rounds ? (unsigned)atoi(rounds) : 2500;
    unsigned told = 0, records_told = 0;

    (void)state;
    random_state = seed ? (uint32_t)atoi(seed) | 1 : 20261121;
    begin();
    for (unsigned i = 0; i < 3000; i++) {
        if (below(3)) {
            record_on(below(FAKE_CPUS));
        } else {
            aggregate_on(below(FAKE_CPUS), below(KEYS), below(1000));
        }
    }
    look_for_all();
    assert_null(wrong);
    struct seen whole[FAKE_CPUS];
    memcpy(whole, seen, sizeof(whole));
    for (unsigned i = 0; i < n; i++) {
        uint32_t at_seed = random_state;
        memcpy(image, fake_window, sizeof(image));
        bool cursors = false;
        for (unsigned k = 1 + below(3); k > 0; k--) {
            unsigned which = below(24);
            cursors |= which % 12 == 4 || which % 12 == 5;
            harm(part_of(which));
        }
        look(image);
        for (unsigned cpu = 0; cpu < FAKE_CPUS && found.losses.programs == 0; cpu++) {
            /* A key that is missing is a number that is missing, or its buffer was given up. */
            WANT(seen[cpu].entries == whole[cpu].entries || found.losses.keys ||
                 seen[cpu].counted < whole[cpu].entries || seen[cpu].counted > seen[cpu].entries);
            /* So is a record; but a cursor that moved back looks like one that was never ahead. */
            bool lost = seen[cpu].records < whole[cpu].records;
            WANT(cursors || !lost || found.losses.records || seen[cpu].made > seen[cpu].records);
            records_told += lost && !cursors;
            told += seen[cpu].entries != whole[cpu].entries;
        }
        if (wrong) {
            fail_msg("SEED=%u: not so: %s", at_seed, wrong);
        }
    }
    assert_in_range(told, n / 100, n);
    assert_in_range(records_told, n / 100, 2 * n);
}

/* What a window comes to: the pieces, and that something of it is damaged. */
static uint32_t sum_of_all(bool *told)
{
    struct retain_memory memory = {image, FAKE_WINDOW};
    struct retain_piece piece;
    uint32_t sum = 0;

    *told = retain_open(&found, retain_memory_read, &memory) != 0;
    while (!*told && retain_next(&found, &piece)) {
        sum = retain_crc_more(sum, piece.slots, piece.count * TRACE_SLOT_BYTES);
    }
    *told |=
        found.losses.programs || found.losses.records || found.losses.keys || found.losses.notes;
    return sum;
}

/* Cursors that the kernel moves with each record have no seal (docs/guide/flight.md), nor has what
 * says how far the marks go. */
static bool has_no_seal(unsigned part)
{
    return part >= 3 && part <= 7;
}

/* Each bit in turn ($EVERY n-th): what is made of it is the same, or it is told. */
static void each_bit(void **state)
{
    const char *text = getenv("EVERY");
    unsigned every = text ? (unsigned)atoi(text) : 331, told = 0, bits = 0;
    bool is_told;

    (void)state;
    begin_with(512);
    for (unsigned i = 0; i < 300; i++) {
        record_on(i % FAKE_CPUS);
        aggregate_on(i % FAKE_CPUS, i % KEYS, i);
    }
    memcpy(image, fake_window, sizeof(image));
    uint32_t sound = sum_of_all(&is_told);
    assert_false(is_told);
    for (unsigned which = 0; which < 24; which++) {
        struct part part = part_of(which);

        for (uint32_t bit = below(every); bit < 8 * part.bytes; bit += every, bits++) {
            image[part.at + bit / 8] ^= (uint8_t)(1u << bit % 8);
            uint32_t sum = sum_of_all(&is_told);
            image[part.at + bit / 8] ^= (uint8_t)(1u << bit % 8);
            told += is_told;
            if (!is_told && sum != sound && !has_no_seal(which % 12)) {
                fail_msg("part %u, bit %u: another outcome, and no word of it", which, bit);
            }
        }
    }
    printf("%u of %u bits are told\n", told, bits);
    assert_true(told > bits / 10);
}

/* Words put aside that are none of the entry's: whoever puts them there writes beside it. */
static void words_of_nothing(void **state)
{
    static const uint32_t first[] = {UINT32_MAX, UINT32_MAX - 1, UINT32_MAX - 2};

    (void)state;
    begin();
    aggregate_on(0, 1, 5);
    for (unsigned i = 0; i < 3; i++) {
        const struct kymo_retain_d_cpu *cpu = &fake.is->cpu[0];
        struct kymo_retain_d_live *live = (void *)(image + cpu->live);
        memcpy(image, fake_window, sizeof(image));
        memcpy(&live->undo[i + 1], image + cpu->entries, 8);
        image[cpu->entries + 4] ^= 1;
        live->undo_at = 1;
        live->undo_first = first[i];
        live->undo_count = i + 2;
        look(image);
        assert_null(wrong);
        assert_int_equal(found.losses.keys, 1);
        assert_int_equal(seen[0].entries, AGGS - 1);
    }
}

/* Noise, and a header that is right in front of it. */
static void noise(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        for (uint32_t k = 0; k < sizeof(image) / 16; k++) {
            image[below(sizeof(image))] = (uint8_t)below(256);
        }
        fake.is = NULL;
        put_window(image);
        struct kymo_retain_d *d = (void *)(image + FAKE_D);
        for (uint32_t k = 0; k < sizeof(*d) / 4; k++) {
            ((uint32_t *)(void *)d)[k] = below(4) ? below(FAKE_WINDOW) : below(64);
        }
        d->magic = KYMO_RETAIN_MAGIC;
        d->boots = 1;
        d->tables_crc = retain_crc(image + d->tables % (FAKE_WINDOW / 2),
                                   (d->records + d->aggregations) % 1024 * 4);
        d->crc = retain_crc(&d->boots, sizeof(*d) - offsetof(struct kymo_retain_d, boots));
        look(image);
    }
}

/* ---- its life ---------------------------------------------------------------------- */

static void life(void **state)
{
    struct dtrace_snap snap;
    unsigned cpu;
    size_t before = fake.allocated;

    (void)state;
    begin();
    record_on(0);
    aggregate_on(1, 2, 3);
    /* As a ring's records, its aggregations are taken when it has stopped. */
    assert_int_equal(
        dtrace_aggregation_snap(target.consumer, 1, target.buffer, sizeof(target.buffer), &snap),
        -22);
    dtrace_consumer_stop(target.consumer, &cpu);
    take(0);
    assert_int_equal(target.nrecords, 1);
    assert_int_equal(aggregated(1, 2, &(uint64_t){2}, 8)[0], 3);
    dtrace_consumer_destroy(target.consumer);
    target.consumer = NULL;
    assert_null(fake.is);
    assert_int_equal(fake.allocated, before);
    for (unsigned i = 0; i < FAKE_KEPT; i++) {
        assert_int_equal(fake.kept[i].at, 0);
    }
}

static void refused_with(uint32_t reason)
{
    const struct dtrace_image *made = image_end(&target.b);
    struct dtrace_consumer *c;
    size_t before = fake.allocated;

    assert_true(dtrace_consumer_create(made, target.b.size, 0, &c, &target.refusal) < 0);
    assert_int_equal(target.refusal.reason, reason);
    assert_int_equal(fake.allocated, before);
    for (unsigned i = 0; i < FAKE_KEPT; i++) {
        assert_int_equal(fake.kept[i].at, 0);
    }
}

static void refusals(void **state)
{
    (void)state;
    build(USUAL);
    fake.retaining = -16;
    refused_with(DTRACE_REASON_RETAIN_TAKEN);
    fake.retaining = -19;
    refused_with(DTRACE_REASON_RETAIN_NONE);
    fake.retaining = 0;
    fake.directory_full = true;
    refused_with(DTRACE_REASON_RETAIN_SPACE);
    fake.directory_full = false;
    target.b.options[1].value = DTRACE_POLICY_SWITCH;
    refused_with(DTRACE_REASON_RETAIN_POLICY);
}

/* Without records any policy will do. */
static void only_aggregations(void **state)
{
    (void)state;
    memset(&model, 0, sizeof(model));
    clause(target.probe[2], NULL);
    for (unsigned i = 0; i < AGGS; i++) {
        aggregate(kinds[i], i != 2);
    }
    image_option(&target.b, DTRACE_OPT_RETAIN, 1);
    image_option(&target.b, DTRACE_OPT_AGGSIZE, 16384);
    start();
    put_window(fake_window);
    aggregate_on(1, 3, 17);
    look(fake_window);
    assert_null(wrong);
    assert_int_equal(seen[1].entries, AGGS);
    assert_int_equal(found.losses.notes, 1); /* nobody has said what describes it */
}

/* ---- hostile sizes: the work is bounded by the window's real size ------------------ */

enum { RECORDS_AT = 0x40000, RECORD_BYTES = 0x40000, RECORD_MARKS = 0x80000 };
enum { ENTRIES_AT = 0x88000, ENTRY_BYTES = 0x18000, ENTRY_MARKS = 0xb8000 };
enum { TABLES = 0xd0000, CURSORS = 0xd8000 };
enum { LIVE = 0xda000, WORK_MOST = 80 };

static uint64_t bytes_read;

static int read_counted(void *arg, uint32_t offset, void *to, uint32_t bytes)
{
    bytes_read += bytes;
    if (bytes_read / FAKE_WINDOW > WORK_MOST) {
        fail_msg("more than %d times the window was read", WORK_MOST);
    }
    return retain_memory_read(arg, offset, to, bytes);
}

static void put_words(uint32_t at, const uint64_t *words, unsigned count)
{
    memcpy(image + at, words, count * sizeof(*words));
}

/* Each word begins what may be a record or an entry of these sizes, and no mark is right. */
static void put_hostile(uint32_t record, uint32_t entry)
{
    struct kymo_retain_d d = {.magic = KYMO_RETAIN_MAGIC,
                              .boots = 1,
                              .ncpu = KYMO_RETAIN_CPUS,
                              .tables = TABLES,
                              .records = 1,
                              .aggregations = 1,
                              .record_bytes = RECORD_BYTES,
                              .record_least = 64,
                              .entry_bytes = ENTRY_BYTES,
                              .entry_least = 64,
                              .at = {0, 8, 16, 24, 32, 40, 48, 56}};
    const uint64_t cursors[] = {RECORD_BYTES, 0, 0, 0, 0, (uintptr_t)fake_window + ENTRIES_AT,
                                ENTRY_BYTES,  0};
    struct kymo_retain_d_live live = {.entries_sealed = ENTRY_BYTES};
    const uint32_t sizes[] = {record, entry};
    size_t from = offsetof(struct kymo_retain_d, boots);

    fake.is = NULL;
    put_window(image);
    memset(image + FAKE_FREE, 0xa5, FAKE_WINDOW - FAKE_FREE);
    for (uint32_t at = RECORDS_AT; at < RECORDS_AT + RECORD_BYTES; at += 4) {
        memcpy(image + at, &(uint32_t){1}, 4);
    }
    for (uint32_t at = ENTRIES_AT; at < ENTRY_MARKS; at += 4) {
        memcpy(image + at, &(uint32_t){1}, 4);
    }
    memcpy(image + TABLES, sizes, sizeof(sizes));
    memcpy(image + LIVE, &live, sizeof(live));
    put_words(CURSORS, cursors, 8);
    for (unsigned cpu = 0; cpu < KYMO_RETAIN_CPUS; cpu++) {
        d.cpu[cpu] = (struct kymo_retain_d_cpu){RECORDS_AT,  RECORD_MARKS, ENTRIES_AT,
                                                ENTRY_MARKS, LIVE,         CURSORS};
    }
    d.tables_crc = retain_crc(image + TABLES, sizeof(sizes));
    d.crc = retain_crc((uint8_t *)&d + from, sizeof(d) - from);
    for (unsigned i = 0; i < KYMO_RETAIN_D_MOST; i++) {
        memcpy(image + FAKE_D + i * sizeof(d), &d, sizeof(d));
    }
}

/* A header that says that the window is larger than what is left of it. */
static void claim_window(uint64_t bytes)
{
    struct kymo_retain_header *header = (void *)image;
    size_t from = offsetof(struct kymo_retain_header, boots);

    header->window = bytes;
    header->crc = retain_crc(image + from, sizeof(*header) - from);
}

static void hostile_sizes(void **state)
{
    static const uint32_t sizes[] = {64, 1024, 0x4000, 0x10000};

    (void)state;
    for (unsigned i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct retain_memory memory = {image, FAKE_WINDOW};
        struct retain_piece piece;

        put_hostile(sizes[i / 2] * 3, sizes[i / 2]);
        claim_window(i % 2 ? UINT32_MAX : FAKE_WINDOW);
        bytes_read = 0;
        assert_int_equal(retain_open(&found, read_counted, &memory), 0);
        while (retain_next(&found, &piece)) {
        }
        assert_true(found.losses.records > 0 && found.losses.keys > 0);
        assert_int_equal(found.records + found.keys, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(life, target_open, target_close),
        cmocka_unit_test_setup_teardown(refusals, target_open, target_close),
        cmocka_unit_test_setup_teardown(only_aggregations, target_open, target_close),
        cmocka_unit_test_setup_teardown(any_instruction, target_open, target_close),
        cmocka_unit_test_setup_teardown(small_rings, target_open, target_close),
        cmocka_unit_test_setup_teardown(words_of_nothing, target_open, target_close),
        cmocka_unit_test_setup_teardown(damaged, target_open, target_close),
        cmocka_unit_test_setup_teardown(each_bit, target_open, target_close),
        cmocka_unit_test_setup_teardown(noise, target_open, target_close),
        cmocka_unit_test(hostile_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
