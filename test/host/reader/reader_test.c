/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader on sound captures: merge, 64-bit time, combine events, byte order, other kernels'.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/host/support.h"

static void test_empty(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2});
    struct kev *kev = support_open(mk, NULL);
    struct support_read read = support_read_all(kev);

    (void)state;
    assert_int_equal(read.events, 0);
    assert_false(read.error);
    assert_true(kev_info(kev)->kymo);
    assert_int_equal(kev_info(kev)->ncpu, 2);
    assert_int_equal(kev_info(kev)->cycles_per_sec, 1000000);
    assert_string_equal(kev_info(kev)->board, "made-up");
    kev_close(kev);
    mk_free(mk);
}

/* Of equal times the lower CPU's event is first, whichever wrote its buffer first. */
static void test_equal_times(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 4, .start = 0x500000000ull});
    uint32_t words[2] = {7, 8};
    struct kev_event event;
    struct kev_error error;
    unsigned last = 0, seen = 0;
    uint64_t time = 0;

    (void)state;
    for (unsigned n = 0; n < 12; n++) {
        mk_event(mk, 3 - n % 4, n % 4 ? 0 : 0x10, TRACE_CLASS_USER, 77, words, 2);
    }
    mk_flush_all(mk);
    struct kev *kev = support_open(mk, NULL);
    while (kev_next(kev, &event, &error) == KEV_EVENT) {
        assert_true(event.time > time || (event.time == time && event.cpu >= last));
        seen += event.time == time && event.cpu > last;
        time = event.time;
        last = event.cpu;
    }
    assert_true(seen > 0);
    kev_close(kev);
    mk_free(mk);
}

static void test_one_event(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1, .start = 0x500000000ull});
    uint32_t words[2] = {7, 8};
    struct kev_event event;
    struct kev_error error;
    struct kev *kev;

    (void)state;
    mk_event(mk, 0, 0x10, TRACE_CLASS_USER, 77, words, 2);
    mk_flush_all(mk);
    kev = support_open(mk, NULL);
    assert_int_equal(kev_next(kev, &event, &error), KEV_EVENT);
    assert_int_equal(event.number, TRACE_CONTROL_BUFFER);
    assert_int_equal(kev_word(&event, 1), 3);
    assert_int_equal(kev_next(kev, &event, &error), KEV_EVENT);
    assert_int_equal(event.number, TRACE_CONTROL_TIME);
    assert_int_equal(kev_next(kev, &event, &error), KEV_EVENT);
    assert_int_equal(event.class, TRACE_CLASS_USER);
    assert_int_equal(event.number, 77);
    assert_int_equal(event.time, 0x500000011ull);
    assert_int_equal(event.nwords, 2);
    assert_int_equal(kev_word(&event, 1), 8);
    assert_int_equal(event.offset, mk->slots_offset + 32);
    assert_int_equal(kev_next(kev, &event, &error), KEV_END);
    assert_int_equal(kev_next(kev, &event, &error), KEV_END);
    kev_close(kev);
    mk_free(mk);
}

/* A 32-bit wrap inside a buffer, between buffers, and several at once on an idle CPU. */
static void test_wraps(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2, .start = 0xfffffff0ull});
    static const uint64_t steps[] = {5, 20, 0xfffffff0ull, 1, 0x500000000ull, 3, 0xffffffffull};
    uint64_t expected[2][7];
    unsigned seen[2] = {0, 0};
    struct kev_event event;
    struct kev_error error;
    struct kev *kev;
    uint64_t last = 0;

    (void)state;
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        for (unsigned i = 0; i < 7; i++) {
            uint32_t words[2] = {cpu, i};

            mk_event(mk, cpu, steps[i] + cpu, TRACE_CLASS_USER, i, words, 2);
            expected[cpu][i] = mk->cpu[cpu].now;
            if (i == 3) {
                mk_flush(mk, cpu);
            }
        }
    }
    mk_flush_all(mk);
    kev = support_open(mk, NULL);
    while (kev_next(kev, &event, &error) == KEV_EVENT) {
        assert_true(event.time >= last);
        last = event.time;
        if (event.class == TRACE_CLASS_USER) {
            assert_int_equal(event.time, expected[event.cpu][seen[event.cpu]]);
            assert_int_equal(kev_word(&event, 1), seen[event.cpu]++);
        }
    }
    assert_int_equal(seen[0], 7);
    assert_int_equal(seen[1], 7);
    kev_close(kev);
    mk_free(mk);
}

