/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libkev through its own header only: losses that cannot be overlooked, damage of every kind,
 * times, selections, names, lives, sources, and calls out of order. KYMO_SEED repeats the random
 * parts.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/temporary.h"
#include "abi/sys/trace.h"
#include "test/host/kev/see.h"

#define PR_TH TRACE_CLASS_PR_TH

/* ---- whole and lossy captures ------------------------------------------------------ */

static void test_whole(void **state)
{
    (void)state;
    for (unsigned ncpu = 1; ncpu <= 64; ncpu *= 8) {
        struct mk *mk = made(ncpu, 500, false);
        struct seen seen = see_bytes(mk->bytes, mk->len, 0), again;

        assert_int_equal(seen.outcome, KEV_COMPLETE);
        assert_int_equal(seen.losses, 0);
        assert_true(seen.events > 150 && seen.ordered);
        again = see_bytes(mk->bytes, mk->len, 1);
        assert_int_equal(again.hash, seen.hash);
        mk_free(mk);
    }
}

/* The sum of all DROPPED slots, by a scan for slots that knows no buffers. */
static uint64_t dropped_events(const struct mk *mk)
{
    uint64_t events = 0;

    for (size_t at = mk->slots_offset; at + TRACE_SLOT_BYTES <= mk->len; at += TRACE_SLOT_BYTES) {
        struct trace_slot slot;

        memcpy(&slot, mk->bytes + at, sizeof(slot));
        if ((slot.header & ~TRACE_CPU_MASK) ==
                TRACE_HEADER(0, TRACE_STRUCT_S, TRACE_CLASS_CONTROL, TRACE_CONTROL_DROPPED) &&
            slot.d1 >> 8 != KYMO_DROP_RECYCLED) {
            events += slot.d2;
        }
    }
    return events;
}

static void test_lossy(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        struct mk *mk = made(1 + i % 8, 3000, true);
        struct seen seen = see_bytes(mk->bytes, mk->len, 0);

        assert_int_equal(seen.counted, dropped_events(mk));
        assert_int_equal(seen.outcome, seen.counted > 0 ? KEV_LOSSY : KEV_COMPLETE);
        mk_free(mk);
    }
}

/* A loss says when the missing events were made: never where the CPU is covered. */
static void test_loss_times(void **state)
{
    struct mk *mk = made(4, 6000, true);
    struct kev_capture *capture = open_made(mk);
    const struct kev_item *item;
    unsigned losses = 0;

    (void)state;
    while (kev_capture_next(capture, &item) == KEV_GIVEN) {
        int64_t from, to;

        if (item->kind != KEV_ITEM_LOSS || item->cpu < 0) {
            continue;
        }
        losses++;
        assert_true(item->loss->to_ns <= item->ns || item->loss->to_ns == KEV_NEVER);
        for (unsigned i = 0; kev_capture_covered(capture, (unsigned)item->cpu, i, &from, &to);
             i++) {
            assert_true(to <= item->loss->from_ns || from >= item->loss->to_ns);
        }
    }
    assert_true(losses > 0);
    kev_capture_free(capture);
    mk_free(mk);
}

/* A gap that nothing accounts for. */
static void test_missing_buffers(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){
        .ncpu = 2, .seed = 7, .high_water = 40, .checked = true, .filters = "all classes"});
    struct kev_capture *capture;
    const struct kev_item *item;
    struct seen seen;

    (void)state;
    mk_workload(mk, 300);
    mk_flush_all(mk);
    mk_lose_buffer(mk, 0); /* a ring has given its buffer to newer events */
    mk_dropped(mk, 0, KYMO_DROP_RECYCLED, TRACE_CLASS_USER, 70);
    mk_lose_buffer(mk, 1);
    mk_workload(mk, 300);
    mk_end(mk);
    seen = see_bytes(mk->bytes, mk->len, 0);
    assert_int_equal(seen.outcome, KEV_LOSSY);
    assert_int_equal(seen.missing, 1);
    assert_int_equal(seen.counted, 0);
    assert_int_equal(seen.code, KEV_FAULT_LOSSY);
    capture = open_made(mk);
    while (kev_capture_next(capture, &item) == KEV_GIVEN) {
        if (item->kind == KEV_ITEM_LOSS) { /* right before the buffer after it */
            assert_true(item->cpu == 1 && item->loss->from_ns < item->ns);
            assert_int_equal(item->loss->to_ns, item->ns);
        }
    }
    kev_capture_free(capture);
    mk_free(mk);
}

