/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Damaged captures: an error that names the offset, or with `recover` the sound rest; never a crash
 * or a hang. Random parts print their seed: KYMO_SEED=n repeats them. EVERY=n: as
 * test/host/support.h says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/stat/stat.h"
#include "test/host/support.h"

static struct mk *with_events(unsigned events, uint64_t seed, bool foreign, bool swapped)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 3,
                                                .seed = seed,
                                                .high_water = 25,
                                                .start = 0xfffffc00u,
                                                .foreign = foreign,
                                                .swapped = swapped});

    mk_workload(mk, events);
    mk_slot(mk, &(struct trace_slot){TRACE_HEADER(1, 0, TRACE_CLASS_CONTROL, 8), 5, 0x106, 7});
    return mk;
}

static struct mk *small(uint64_t seed, bool foreign, bool swapped)
{
    return with_events(300, seed, foreign, swapped);
}

/* For what is read thousands of times. */
static struct mk *tiny(uint64_t seed, bool foreign, bool swapped)
{
    return with_events(60, seed, foreign, swapped);
}

static struct kev *open_bytes(const void *bytes, size_t len, bool recover, struct kev_error *error)
{
    struct kev_options options = {.recover = recover};

    return kev_open(support_file(bytes, len), &options, error);
}

static struct support_read read_bytes(const void *bytes, size_t len, bool recover)
{
    struct support_read read = {.error = true};
    struct kev *kev = open_bytes(bytes, len, recover, &read.why);

    if (kev != NULL) {
        read = support_read_all(kev);
        kev_close(kev);
    }
    if (read.error) {
        assert_true(strlen(read.why.text) > 20);
        assert_non_null(strstr(read.why.text, "kymo-test-"));
    }
    return read;
}

/* The account of a capture, shown to nowhere. */
static void stat_bytes(const void *bytes, size_t len)
{
    struct kev_error error;
    struct kev *kev = open_bytes(bytes, len, true, &error);
    struct stat *stat = stat_new(kev);
    const struct stat_style style = {.all = true};
    struct kev_event event;
    FILE *nowhere = fopen("/dev/null", "w");

    assert_true(kev != NULL && stat != NULL && nowhere != NULL);
    while (kev_next(kev, &event, &error) == KEV_EVENT) {
        stat_event(stat, &event);
    }
    stat_finish(stat);
    text_show(nowhere, stat, &style);
    json_show(nowhere, stat);
    fclose(nowhere);
    stat_free(stat);
    free(stat);
    kev_close(kev);
}

/* Buffers far after what may be anything: only recovering looks for them there. */
static void test_far_head(void **state)
{
    struct mk *mk = tiny(1, false, false);
    size_t far = 9u << 20, near = 4u << 20;
    uint8_t *bytes = calloc(1, far + mk->len);

    (void)state;
    assert_non_null(bytes);
    memcpy(bytes + far, mk->bytes + mk->slots_offset, mk->len - mk->slots_offset);
    assert_true(read_bytes(bytes, far + mk->len - mk->slots_offset, true).events > 0);
    assert_true(read_bytes(bytes, far + mk->len - mk->slots_offset, false).why.recoverable);
    assert_false(read_bytes(bytes, far, false).why.recoverable);
    assert_true(
        read_bytes(bytes + far - near, near + mk->len - mk->slots_offset, false).why.recoverable);
    free(bytes);
    mk_free(mk);
}

/* Cut at every byte, or a sample of them: all whole slots are given, and it is said that the file
 * is cut. */
static void test_every_truncation(void **state)
{
    struct mk *mk = tiny(1, false, false);
    struct support_sample sample = support_sample();
    uint64_t before = 0;

    (void)state;
    for (size_t len = sample.first; len < mk->len; len += sample.every) {
        struct support_read read = read_bytes(mk->bytes, len, false);
        struct support_read rest = read_bytes(mk->bytes, len, true);

        assert_false(rest.error);
        if (len < mk->slots_offset) {
            assert_true(read.error);
            assert_int_equal(read.events, 0);
            continue;
        }
        assert_true(!read.error || read.why.incomplete);
        assert_true(read.events >= before);
        assert_true(read.error || (len - mk->slots_offset) % TRACE_SLOT_BYTES == 0);
        before = read.events;
    }
    mk_free(mk);
}

static void test_truncated_foreign(void **state)
{
    struct mk *mk = tiny(2, true, true);
    struct support_sample sample = support_sample();

    (void)state;
    for (size_t len = mk->slots_offset + sample.first; len < mk->len; len += sample.every) {
        assert_false(read_bytes(mk->bytes, len, false).error);
    }
    mk_free(mk);
}

/* Where the n-th BUFFER slot lies. */
static size_t buffer_offset(const struct mk *mk, unsigned n, uint32_t *slots)
{
    size_t at = mk->slots_offset;

    for (;; n--) {
        struct trace_slot slot;

        memcpy(&slot, mk->bytes + at, sizeof(slot));
        assert_int_equal(TRACE_GET_EVENT(slot.header), TRACE_CONTROL_BUFFER);
        *slots = slot.d2;
        if (n == 0) {
            return at;
        }
        at += (size_t)slot.d2 * TRACE_SLOT_BYTES;
    }
}