/* A BUFFER slot stamped just before a wrap, its TIME just after. */
static void test_wrap_at_start(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    struct trace_slot slots[] = {{0x402, 0xffffffff, 1, 3}, {0x401, 2, 6, 1}, {0x1800, 3, 0, 0}};
    static const uint64_t times[] = {0x5ffffffffull, 0x600000002ull, 0x600000003ull};
    struct kev_event event;
    struct kev_error error;
    struct kev *kev;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        mk_slot(mk, &slots[i]);
    }
    kev = support_open(mk, NULL);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(kev_next(kev, &event, &error), KEV_EVENT);
        assert_int_equal(event.time, times[i]);
    }
    kev_close(kev);
    mk_free(mk);
}

static void test_combine_sizes(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 3});
    uint32_t words[2040];
    unsigned sizes[] = {1, 2, 3, 4, 5, 6, 7, 64, 255, 256, 2000, 2036};
    struct kev_event event;
    struct kev_error error;
    struct kev *kev;
    unsigned seen = 0;

    (void)state;
    for (unsigned i = 0; i < 2040; i++) {
        words[i] = i * 2654435761u;
    }
    for (unsigned i = 0; i < 12; i++) {
        mk_event(mk, 1, 100, TRACE_CLASS_USER, i, words, sizes[i]);
    }
    mk_flush_all(mk);
    kev = support_open(mk, NULL);
    while (kev_next(kev, &event, &error) == KEV_EVENT) {
        if (event.class != TRACE_CLASS_USER) {
            continue;
        }
        assert_int_equal(event.number, seen);
        assert_int_equal(event.nwords, sizes[seen] <= 2 ? 2 : (sizes[seen] + 1) / 2 * 2);
        for (unsigned i = 0; i < sizes[seen]; i++) {
            assert_int_equal(kev_word(&event, i), words[i]);
        }
        seen++;
    }
    assert_int_equal(seen, 12);
    kev_close(kev);
    mk_free(mk);
}

/* Every slot written is an event read; order by time; any number of CPUs. */
static void test_workloads(void **state)
{
    static const unsigned cpus[] = {1, 2, 4, 7, 64};
    uint64_t seed = support_seed();

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        struct mk *mk = mk_new(&(struct mk_options){
            .ncpu = cpus[i], .seed = seed + i, .start = 0xfffff000ull, .high_water = 40});
        struct support_read read;
        struct kev *kev;

        mk_workload(mk, 20000);
        kev = support_open(mk, NULL);
        read = support_read_all(kev);
        assert_false(read.error);
        assert_true(read.ordered);
        assert_int_equal(read.slots, (mk->len - mk->slots_offset) / TRACE_SLOT_BYTES);
        for (unsigned cpu = 0; cpu < cpus[i]; cpu++) {
            assert_int_equal(kev_info(kev)->cpu[cpu].last_sequence, mk->cpu[cpu].sequence);
            assert_int_equal(kev_info(kev)->cpu[cpu].missing, 0);
        }
        kev_close(kev);
        mk_free(mk);
    }
}

static void test_swapped(void **state)
{
    struct support_read read[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct mk *mk = mk_new(&(struct mk_options){.ncpu = 4, .seed = 5, .swapped = i == 1});
        struct kev *kev;

        mk_workload(mk, 3000);
        kev = support_open(mk, NULL);
        assert_int_equal(kev_info(kev)->swapped, i == 1);
        read[i] = support_read_all(kev);
        assert_false(read[i].error);
        kev_close(kev);
        mk_free(mk);
    }
    assert_int_equal(read[0].events, read[1].events);
}