/* What kev_capture_fault() says of DROPPED slots of 70 events each, and of missing buffers. */
static void says_missing(unsigned drops, unsigned buffers, const char *text)
{
    struct mk *mk = mk_new(&(struct mk_options){
        .ncpu = 2, .seed = 7, .high_water = 40, .checked = true, .filters = "all classes"});
    struct kev_capture *capture;
    const struct kev_item *item;

    mk_workload(mk, 300);
    mk_flush_all(mk);
    for (unsigned i = 0; i < drops; i++) {
        mk_dropped(mk, 0, KYMO_DROP_NOBUFFER, TRACE_CLASS_USER + i, 70);
    }
    for (unsigned i = 0; i < buffers; i++) {
        mk_lose_buffer(mk, 1);
    }
    mk_workload(mk, 300);
    mk_end(mk);
    capture = open_made(mk);
    while (kev_capture_next(capture, &item) == KEV_GIVEN) {
    }
    assert_non_null(strstr(kev_capture_fault(capture)->text, text));
    kev_capture_free(capture);
    mk_free(mk);
}

static void test_counted(void **state)
{
    (void)state;
    says_missing(1, 0, ": events are missing, 70 of them, in 1 place; ");
    says_missing(2, 0, ": events are missing, 140 of them, in 2 places; ");
}

static void test_not_counted(void **state)
{
    (void)state;
    says_missing(1, 1, ": events are missing, at least 70 of them, in 2 places; ");
    says_missing(0, 1, ": events are missing; ");
}

/* ---- damage ------------------------------------------------------------------------ */

/* Wherever the file ends (a third of all places): never complete, never a crash. */
static void test_every_end(void **state)
{
    struct mk *mk = made(3, 60, false);
    uint64_t before = 0;

    (void)state;
    for (size_t len = below(3); len < mk->len; len += 3) {
        struct seen seen = see_bytes(mk->bytes, len, 0), rest = see_bytes(mk->bytes, len, 1);

        assert_true(seen.outcome == KEV_FAILED || seen.outcome == KEV_LOSSY);
        assert_true(rest.outcome == KEV_FAILED || rest.outcome == KEV_LOSSY);
        assert_true(seen.outcome != KEV_LOSSY || seen.code == KEV_FAULT_CUT_SHORT);
        assert_true(seen.events >= before);
        before = seen.events;
    }
    assert_true(before > 20);
    mk_free(mk);
}

/* A changed bit anywhere, header and page included: never complete, whatever is given. */
static void test_every_structure(void **state)
{
    struct mk *mk = made(3, 100, false);
    size_t bits = 8 * mk->len;

    (void)state;
    for (size_t bit = below(197); bit < bits; bit += 197) {
        uint8_t *byte = &mk->bytes[bit / 8];

        *byte ^= (uint8_t)(1u << bit % 8);
        assert_true(see_bytes(mk->bytes, mk->len, 0).outcome != KEV_COMPLETE);
        assert_true(see_bytes(mk->bytes, mk->len, 1).outcome != KEV_COMPLETE);
        *byte ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(see_bytes(mk->bytes, mk->len, 0).outcome, KEV_COMPLETE);
    mk_free(mk);
}

/* Runs of bytes, of captures of every kind. */
static void test_random_damage(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 150; i++) {
        struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1 + below(8),
                                                    .seed = below(1000),
                                                    .high_water = 40,
                                                    .swapped = below(2),
                                                    .foreign = below(4) == 0,
                                                    .lossy = below(2),
                                                    .start = 0xffffff00u});

        mk_workload(mk, 200);
        for (unsigned n = 1 + below(3); n > 0; n--) {
            size_t at = below((uint32_t)mk->len);
            size_t run = 1 + below(40);

            for (; run > 0 && at < mk->len; run--) {
                mk->bytes[at++] = (uint8_t)below(256);
            }
        }
        see_bytes(mk->bytes, mk->len, 0);
        see_bytes(mk->bytes, mk->len, 1);
        mk_free(mk);
    }
}