static uint64_t all_slots(const struct mk *mk)
{
    return (mk->len - mk->slots_offset) / TRACE_SLOT_BYTES;
}

static void expect_offset(const struct support_read *read, size_t offset)
{
    char text[64];

    assert_true(read->error);
    assert_int_equal(read->why.offset, offset);
    snprintf(text, sizeof(text), "at byte %zu ", offset);
    assert_non_null(strstr(read->why.text, text));
    assert_true(read->why.recoverable);
}

/* A buffer whose head is gone costs at most that buffer. */
static void test_head_destroyed(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 6; n++) {
        struct mk *mk = small(3, false, false);
        uint32_t slots;
        size_t at = buffer_offset(mk, n, &slots);
        struct support_read read;

        memset(mk->bytes + at, 0xa5, 16);
        read = read_bytes(mk->bytes, mk->len, false);
        expect_offset(&read, at);
        read = read_bytes(mk->bytes, mk->len, true);
        assert_false(read.error);
        assert_true(read.slots >= all_slots(mk) - slots);
        assert_true(read.slots < all_slots(mk));
        mk_free(mk);
    }
}

/* A wrong count, larger or smaller. */
static void test_count_wrong(void **state)
{
    static const int changes[] = {-20, -1, 1, 2, 700};

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        struct mk *mk = small(4, false, false);
        uint32_t slots;
        size_t at = buffer_offset(mk, 2, &slots);
        struct support_read read;

        slots += (uint32_t)changes[i];
        memcpy(mk->bytes + at + 12, &slots, 4);
        assert_true(read_bytes(mk->bytes, mk->len, false).error);
        read = read_bytes(mk->bytes, mk->len, true);
        assert_false(read.error);
        assert_true(read.slots + 20 >= all_slots(mk));
        mk_free(mk);
    }
}

/* Bytes missing or too many inside a buffer: the others stay readable. */
static void test_bytes_shifted(void **state)
{
    static const size_t gone[] = {1, 7, 16, 24, 160};

    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        struct mk *mk = small(5, false, false);
        uint32_t slots;
        size_t at = buffer_offset(mk, 1, &slots) + 64, n = gone[i / 2];
        struct support_read read;
        uint64_t all = all_slots(mk);

        if (i % 2 == 0) {
            memmove(mk->bytes + at, mk->bytes + at + n, mk->len - at - n);
            mk->len -= n;
        } else {
            mk->bytes = realloc(mk->bytes, mk->len + n);
            memmove(mk->bytes + at + n, mk->bytes + at, mk->len - at);
            memset(mk->bytes + at, 0xee, n);
            mk->len += n;
        }
        assert_true(read_bytes(mk->bytes, mk->len, false).error);
        read = read_bytes(mk->bytes, mk->len, true);
        assert_false(read.error);
        assert_true(read.slots >= all - slots);
        assert_true(read.slots <= all);
        mk_free(mk);
    }
}

/* A slot spoilt in every possible way: its offset is named, only it is lost. */
static void test_slot_wrong(void **state)
{
    static const uint32_t flips[] = {0x01000000, 0x00040000, 0x00800000, 0x20000000};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct mk *mk = small(6, false, false);
        struct support_read read;
        uint32_t slots, header;
        size_t at = buffer_offset(mk, 4, &slots) + 5 * TRACE_SLOT_BYTES;

        do {
            at += TRACE_SLOT_BYTES;
            memcpy(&header, mk->bytes + at, 4);
        } while (TRACE_GET_STRUCT(header) != TRACE_STRUCT_S);
        header ^= flips[i];
        memcpy(mk->bytes + at, &header, 4);
        read = read_bytes(mk->bytes, mk->len, false);
        expect_offset(&read, at);
        read = read_bytes(mk->bytes, mk->len, true);
        assert_false(read.error);
        assert_int_equal(read.slots, all_slots(mk) - 1);
        mk_free(mk);
    }
}

/* A time that runs backwards, and one far ahead: only that slot is lost. */
static void test_time_wrong(void **state)
{
    static const uint32_t times[] = {0, 0xfffffffeu};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1, .start = 0x10000});
        uint32_t words[2] = {1, 2};
        struct support_read read;

        for (unsigned n = 0; n < 50; n++) {
            mk_event(mk, 0, 10, TRACE_CLASS_USER, n, words, 2);
        }
        mk_flush_all(mk);
        memcpy(mk->bytes + mk->slots_offset + 20 * TRACE_SLOT_BYTES + 4, &times[i], 4);
        read = read_bytes(mk->bytes, mk->len, false);
        assert_true(read.error);
        read = read_bytes(mk->bytes, mk->len, true);
        assert_int_equal(read.slots, 51);
        assert_true(read.ordered);
        mk_free(mk);
    }
}