/* Numbers and names print the same whatever the byte order. */
static void test_swapped_prints_alike(void **state)
{
    char *text[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2, .swapped = i == 1});
        uint32_t words[] = {1, 2, 3, 4, 5};
        struct kev *kev;

        mk_string(mk, 0, 1, TRACE_CLASS_PR_TH, 192, words, 2, "a-name");
        mk_event(mk, 1, 1, TRACE_CLASS_SYSTEM, 7, words, 5);
        mk_event(mk, 1, 1, TRACE_CLASS_COMM, 0, words, 2);
        mk_dropped(mk, 1, 2, TRACE_CLASS_COMM, 999);
        mk_flush_all(mk);
        kev = support_open(mk, NULL);
        text[i] = support_print(kev, true);
        kev_close(kev);
        mk_free(mk);
    }
    assert_string_equal(text[0], text[1]);
    assert_non_null(strstr(text[0], "name:a-name"));
    assert_non_null(strstr(text[0], "num_events = 999"));
    free(text[0]);
    free(text[1]);
}

/* DROPPED totals after the last buffer, in any CPU's order, come out last on their CPU. */
static void test_tail(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2, .seed = 1, .start = 0xffffff00u});
    struct kev_event event;
    struct kev_error error;
    struct kev *kev;
    unsigned tails = 0;
    uint64_t last = 0;

    (void)state;
    mk_workload(mk, 500);
    for (unsigned i = 0; i < 4; i++) {
        mk_slot(mk, &(struct trace_slot){TRACE_HEADER(i & 1, 0, TRACE_CLASS_CONTROL, 8),
                                         i == 0 ? 0 : 0x10, 1 << 8 | TRACE_CLASS_USER, 100 + i});
    }
    kev = support_open(mk, NULL);
    while (kev_next(kev, &event, &error) == KEV_EVENT) {
        assert_true(event.time >= last);
        last = event.time;
        if (event.class == TRACE_CLASS_CONTROL && event.number == TRACE_CONTROL_DROPPED) {
            tails++;
        } else if (tails == 4) {
            fail();
        }
    }
    assert_int_equal(tails, 4);
    kev_close(kev);
    mk_free(mk);
}

static void test_gaps(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2, .seed = 1});
    uint32_t words[2] = {0, 0};
    struct kev *kev;

    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        mk_event(mk, 0, 10, TRACE_CLASS_USER, 0, words, 2);
        if (i == 3 || i == 4 || i == 8) {
            mk_lose_buffer(mk, 0);
        }
        mk_flush(mk, 0);
    }
    kev = support_open(mk, NULL);
    assert_int_equal(kev_info(kev)->cpu[0].missing, 6);
    assert_int_equal(kev_info(kev)->cpu[0].gaps, 2);
    kev_close(kev);
    mk_free(mk);
}

static void test_cpu_filter(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 4, .seed = 2});
    struct kev_options options = {.cpus = 1 << 2};
    struct kev_event event;
    struct kev_error error;
    struct kev *kev;
    unsigned n = 0;

    (void)state;
    mk_workload(mk, 1000);
    kev = support_open(mk, &options);
    while (kev_next(kev, &event, &error) == KEV_EVENT) {
        assert_int_equal(event.cpu, 2);
        n++;
    }
    assert_true(n > 100);
    kev_close(kev);
    mk_free(mk);
}

/* Another kernel's stream: CPUs mixed in a buffer, combine events interlaced, a cut last slot. */
static void test_foreign(void **state)
{
    static const struct trace_slot slots[] = {
        {0x00000402, 0x100, 33, 714},        {0x00000401, 0x100, 9, 0x100},
        {0x01000401, 0xfffffff0u, 8, 0x100}, {0x410010c0, 0x200, 1, 77},
        {0x410010c0, 0x201, 1, 78},          {0xc10010c0, 0x200, 0x636261, 0},
        {0x00001001, 0x205, 5, 1},           {0x810010c0, 0x201, 0x64636261, 0x68676665},
        {0xc10010c0, 0x201, 0x69, 0},        {0, 0, 0, 0},
        {0x01001001, 0x300, 6, 1},           {0xc10010c0, 0x999, 0, 0},
    };
    static const uint64_t times[] = {0x900000100ull, 0x900000100ull, 0x8fffffff0ull, 0x900000200ull,
                                     0x900000205ull, 0x900000201ull, 0x900000300ull};
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1, .foreign = true});
    struct kev_event event;
    struct kev_error error;
    struct kev *kev;
    unsigned n = 0;

    (void)state;
    for (unsigned i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
        mk_slot(mk, &slots[i]);
    }
    mk->len -= 3;
    kev = support_open(mk, NULL);
    assert_false(kev_info(kev)->kymo);
    assert_int_equal(kev_info(kev)->ncpu, 2);
    while (kev_next(kev, &event, &error) == KEV_EVENT) {
        assert_true(n < 7);
        assert_int_equal(event.time, times[n]);
        if (n == 5) {
            assert_int_equal(event.nwords, 6);
            assert_string_equal((const char *)(event.words + 2), "abcdefghi");
        }
        n++;
    }
    assert_int_equal(n, 7);
    kev_close(kev);
    mk_free(mk);
}