static void test_fault_text(void **state)
{
    struct mk *mk = made(1, 200, false);
    struct kev_capture *capture;
    const struct kev_fault *fault;

    (void)state;
    mk->bytes[mk->slots_offset + 100] ^= 1;
    capture = kev_capture_new();
    assert_int_equal(
        see_rest(capture, kev_capture_open_memory(capture, mk->bytes, mk->len, NAME)).outcome,
        KEV_FAILED);
    fault = kev_capture_fault(capture);
    assert_int_equal(fault->code, KEV_FAULT_DAMAGED);
    assert_true(fault->offset >= 0 && fault->recoverable == 1);
    assert_non_null(strstr(fault->text, NAME ": damaged at byte "));
    assert_non_null(strstr(fault->text, fault->remedy));
    kev_capture_free(capture);
    mk_free(mk);
}

/* ---- scope ------------------------------------------------------------------------- */

static unsigned scopes_of(struct kev_capture *capture, uint32_t kind)
{
    const struct kev_item *item;
    unsigned n = 0;

    while (kev_capture_next(capture, &item) == KEV_GIVEN && item->kind == KEV_ITEM_SCOPE) {
        n += item->loss->kind == kind;
    }
    kev_capture_free(capture);
    return n;
}

static unsigned scopes_of_filter(const char *filter, uint32_t kind)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2, .filters = filter, .checked = true});
    unsigned n;

    mk_workload(mk, 100);
    mk_end(mk);
    n = scopes_of(open_made(mk), kind);
    mk_free(mk);
    return n;
}

static void test_scope(void **state)
{
    struct kev_capture *capture = kev_capture_new();
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2, .foreign = true});

    (void)state;
    assert_int_equal(scopes_of_filter("gate and the D program x.d", KEV_SCOPE_GATE), 1);
    assert_int_equal(scopes_of_filter("applications start and stop", KEV_SCOPE_PAUSES), 1);
    assert_int_equal(scopes_of_filter("all classes without COMM", KEV_SCOPE_FILTER), 1);
    assert_int_equal(scopes_of_filter(NULL, KEV_SCOPE_UNKNOWN), 1);
    assert_int_equal(scopes_of_filter("all classes", KEV_SCOPE_UNKNOWN), 0);
    mk_workload(mk, 100);
    mk_flush_all(mk);
    assert_int_equal(scopes_of(open_made(mk), KEV_SCOPE_FOREIGN), 1);
    mk_free(mk);
    mk = mk_new(&(struct mk_options){.ncpu = 2, .checked = true});
    for (unsigned i = 0; i < 2; i++) {
        mk->cpu[i].sequence += 5; /* a ring has overwritten them */
    }
    mk_workload(mk, 100);
    mk_end(mk);
    assert_int_equal(scopes_of(open_made(mk), KEV_SCOPE_OVERWRITTEN), 2);
    assert_int_equal(kev_capture_select(capture, "class", "comm"), KEV_COMPLETE);
    assert_int_equal(kev_capture_open_memory(capture, mk->bytes, mk->len, NAME), KEV_COMPLETE);
    assert_int_equal(scopes_of(capture, KEV_SCOPE_SELECTION), 1);
    mk_free(mk);
}

/* ---- seeking ----------------------------------------------------------------------- */