static void test_sequence_wrong(void **state)
{
    struct mk *mk = small(7, false, false);
    uint32_t slots, one = 1;
    size_t at = buffer_offset(mk, 8, &slots);
    struct support_read read;

    (void)state;
    memcpy(mk->bytes + at + 8, &one, 4);
    read = read_bytes(mk->bytes, mk->len, false);
    expect_offset(&read, at);
    read = read_bytes(mk->bytes, mk->len, true);
    assert_int_equal(read.slots, all_slots(mk));
    mk_free(mk);
}

/* A combine event without its end, and one without its start. */
static void test_combine_broken(void **state)
{
    uint32_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};

    (void)state;
    for (unsigned gone = 0; gone < 4; gone++) {
        struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
        uint32_t header = TRACE_HEADER(0, 0, TRACE_CLASS_USER, 3);
        struct support_read read;

        mk_event(mk, 0, 10, TRACE_CLASS_USER, 9, words, 8);
        mk_event(mk, 0, 10, TRACE_CLASS_USER, 10, words, 8);
        mk_flush_all(mk);
        memcpy(mk->bytes + mk->slots_offset + (2 + gone) * TRACE_SLOT_BYTES, &header, 4);
        read = read_bytes(mk->bytes, mk->len, false);
        assert_true(read.error);
        read = read_bytes(mk->bytes, mk->len, true);
        assert_false(read.error);
        assert_true(read.events >= 4); /* BUFFER, TIME, the spoilt one, the second */
        mk_free(mk);
    }
}

/* Every byte of the head, one bit of it, by turns the first to the last. */
static void test_head_flips(void **state)
{
    struct support_sample sample = support_sample();
    struct mk *mk = tiny(8, false, false);

    (void)state;
    for (size_t i = sample.first; i < mk->slots_offset; i += sample.every) {
        mk->bytes[i] ^= (uint8_t)(1u << i % 8);
        read_bytes(mk->bytes, mk->len, false);
        assert_false(read_bytes(mk->bytes, mk->len, true).error);
        mk->bytes[i] ^= (uint8_t)(1u << i % 8);
    }
    mk_free(mk);
}

static void random_change(struct mk *mk)
{
    size_t at = mk_random(mk) % mk->len;
    unsigned n = 1 + mk_random(mk) % 64;

    switch (mk_random(mk) % 4) {
    case 0:
        mk->bytes[at] ^= (uint8_t)(1u << mk_random(mk) % 8);
        break;
    case 1:
        for (; n > 0 && at < mk->len; n--, at++) {
            mk->bytes[at] = (uint8_t)mk_random(mk);
        }
        break;
    case 2: /* one part over another */
        if (at + n <= mk->len) {
            memmove(mk->bytes + at, mk->bytes + mk_random(mk) % (mk->len - n), n);
        }
        break;
    default:
        mk->len = mk->len - at < 100 ? at : mk->len;
        break;
    }
}

static void test_random(void **state)
{
    uint64_t seed = support_seed();
    const char *rounds = getenv("KYMO_ROUNDS");
    unsigned n = rounds == NULL ? 500 : (unsigned)atoi(rounds);

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        struct mk *mk = small(seed + i, i % 5 == 4, i % 3 == 2);

        for (unsigned changes = 1 + mk_random(mk) % 8; changes > 0 && mk->len > 1; changes--) {
            random_change(mk);
        }
        alarm(600); /* a hang detector */
        read_bytes(mk->bytes, mk->len, false);
        read_bytes(mk->bytes, mk->len, true);
        stat_bytes(mk->bytes, mk->len);
        alarm(0);
        mk_free(mk);
    }
}

/* Nothing but noise after a good head, and nothing but noise. */
static void test_noise(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2, .seed = support_seed()});
    struct kev_error error;

    (void)state;
    for (unsigned i = 0; i < 5000; i++) {
        mk_slot(mk,
                &(struct trace_slot){mk_random(mk), mk_random(mk), mk_random(mk), mk_random(mk)});
    }
    assert_true(read_bytes(mk->bytes, mk->len, false).error);
    assert_false(read_bytes(mk->bytes, mk->len, true).error);
    assert_null(
        open_bytes(mk->bytes + mk->slots_offset, mk->len - mk->slots_offset, false, &error));
    assert_non_null(strstr(error.text, "not a capture"));
    mk_free(mk);
}

static void test_not_there(void **state)
{
    struct kev_options options = {0};
    struct kev_error error;

    (void)state;
    assert_null(kev_open("/nowhere/x.kev", &options, &error));
    assert_non_null(strstr(error.text, "/nowhere/x.kev: cannot open: No such file"));
    assert_null(kev_open("/", &options, &error));
    assert_non_null(strstr(error.text, "directory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_far_head),
        cmocka_unit_test(test_truncated_foreign),
        cmocka_unit_test(test_head_destroyed),
        cmocka_unit_test(test_count_wrong),
        cmocka_unit_test(test_bytes_shifted),
        cmocka_unit_test(test_slot_wrong),
        cmocka_unit_test(test_time_wrong),
        cmocka_unit_test(test_sequence_wrong),
        cmocka_unit_test(test_combine_broken),
        cmocka_unit_test(test_head_flips),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_not_there),
    };
    int result = cmocka_run_group_tests(tests, NULL, NULL);

    support_remove();
    return result;
}