/* Events of one CPU with one time are counted, each time the capture is read. */
static void test_foreign_equal_stamps(void **state)
{
    /* Equal: of CPU 0 the fifth slot; of CPU 1 the second combine event, and the last one. Not
     * BUFFER and TIME, the slots of one combine event, another CPU's, another high word's. */
    static const struct trace_slot slots[] = {
        {0x00001001, 0x100, 5, 1},
        {0x00000402, 0x100, 33, 714},
        {0x00000401, 0x100, 9, 0x100},
        {0x00001001, 0x100, 5, 1},
        {0x00001002, 0x100, 5, 1},
        {0x01001001, 0x100, 5, 1},
        {0x410010c0, 0x200, 1, 77},
        {0xc10010c0, 0x200, 65, 0},
        {0x00000401, 0x100, 10, 0x100},
        {0x00001002, 0x100, 5, 1},
        {0, 0x100, 0, 0},
        {0x410010c0, 0x200, 1, 77},
        {0xc10010c0, 0x200, 65, 0},
        {0x01001002, 0x200, 5, 1},
    };
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1, .foreign = true});
    struct kev *kev;

    (void)state;
    for (unsigned i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
        mk_slot(mk, &slots[i]);
    }
    kev = support_open(mk, NULL);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(kev_info(kev)->equal_stamps, 0);
        assert_false(support_read_all(kev).error);
        assert_int_equal(kev_info(kev)->equal_stamps, 3);
        kev_rewind(kev);
    }
    kev_close(kev);
    mk_free(mk);
}

/* What is looked at of an event is forgotten with it: a CPU's only one does not repeat itself. */
static void test_rewind_single(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1, .checked = true});
    uint32_t words[2] = {1, 2};
    struct kev *kev;

    (void)state;
    mk_event(mk, 0, 10, TRACE_CLASS_USER, 1, words, 2);
    mk_flush_all(mk);
    mk_end(mk);
    kev = support_open(mk, NULL);
    for (unsigned i = 0; i < 2; i++) {
        assert_false(support_read_all(kev).error);
        kev_rewind(kev);
    }
    kev_close(kev);
    mk_free(mk);
}

/* Per-CPU buffers of another kernel are merged by time. */
static void test_foreign_per_cpu(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 3, .seed = 9, .foreign = true});
    struct support_read read;
    struct kev *kev;

    (void)state;
    mk_workload(mk, 20000);
    kev = support_open(mk, NULL);
    read = support_read_all(kev);
    assert_false(read.error);
    assert_true(read.ordered);
    assert_int_equal(read.slots, (mk->len - mk->slots_offset) / TRACE_SLOT_BYTES);
    kev_close(kev);
    mk_free(mk);
}

/* Appends to the test's file. */
static void append(const char *path, const uint8_t *bytes, size_t len)
{
    FILE *file = fopen(path, "ab");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    fclose(file);
}