/* What comes after a seek is what came at that time before. */
static void test_seek(void **state)
{
    struct mk *mk = made(4, 2000, false);
    struct kev_capture *capture = open_made(mk), *other = open_made(mk);
    struct seen all = see_rest(capture, KEV_COMPLETE);

    (void)state;
    assert_int_equal(kev_capture_seek(capture, INT64_MIN + 1), KEV_COMPLETE);
    assert_int_equal(see_rest(capture, KEV_COMPLETE).hash, all.hash);
    for (unsigned i = 0; i < 40; i++) {
        struct seen tail = {.hash = HASH_FIRST, .last = INT64_MIN}, sought;
        const struct kev_item *item;
        int64_t at = (int64_t)below((uint32_t)all.last + 100) - 50;

        for (unsigned n = below(50); n > 0; n--) { /* from anywhere, forward and back */
            if (kev_capture_next(capture, &item) == KEV_GIVEN && n < 3) {
                at = item->ns; /* the item is given again */
            }
        }
        assert_int_equal(kev_capture_seek(other, INT64_MIN + 1), KEV_COMPLETE);
        while (kev_capture_next(other, &item) == KEV_GIVEN) {
            if (item->ns >= at) {
                item_see(&tail, other, item);
            }
        }
        assert_int_equal(kev_capture_seek(capture, at), KEV_COMPLETE);
        if (i % 2 == 0) { /* then the next seek begins in the middle */
            assert_int_equal(kev_capture_next(capture, &item),
                             tail.events > 0 ? KEV_GIVEN : KEV_COMPLETE);
            assert_true(tail.events == 0 || item->ns >= at);
            continue;
        }
        sought = see_rest(capture, KEV_COMPLETE);
        assert_int_equal(sought.events, tail.events);
        assert_int_equal(sought.hash, tail.hash);
        assert_int_equal(sought.outcome, KEV_COMPLETE);
    }
    kev_capture_free(capture);
    kev_capture_free(other);
    mk_free(mk);
}

/* ---- selections -------------------------------------------------------------------- */

static struct seen see_selected(const struct mk *mk, const char *option, const char *value)
{
    struct kev_capture *capture = kev_capture_new();
    struct seen seen;

    assert_int_equal(kev_capture_select(capture, option, value), KEV_COMPLETE);
    assert_int_equal(kev_capture_open_memory(capture, mk->bytes, mk->len, NAME), KEV_COMPLETE);
    seen = see_rest(capture, KEV_COMPLETE);
    kev_capture_free(capture);
    return seen;
}

static void word_event(struct mk *mk, unsigned cpu, uint64_t after, unsigned class, unsigned number,
                       uint32_t a, uint32_t b)
{
    mk_event(mk, cpu, after, class, number, (uint32_t[]){a, b}, 2);
}

/* Losses of a selection: only those that may be of its events. */
static void test_selected_losses(void **state)
{
    struct mk *mk = mk_new(
        &(struct mk_options){.ncpu = 2, .checked = true, .start = 1000, .filters = "all classes"});
    struct seen all, seen;

    (void)state;
    for (unsigned i = 0; i < 40; i++) { /* each CPU loses in its third buffer's place */
        unsigned cpu = i % 2;

        word_event(mk, cpu, i == 1 ? 1300 : 1000, TRACE_CLASS_USER, i, i, 0);
        if (i >= 20 && i < 22) {
            mk_flush(mk, cpu);
            mk_lose_buffer(mk, cpu);
            mk->cpu[cpu].now += cpu == 0 ? 900 : 2500;
            mk_dropped(mk, cpu, KYMO_DROP_OVERWRITTEN,
                       cpu == 0 ? TRACE_CLASS_COMM : TRACE_CLASS_USER, 10 + cpu);
        }
    }
    mk_flush_all(mk);
    mk_end(mk);
    all = see_bytes(mk->bytes, mk->len, 0);
    assert_int_equal(all.counted, 21);
    assert_int_equal(see_selected(mk, "cpu", "1").counted, 11);
    assert_int_equal(see_selected(mk, "class", "comm").counted, 10);
    seen = see_selected(mk, "class", "thread");
    assert_int_equal(seen.outcome, KEV_COMPLETE);
    seen = see_selected(mk, "to", "0x2000"); /* before both */
    assert_int_equal(seen.outcome, KEV_COMPLETE);
    assert_true(seen.events > 0 && seen.events < all.events);
    seen = see_selected(mk, "from", "0x4000"); /* after both */
    assert_int_equal(seen.outcome, KEV_COMPLETE);
    /* The last event before the loss ends the window: what was lost may be inside of it, though the
     * slot that says so is behind it. */
    seen = see_selected(mk, "to", "0x3100");
    assert_int_equal(seen.outcome, KEV_LOSSY);
    assert_int_equal(seen.counted, 21);
    mk_free(mk);
}

static void test_selection_faults(void **state)
{
    static const char *const bad[][2] = {{"pid", "x"},      {"cpu", "99"},   {"frob", "1"},
                                         {"class", "frob"}, {"from", "now"}, {"tid", "3-"}};
    struct mk *mk = made(2, 200, false);

    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct kev_capture *capture = kev_capture_new();

        assert_int_equal(kev_capture_select(capture, bad[i][0], bad[i][1]), KEV_FAILED);
        assert_int_equal(kev_capture_fault(capture)->code, KEV_FAULT_USE);
        assert_non_null(strstr(kev_capture_fault(capture)->text, bad[i][0]));
        kev_capture_free(capture);
    }
    for (unsigned i = 0; i < 2; i++) { /* what only the capture can refuse */
        struct kev_capture *capture = kev_capture_new();

        assert_int_equal(kev_capture_select(capture, i == 0 ? "cpu" : "event", i == 0 ? "7" : "NO"),
                         KEV_COMPLETE);
        assert_int_equal(kev_capture_open_memory(capture, mk->bytes, mk->len, NAME), KEV_FAILED);
        assert_non_null(strstr(kev_capture_fault(capture)->text, NAME));
        kev_capture_free(capture);
    }
    mk_free(mk);
}

/* ---- names and lives --------------------------------------------------------------- */

static void name_event(struct mk *mk, unsigned number, uint32_t a, uint32_t b, const char *text)
{
    mk_string(mk, 0, 1000, PR_TH, number, (uint32_t[]){a, b}, 2, text);
}

static void life_is(const struct kev_capture *capture, int32_t pid, int32_t tid, int64_t ns,
                    const char *name)
{
    const struct kev_life *life = kev_capture_life_at(capture, pid, tid, ns);

    assert_int_equal(life != NULL, name != NULL);
    if (life != NULL) {
        assert_string_equal(life->name, name);
    }
}

/* A process that is made again ends the threads of the one before, of which no end was seen. */
static void test_lives_of_another_process(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1, .checked = true, .start = 1000});
    struct kev_capture *capture;
    int64_t unit;

    (void)state;
    word_event(mk, 0, 1000, PR_TH, 2 | TRACE_STATE_DUMP, 1, 1); /* 1: dumps are marked */
    name_event(mk, 192, 1, 7, "first");                         /* 2 */
    name_event(mk, 320, 7, 1, "ended");                         /* 3 */
    word_event(mk, 0, 1000, PR_TH, 25, 7, 1);                   /* 4: THDESTROY */
    name_event(mk, 320, 7, 2, "main");                          /* 5 */
    name_event(mk, 320, 7, 3, "other");                         /* 6 */
    name_event(mk, 320, 8, 1, "elsewhere");                     /* 7 */
    name_event(mk, 192, 1, 7, "second");                        /* 8 */
    name_event(mk, 320, 7, 3, "new");                           /* 9 */
    mk_flush_all(mk);
    mk_end(mk);
    capture = open_made(mk);
    unit = (int64_t)(1000u * 1000000000ull / kev_capture_facts(capture)->cycles_per_second);
    assert_int_equal(kev_capture_learn(capture), KEV_COMPLETE);
    life_is(capture, 7, 1, 3 * unit, "ended");
    life_is(capture, 7, 2, 6 * unit, "main");
    life_is(capture, 7, 2, 60 * unit, NULL);
    life_is(capture, 7, 3, 7 * unit - unit / 2, "other");
    life_is(capture, 7, 3, 60 * unit, "new");
    life_is(capture, 8, 1, 60 * unit, "elsewhere");
    kev_capture_free(capture);
    mk_free(mk);
}