/* The first event that is given while CPU 1 has nothing: none, then those before a byte. */
static void test_hold(void **state)
{
    struct kev_options options = {.follow = true};
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2});
    uint32_t words[2] = {1, 2};
    struct kev_event event;
    struct kev_error error;
    const char *path;
    struct kev *kev;
    uint64_t last = 0, middle;
    bool ended;
    size_t cpu0;
    unsigned n = 0;

    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        mk_event(mk, 0, 10, TRACE_CLASS_USER, 1, words, 2);
        mk_event(mk, 1, 11, TRACE_CLASS_USER, 2, words, 2);
    }
    mk_flush(mk, 0);
    cpu0 = mk->len;
    mk_flush(mk, 1);
    path = support_file(mk->bytes, cpu0);
    kev = kev_open(path, &options, &error);
    assert_non_null(kev);
    kev_hold(kev, KEV_HOLD_ALL);
    assert_int_equal(kev_next(kev, &event, &error), KEV_END);
    assert_int_equal(kev_next(kev, &event, &error), KEV_END);
    middle = mk->slots_offset + 10 * TRACE_SLOT_BYTES;
    kev_hold(kev, middle);
    for (; kev_next(kev, &event, &error) == KEV_EVENT; n++) {
        assert_true(event.offset < middle);
        last = event.time;
    }
    assert_int_equal(n, 10);
    append(path, mk->bytes + cpu0, mk->len - cpu0);
    assert_true(kev_refresh(kev, &ended, &error) == 1);
    /* CPU 1's first events are late; then all is in order again. */
    assert_int_equal(kev_next(kev, &event, &error), KEV_EVENT);
    assert_true(event.cpu == 1 && event.time < last);
    for (n = 11; kev_next(kev, &event, &error) == KEV_EVENT; n++) {
        assert_true(event.cpu == 1 || event.time >= last);
        last = event.time > last ? event.time : last;
    }
    assert_true(n < 404); /* CPU 0 has nothing after its last event: CPU 1's wait for it */
    kev_hold(kev, KEV_HOLD_NONE);
    for (; kev_next(kev, &event, &error) == KEV_EVENT; n++) {
    }
    assert_int_equal(n, 404);
    kev_close(kev);
    mk_free(mk);
}

/* Twice the same, from wherever, of each kind of capture. */
static void test_rewind(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 3; kind++) {
        struct mk *mk = mk_new(&(struct mk_options){
            .ncpu = 3, .seed = support_seed(), .foreign = kind == 1, .swapped = kind == 2});
        struct kev_event event;
        struct kev_error error;
        struct support_read first, second;
        struct kev *kev;

        mk_workload(mk, 3000);
        kev = support_open(mk, NULL);
        first = support_read_all(kev);
        kev_rewind(kev);
        for (unsigned i = 0; i < 777; i++) {
            assert_int_equal(kev_next(kev, &event, &error), KEV_EVENT);
            assert_true(i > 0 || event.time == kev_info(kev)->start);
        }
        kev_rewind(kev);
        second = support_read_all(kev);
        assert_true(first.events > 1000 && first.events == second.events &&
                    first.hash == second.hash && !second.error);
        kev_close(kev);
        mk_free(mk);
    }
}

static void test_follow(void **state)
{
    struct kev_options options = {.follow = true};
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 4, .seed = 11, .high_water = 60});
    struct support_read all = {0};
    struct kev_error error;
    const char *path;
    struct kev *kev;
    bool ended = false;
    uint64_t last = 0;
    size_t at;

    (void)state;
    mk_workload(mk, 20000);
    at = mk->slots_offset + 5;
    path = support_file(mk->bytes, at);
    kev = kev_open(path, &options, &error);
    assert_non_null(kev);
    while (at <= mk->len) {
        struct kev_event event;
        size_t piece = at + 3333 < mk->len ? 3333 : mk->len - at;

        kev_hold(kev, piece > 0 ? KEV_HOLD_ALL : KEV_HOLD_NONE);
        while (kev_next(kev, &event, &error) == KEV_EVENT) {
            assert_true(event.time >= last);
            last = event.time;
            all.slots += event.nwords / 2;
        }
        if (piece == 0) {
            break;
        }
        append(path, mk->bytes + at, piece);
        at += piece;
        assert_true(kev_refresh(kev, &ended, &error) >= 0);
        assert_false(ended);
    }
    assert_int_equal(all.slots, (mk->len - mk->slots_offset) / TRACE_SLOT_BYTES);
    kev_close(kev);
    mk_free(mk);
}