/* A pid that is used again, and a name that comes only at the end. */
static void test_lives(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1, .checked = true, .start = 1000});
    struct kev_capture *capture;
    const struct kev_facts *facts;
    const struct kev_item *item;
    int64_t unit; /* between two events; each is a little after a multiple of it */

    (void)state;
    name_event(mk, 192, 1, 7, "first");        /* 1 */
    word_event(mk, 0, 1000, PR_TH, 24, 7, 1);  /* 2: THCREATE */
    name_event(mk, 320, 7, 1, "main");         /* 3 */
    word_event(mk, 0, 1000, PR_TH, 25, 7, 1);  /* 4: THDESTROY */
    word_event(mk, 0, 1000, PR_TH, 128, 1, 7); /* 5: PROCDESTROY */
    name_event(mk, 192, 1, 7, "second");       /* 6 */
    word_event(mk, 0, 1000, PR_TH, 1, 9, 1);   /* 7: THRUNNING of a process without a name */
    name_event(mk, 192, 1, 9, "late");         /* 8 */
    mk_flush_all(mk);
    mk_end(mk);
    capture = open_made(mk);
    facts = kev_capture_facts(capture);
    unit = (int64_t)(1000u * 1000000000ull / facts->cycles_per_second);
    assert_null(kev_capture_life(capture, 0));
    assert_int_equal(kev_capture_learn(capture), KEV_COMPLETE);
    life_is(capture, 7, KEV_NOBODY, 0, NULL);
    life_is(capture, 7, KEV_NOBODY, 3 * unit, "first");
    life_is(capture, 7, 1, 3 * unit, "main");
    life_is(capture, 7, 1, 5 * unit, NULL);
    life_is(capture, 7, KEV_NOBODY, 4 * unit + unit / 2, NULL);
    life_is(capture, 7, KEV_NOBODY, 60 * unit, "second");
    life_is(capture, 9, KEV_NOBODY, 60 * unit, "late");
    assert_int_equal(kev_capture_life(capture, 0)->parent, 1);
    assert_int_equal(kev_capture_learn(capture), KEV_FAILED); /* once */
    for (unsigned pass = 0; pass < 2; pass++) { /* names are again what they were at first */
        assert_int_equal(kev_capture_seek(capture, 0), KEV_COMPLETE);
        assert_int_equal(kev_capture_next(capture, &item), KEV_GIVEN);
        assert_string_equal(kev_capture_name(capture, 7, KEV_NOBODY), "first");
        while (pass == 0 && kev_capture_next(capture, &item) == KEV_GIVEN) {
        }
        assert_string_equal(kev_capture_name(capture, 7, KEV_NOBODY),
                            pass == 0 ? "second" : "first");
    }
    while (kev_capture_next(capture, &item) == KEV_GIVEN) {
        if (item->kind == KEV_ITEM_EVENT && item->state == 1) {
            assert_string_equal(kev_capture_name(capture, 9, KEV_NOBODY), "late");
            assert_string_equal(kev_capture_term(capture, KEV_MEANS_STATE, 1), "THRUNNING");
            assert_int_equal(item->pid, 9);
        }
    }
    kev_capture_free(capture);
    mk_free(mk);
}

/* ---- sources, handles -------------------------------------------------------------- */

static int file_of(const struct mk *mk, char *path)
{
    int fd = temporary_file("kev", path, 4096);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, mk->bytes, mk->len), mk->len);
    return fd;
}

static void *pipe_fill(void *arg)
{
    const struct mk *mk = ((void **)arg)[0];
    int fd = *(int *)((void **)arg)[1];

    for (size_t at = 0; at < mk->len;) {
        ssize_t n = write(fd, mk->bytes + at, mk->len - at < 777 ? mk->len - at : 777);

        assert_true(n > 0);
        at += (size_t)n;
    }
    close(fd);
    return NULL;
}

static void test_sources(void **state)
{
    struct mk *mk = made(3, 5000, false);
    struct seen memory = see_bytes(mk->bytes, mk->len, 0), seen;
    char path[4096];
    int fd = file_of(mk, path), ends[2];
    void *arg[2] = {mk, &ends[1]};
    struct kev_capture *capture = kev_capture_new();
    pthread_t thread;

    (void)state;
    seen = see_rest(capture, kev_capture_open(capture, path));
    assert_int_equal(seen.hash, memory.hash);
    kev_capture_free(capture);
    capture = kev_capture_new();
    seen = see_rest(capture, kev_capture_open_descriptor(capture, fd, "a descriptor"));
    assert_int_equal(seen.hash, memory.hash);
    assert_string_equal(kev_capture_facts(capture)->path, "a descriptor");
    kev_capture_free(capture);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pthread_create(&thread, NULL, pipe_fill, arg), 0);
    capture = kev_capture_new();
    seen = see_rest(capture, kev_capture_open_descriptor(capture, ends[0], "a pipe"));
    assert_int_equal(seen.hash, memory.hash);
    kev_capture_free(capture);
    pthread_join(thread, NULL);
    close(ends[0]);
    close(fd);
    unlink(path);
    mk_free(mk);
}

/* Two at once, one of them given up half-way, another one of another kind. */
static void test_two_at_once(void **state)
{
    struct mk *one = made(2, 3000, false), *two = made(8, 2000, true);
    struct seen whole = see_bytes(one->bytes, one->len, 0);
    struct kev_capture *a = open_made(one), *b = open_made(two), *c = open_made(one);
    struct seen seen = {.hash = HASH_FIRST, .last = INT64_MIN};
    const struct kev_item *item;

    (void)state;
    for (unsigned i = 0; kev_capture_next(a, &item) == KEV_GIVEN; i++) {
        item_see(&seen, a, item);
        if (i < 1000) {
            kev_capture_next(b, &item);
            kev_capture_next(c, &item);
        } else if (i == 1000) {
            kev_capture_free(c);
        }
    }
    assert_int_equal(seen.hash, whole.hash);
    kev_capture_free(a);
    kev_capture_free(b);
    mk_free(one);
    mk_free(two);
}

static void *thread_read(void *arg)
{
    const struct mk *mk = arg;
    struct seen *seen = malloc(sizeof(*seen));

    *seen = see_bytes(mk->bytes, mk->len, 0);
    return seen;
}

static void test_threads(void **state)
{
    struct mk *mk[4];
    pthread_t threads[4];

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        mk[i] = made(1 + i, 2000, false);
        assert_int_equal(pthread_create(&threads[i], NULL, thread_read, mk[i]), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        struct seen alone;
        void *seen;

        pthread_join(threads[i], &seen);
        alone = see_bytes(mk[i]->bytes, mk[i]->len, 0);
        assert_int_equal(((struct seen *)seen)->hash, alone.hash);
        free(seen);
        mk_free(mk[i]);
    }
}