/* Of a file that grows is read what a descriptor was given for, from any position of the file. */
static void test_descriptor_bounded(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2, .seed = 12, .high_water = 60});
    struct kev_error error;
    size_t half;

    (void)state;
    mk_workload(mk, 5000);
    half =
        mk->slots_offset + (mk->len - mk->slots_offset) / (2 * TRACE_SLOT_BYTES) * TRACE_SLOT_BYTES;
    int fd = open(support_file(mk->bytes, mk->len), O_RDONLY);
    for (unsigned i = 0; i < 3; i++) {
        const struct kev_options options = {
            .by_descriptor = true, .descriptor = fd, .memory_bytes = i == 2 ? 0 : half};
        struct kev *kev = kev_open("bounded", &options, &error);

        assert_non_null(kev);
        assert_int_equal(kev_info(kev)->size, i == 2 ? mk->len : half);
        struct support_read read = support_read_all(kev);
        assert_int_equal(read.error, i != 2);
        kev_close(kev);
    }
    close(fd);
    mk_free(mk);
}

/* What an interrupt ends is an error, before the end of the events. */
static void test_interrupted(void **state)
{
    static volatile int flag;
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2, .seed = 13, .high_water = 60});
    struct kev_options options = {0};
    struct kev_event event;
    struct kev_error error;
    unsigned given = 0;

    (void)state;
    mk_workload(mk, 20000);
    kev_interrupted = &flag;
    struct kev *kev = support_open(mk, NULL);
    assert_int_equal(kev_next(kev, &event, &error), KEV_EVENT);
    flag = 1;
    while (kev_next(kev, &event, &error) == KEV_EVENT) {
        given++;
    }
    assert_true(given < 20000);
    assert_non_null(strstr(error.text, "interrupted"));
    kev_close(kev);
    assert_null(kev_open(support_file(mk->bytes, mk->len), &options, &error));
    kev_interrupted = NULL;
    mk_free(mk);
}

/* The capture's own tables win over those compiled in. */
static void test_tables(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    struct kev *kev = support_open(mk, NULL);

    (void)state;
    assert_string_equal(kev_describe(kev, 9, 7)->name, "OLD_EVENT");
    assert_string_equal(kev_describe(kev, TRACE_CLASS_KER_CALL, 11 + 128)->name, "MSG_SENDV");
    assert_int_equal(kev_describe(kev, TRACE_CLASS_KER_CALL, 11 + 128)->kind, KEV_CALL_EXIT);
    assert_int_equal(kev_describe(kev, TRACE_CLASS_KER_CALL, 11)->wide.n, 6);
    assert_string_equal(kev_irq_name(kev, 33), "uart0");
    assert_null(kev_irq_name(kev, 34));
    assert_string_equal(kev_state_name(kev, 6), "THREPLY");
    assert_string_equal(kev_state_name(kev, 7), "THSTACK");
    assert_string_equal(kev_call_name(kev, 100), "PROC_SPAWN");
    assert_string_equal(kev_describe(kev, TRACE_CLASS_KYMO_CALL, 100 + 128)->name, "PROC_SPAWN");
    assert_string_equal(kev_error_name(kev, 22), "EINVAL");
    assert_null(kev_error_name(kev, 23));
    assert_null(kev_error_name(kev, UINT32_MAX));
    assert_null(kev_describe(kev, 15, 1000));
    kev_close(kev);
    mk_free(mk);
}

/* Before version 3 of the system page Kymo's own calls were in class KER_CALL, and errors had no
 * names. */
static void test_own_calls(void **state)
{
    (void)state;
    for (unsigned page = 0; page <= 2; page++) {
        struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1, .page = page});
        struct kev *kev = support_open(mk, NULL);
        const struct kev_desc *as_qnx = kev_describe(kev, TRACE_CLASS_KER_CALL, 108 + 128);
        const struct kev_desc *own = kev_describe(kev, TRACE_CLASS_KYMO_CALL, 108 + 128);

        assert_string_equal((page == 0 ? own : as_qnx)->name, "NAME_ATTACH");
        assert_int_equal((page == 0 ? own : as_qnx)->kind, KEV_CALL_EXIT);
        assert_true(page != 0 || as_qnx == NULL);
        assert_string_equal(kev_call_name(kev, 108), "NAME_ATTACH");
        assert_true((kev_error_name(kev, 22) != NULL) == (page == 0));
        kev_close(kev);
        mk_free(mk);
    }
}