static void test_out_of_order(void **state)
{
    struct kev_capture *capture = kev_capture_new();
    const struct kev_item *item;
    const uint32_t *words;
    struct mk *mk = made(1, 100, false);

    (void)state;
    kev_capture_free(NULL);
    assert_int_equal(kev_capture_fault(capture)->code, KEV_FAULT_NONE);
    assert_int_equal(kev_capture_next(capture, &item), KEV_FAILED);
    assert_null(item);
    assert_int_equal(kev_capture_seek(capture, 0), KEV_FAILED);
    assert_int_equal(kev_capture_learn(capture), KEV_FAILED);
    assert_int_equal(kev_capture_fault(capture)->code, KEV_FAULT_USE);
    assert_null(kev_capture_facts(capture));
    assert_null(kev_capture_attribute(capture, "DATE"));
    assert_null(kev_capture_describe(capture, 4, 1));
    assert_null(kev_capture_name(capture, 1, 1));
    assert_int_equal(kev_capture_words(capture, &words), 0);
    assert_int_equal(kev_capture_values(capture), 0);
    assert_int_equal(kev_capture_open(capture, "/nowhere/x.kev"), KEV_FAILED);
    assert_int_equal(kev_capture_fault(capture)->code, KEV_FAULT_SYSTEM);
    assert_non_null(strstr(kev_capture_fault(capture)->text, "/nowhere/x.kev: cannot open"));
    assert_int_equal(kev_capture_next(capture, &item), KEV_FAILED);
    assert_int_equal(kev_capture_seek(capture, 0), KEV_FAILED);
    kev_capture_free(capture);
    capture = open_made(mk);
    assert_int_equal(kev_capture_open(capture, "x.kev"), KEV_FAILED);
    assert_int_equal(kev_capture_select(capture, "pid", "1"), KEV_FAILED);
    assert_int_equal(see_rest(capture, KEV_COMPLETE).outcome, KEV_COMPLETE);
    assert_int_equal(kev_capture_next(capture, &item), KEV_COMPLETE);
    kev_capture_free(capture);
    assert_int_equal(see_bytes(NULL, 0, 0).outcome, KEV_FAILED);
    assert_int_equal(see_bytes("x", 1, 1).outcome, KEV_FAILED);
    mk_free(mk);
}

static void test_facts(void **state)
{
    struct mk *mk = made(2, 100, false);
    struct kev_capture *capture = open_made(mk);
    const struct kev_facts *facts = kev_capture_facts(capture);
    const struct kev_description *description = kev_capture_describe(capture, PR_TH, 1);
    const char *key, *value;
    unsigned n = 0;

    (void)state;
    assert_string_equal(facts->board, "made-up");
    assert_int_equal(facts->cpus, 2);
    assert_int_equal(facts->is_kymo, 1);
    assert_int_equal(facts->is_whole, 1);
    assert_string_equal(kev_capture_attribute(capture, "SYSNAME"), "Kymo");
    while (kev_capture_attribute_at(capture, n, &key, &value)) {
        assert_string_equal(kev_capture_attribute(capture, key), value);
        n++;
    }
    assert_true(n > 5);
    assert_string_equal(description->name, "THRUNNING");
    assert_string_equal(description->class_name, "THREAD");
    assert_string_equal(description->fast, "D:pid,D:tid");
    assert_null(kev_capture_describe(capture, PR_TH, 5000));
    kev_capture_free(capture);
    mk_free(mk);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counted),
        cmocka_unit_test(test_not_counted),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_lossy),
        cmocka_unit_test(test_loss_times),
        cmocka_unit_test(test_missing_buffers),
        cmocka_unit_test(test_every_end),
        cmocka_unit_test(test_every_structure),
        cmocka_unit_test(test_random_damage),
        cmocka_unit_test(test_fault_text),
        cmocka_unit_test(test_scope),
        cmocka_unit_test(test_seek),
        cmocka_unit_test(test_selected_losses),
        cmocka_unit_test(test_selection_faults),
        cmocka_unit_test(test_lives_of_another_process),
        cmocka_unit_test(test_lives),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_two_at_once),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_out_of_order),
        cmocka_unit_test(test_facts),
    };
    const char *given = getenv("KYMO_SEED");

    seed = given != NULL ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    printf("KYMO_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