/* A system page that can't be read: nobody knows which class they are in. */
static void test_own_calls_recovered(void **state)
{
    struct kev_options options = {.recover = true};
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    uint8_t *page = memmem(mk->bytes, mk->len, "KYMO", 4);

    (void)state;
    page[4] = 99;
    mk_event(mk, 0, 1, TRACE_CLASS_USER, 1, (const uint32_t[]){1, 2}, 2);
    mk_flush_all(mk);
    struct kev *kev = support_open(mk, &options);

    for (unsigned kind = 0; kind < 3; kind++) {
        const struct kev_desc *desc = kev_describe(kev, TRACE_CLASS_KER_CALL, 108 + 128 * kind);

        assert_string_equal(desc->name, "NAME_ATTACH");
        assert_int_equal(desc->number, 108);
        assert_int_equal(desc->kind, KEV_CALL_ENTER + kind);
        assert_string_equal(kev_describe(kev, TRACE_CLASS_KYMO_CALL, 108 + 128 * kind)->name,
                            "NAME_ATTACH");
    }
    assert_null(kev_describe(kev, TRACE_CLASS_KER_CALL, 127));
    kev_close(kev);
    mk_free(mk);
}

/* Another kernel's calls with these numbers aren't Kymo's. */
static void test_own_calls_foreign(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1, .foreign = true});
    struct kev *kev = support_open(mk, NULL);

    (void)state;
    for (unsigned call = 100; call < 128; call++) {
        for (unsigned kind = 0; kind < 3; kind++) {
            assert_null(kev_describe(kev, TRACE_CLASS_KER_CALL, call + 128 * kind));
        }
        assert_null(kev_call_name(kev, call));
    }
    assert_string_equal(kev_call_name(kev, 11), "MSG_SENDV");
    assert_null(kev_error_name(kev, 22));
    kev_close(kev);
    mk_free(mk);
}

/* The worked values of the field's documents: decoders are known that take the wrong bits. */
static void test_worked_values(void **state)
{
    (void)state;
    assert_int_equal(TRACE_HEADER(2, 0, TRACE_CLASS_PR_TH, 1), 0x02001001);
    assert_int_equal(TRACE_HEADER(0, 0, TRACE_CLASS_KER_CALL, 11), 0x80b);
    assert_int_equal(TRACE_HEADER(0, 0, TRACE_CLASS_KER_CALL, 11 + TRACE_KERCALL_EXIT), 0x88b);
    assert_int_equal(TRACE_HEADER(0, 0, TRACE_CLASS_KER_CALL, 11 + TRACE_KERCALL_INT), 0x90b);
    assert_int_equal(TRACE_HEADER(1, TRACE_STRUCT_CB, TRACE_CLASS_PR_TH, 192), 0x410010c0);
    assert_int_equal(TRACE_GET_CPU(0xc10010c0), 1);
    assert_int_equal(TRACE_GET_CLASS(0xc10010c0), TRACE_CLASS_PR_TH);
    assert_int_equal(TRACE_GET_EVENT(0xc10010c0), 192);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_times),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_one_event),
        cmocka_unit_test(test_wraps),
        cmocka_unit_test(test_wrap_at_start),
        cmocka_unit_test(test_combine_sizes),
        cmocka_unit_test(test_workloads),
        cmocka_unit_test(test_swapped),
        cmocka_unit_test(test_swapped_prints_alike),
        cmocka_unit_test(test_tail),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_cpu_filter),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_foreign_per_cpu),
        cmocka_unit_test(test_foreign_equal_stamps),
        cmocka_unit_test(test_rewind_single),
        cmocka_unit_test(test_follow),
        cmocka_unit_test(test_descriptor_bounded),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_hold),
        cmocka_unit_test(test_rewind),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_own_calls),
        cmocka_unit_test(test_own_calls_recovered),
        cmocka_unit_test(test_own_calls_foreign),
        cmocka_unit_test(test_worked_values),
    };
    int result = cmocka_run_group_tests(tests, NULL, NULL);

    support_remove();
    return result;
}
