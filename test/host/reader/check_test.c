/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures of format 1.02 (docs/reference/format.md §4, §6): whatever bit is changed, whichever two
 * slots change places, whichever buffer is missing, doubled, elsewhere or another capture's,
 * wherever the file ends: the reader notices. KYMO_SEED repeats the random ones.
 * EVERY=n: as test/host/support.h says.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/capture/losses.h"
#include "test/host/support.h"

#define GROUPS_MOST 64

struct group {
    size_t at, len;
    unsigned cpu;
};

struct made {
    struct mk *mk;
    struct group group[GROUPS_MOST]; /* the header's CHECK is none */
    unsigned count;
};

/* What reading all of it comes to. */
struct seen {
    bool opened, error;
    uint64_t events;
    struct kev_error why;
    unsigned nmissing;
    struct kev_missing missing;
    bool recovered_noted; /* with --recover: damage was noted */
};

static struct seen read_bytes(const uint8_t *bytes, size_t len, bool recover)
{
    struct kev_options options = {.recover = recover};
    struct seen seen = {0};
    struct kev_event event;
    struct kev *kev = kev_open(support_file(bytes, len), &options, &seen.why);
    enum kev_result result = KEV_ERROR;

    while (kev != NULL && (result = kev_next(kev, &event, &seen.why)) == KEV_EVENT) {
        seen.events++;
    }
    seen.opened = kev != NULL;
    seen.error = result == KEV_ERROR;
    if (kev != NULL) {
        seen.nmissing = kev_info(kev)->nmissing;
        seen.missing = seen.nmissing > 0 ? kev_info(kev)->missing[0] : seen.missing;
        seen.recovered_noted = kev_damage(kev)->first[0] != '\0';
    }
    kev_close(kev);
    return seen;
}

/* Noticed by the strict reader; the recovering one gives what it can and has noted it, too. */
static void noticed(const struct made *made, const char *what, size_t at)
{
    struct seen strict = read_bytes(made->mk->bytes, made->mk->len, false);

    if (!strict.error) {
        fail_msg("not noticed: %s, at %zu", what, at);
    }
    struct seen loose = read_bytes(made->mk->bytes, made->mk->len, true);
    if (loose.error || !loose.recovered_noted) {
        fail_msg("--recover: %s, at %zu: %s", what, at,
                 loose.error ? loose.why.text : "nothing is noted");
    }
}

static void group_note(struct made *made, unsigned cpu)
{
    struct group *group = &made->group[made->count];
    size_t start = made->count == 0 ? made->mk->slots_offset : group[-1].at + group[-1].len;

    if (made->mk->len > start) {
        *group = (struct group){start, made->mk->len - start, cpu};
        made->count++;
    }
}

/* Small: every test below tries all of it. */
static struct made make(uint64_t seed, unsigned events, bool swapped)
{
    struct mk_options options = {.ncpu = 2,
                                 .high_water = 9,
                                 .seed = seed,
                                 .checked = true,
                                 .start = 0xfffffff0u,
                                 .swapped = swapped};
    struct made made = {.mk = mk_new(&options)};

    for (unsigned i = 0; i < events; i++) {
        unsigned cpu = mk_random(made.mk) % 2;
        const uint32_t words[5] = {mk_random(made.mk), i, 7, 7, mk_random(made.mk)};
        size_t before = made.mk->len;

        mk_event(made.mk, cpu, 1 + mk_random(made.mk) % 5, 6, i % 1024, words,
                 1 + mk_random(made.mk) % 5);
        if (made.mk->len != before) {
            group_note(&made, cpu);
        }
    }
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        mk_flush(made.mk, cpu);
        group_note(&made, cpu);
    }
    mk_tail(made.mk, 1, 2, 6, 5);
    group_note(&made, 1);
    mk_end(made.mk);
    return made;
}

static void test_whole(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        struct made made = make(i, 10 + i * 7, i % 2);
        struct seen seen = read_bytes(made.mk->bytes, made.mk->len, false);

        assert_false(seen.error);
        assert_true(seen.events > 10);
        mk_free(made.mk);
    }
}

static void test_every_bit(void **state)
{
    struct support_sample sample = support_sample();

    (void)state;
    for (unsigned swapped = 0; swapped < 2; swapped++) {
        struct made made = make(1 + swapped, 5, swapped);
        size_t step = swapped ? 29 : 1; /* the same code: fewer */

        for (size_t bit = sample.first; bit < made.mk->len * 8;
             bit += sample.every * (bit < (made.mk->slots_offset - 32) * 8 ? 5 : step)) {
            made.mk->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            struct seen seen = read_bytes(made.mk->bytes, made.mk->len, false);
            if (!seen.error) {
                fail_msg("byte %zu bit %zu (slots from %zu)", bit / 8, bit % 8,
                         made.mk->slots_offset);
            }
            made.mk->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        mk_free(made.mk);
    }
}

static void swap_bytes(uint8_t *a, uint8_t *b, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        uint8_t byte = a[i];

        a[i] = b[i];
        b[i] = byte;
    }
}

/* Two slots or two words of the file, any that are not more than 23 apart. */
static void every_swap(size_t size)
{
    struct made made = make(3, size == 4 ? 2 : 9, false);
    uint8_t *slots = made.mk->bytes + made.mk->slots_offset;
    size_t count = (made.mk->len - made.mk->slots_offset) / size;
    struct support_sample sample = support_sample();

    for (size_t i = sample.first % count; i < count; i += sample.every) {
        for (size_t j = i + 1; j < count && j < i + 24; j++) {
            if (memcmp(slots + i * size, slots + j * size, size) == 0) {
                continue;
            }
            swap_bytes(slots + i * size, slots + j * size, size);
            struct seen seen = read_bytes(made.mk->bytes, made.mk->len, false);
            if (!seen.error) {
                fail_msg("%zu bytes at %zu and %zu", size, i * size, j * size);
            }
            swap_bytes(slots + i * size, slots + j * size, size);
        }
    }
    mk_free(made.mk);
}

static void test_every_swap(void **state)
{
    (void)state;
    every_swap(TRACE_SLOT_BYTES);
    every_swap(4);
}

static void bytes_remove(struct mk *mk, size_t at, size_t len)
{
    memmove(mk->bytes + at, mk->bytes + at + len, mk->len - at - len);
    mk->len -= len;
}

static void bytes_insert(struct mk *mk, size_t at, const uint8_t *bytes, size_t len)
{
    mk->bytes = realloc(mk->bytes, mk->len + len);
    assert_non_null(mk->bytes);
    memmove(mk->bytes + at + len, mk->bytes + at, mk->len - at);
    memcpy(mk->bytes + at, bytes, len);
    mk->len += len;
}

static void test_groups_removed_and_doubled(void **state)
{
    struct made first = make(4, 40, false);
    unsigned count = first.count;

    (void)state;
    mk_free(first.mk);
    assert_true(count > 4);
    for (unsigned i = 0; i < count; i++) {
        for (unsigned to = 0; to <= count; to++) {
            struct made made = make(4, 40, false);
            struct group group = made.group[i];
            size_t at = to < count ? made.group[to].at
                                   : made.group[count - 1].at + made.group[count - 1].len;
            uint8_t *copy = malloc(group.len);

            assert_non_null(copy);
            memcpy(copy, made.mk->bytes + group.at, group.len);
            bytes_insert(made.mk, at, copy, group.len);
            noticed(&made, "a group doubled", i * 100 + to);
            /* And moved there: the original goes. */
            if (to != i && to != i + 1) {
                bytes_remove(made.mk, to <= i ? group.at + group.len : group.at, group.len);
                noticed(&made, "a group moved", i * 100 + to);
            }
            free(copy);
            mk_free(made.mk);
        }
        struct made made = make(4, 40, false);
        bytes_remove(made.mk, made.group[i].at, made.group[i].len);
        noticed(&made, "a group removed", i);
        mk_free(made.mk);
    }
}

/* Another capture's buffer of the same CPU, sequence and times. */
static void test_another_captures(void **state)
{
    struct mk_options options = {.ncpu = 1, .checked = true, .start = 5};
    struct mk *mk[2];

    (void)state;
    for (unsigned n = 0; n < 2; n++) {
        mk[n] = mk_new(&options);
        for (unsigned i = 0; i < 40; i++) {
            const uint32_t words[2] = {i, i == 25 && n == 1};

            mk_event(mk[n], 0, 3, 6, 1, words, 2);
            if (i % 10 == 9) {
                mk_flush(mk[n], 0);
            }
        }
        mk_end(mk[n]);
        assert_false(read_bytes(mk[n]->bytes, mk[n]->len, false).error);
    }
    assert_int_equal(mk[0]->len, mk[1]->len);
    size_t group = (10 + 2 + 2) * TRACE_SLOT_BYTES, at = mk[0]->slots_offset + 2 * group;
    memcpy(mk[0]->bytes + at, mk[1]->bytes + at, group);
    struct seen seen = read_bytes(mk[0]->bytes, mk[0]->len, false);
    assert_true(seen.error && seen.why.given);
    assert_non_null(strstr(seen.why.text, "has another sum than what is before it"));
    assert_true(seen.events == 40 + 4 * 2);
    mk_free(mk[0]);
    mk_free(mk[1]);
}

/* All that is whole is given; then the cut is reported. */
static void test_every_cut(void **state)
{
    struct made made = make(5, 25, false);
    struct support_sample sample = support_sample();
    uint64_t last = 0;

    (void)state;
    for (size_t len = sample.first; len < made.mk->len;
         len += sample.every * (len < made.mk->slots_offset - 32 ? 5 : 1)) {
        struct seen seen = read_bytes(made.mk->bytes, len, false);

        assert_true(seen.error);
        assert_true(seen.why.incomplete || (len < made.mk->slots_offset && !seen.opened));
        assert_true(!seen.opened || seen.why.given);
        assert_true(seen.events >= last);
        last = seen.events;
    }
    for (unsigned i = 0; i < made.count; i++) { /* between buffers: nothing else tells */
        size_t len = made.group[i].at + made.group[i].len;
        struct seen seen = read_bytes(made.mk->bytes, len, false);

        assert_non_null(strstr(seen.why.text, "without an end mark"));
        seen = read_bytes(made.mk->bytes, len, true);
        assert_true(!seen.error && seen.recovered_noted);
    }
    uint8_t copy[TRACE_SLOT_BYTES];
    memcpy(copy, made.mk->bytes + made.group[0].at, sizeof(copy));
    bytes_insert(made.mk, made.mk->len, copy, sizeof(copy));
    noticed(&made, "a slot behind the end mark", 0);
    mk_free(made.mk);
}

/* ---- gaps -------------------------------------------------------------------------- */

/* Two CPUs; `lose` of CPU 1's buffers from number 3 on are missing. */
static struct mk *gap_begin(bool checked, unsigned lose)
{
    struct mk_options options = {.ncpu = 2, .checked = checked, .start = 5};
    struct mk *mk = mk_new(&options);
    const uint32_t words[2] = {1, 2};

    for (unsigned i = 0; i < 2; i++) {
        mk_event(mk, 1, 3, 6, 1, words, 2);
        mk_flush(mk, 1);
    }
    for (unsigned i = 0; i < lose; i++) {
        mk_lose_buffer(mk, 1);
    }
    mk_event(mk, 0, 3, 6, 1, words, 2);
    return mk;
}

static struct seen gap_end(struct mk *mk)
{
    mk_flush_all(mk);
    mk_end(mk);
    struct seen seen = read_bytes(mk->bytes, mk->len, false);
    mk_free(mk);
    return seen;
}

static void gap_is(const struct seen *seen, uint32_t first, uint32_t last)
{
    assert_true(seen->error && seen->opened && seen->why.given && !seen->why.incomplete);
    assert_int_equal(seen->nmissing, 1);
    assert_int_equal(seen->missing.cpu, 1);
    assert_int_equal(seen->missing.first, first);
    assert_int_equal(seen->missing.last, last);
    assert_non_null(strstr(seen->why.text, "of CPU 1"));
}

static void test_gaps(void **state)
{
    const uint32_t words[2] = {1, 2};

    (void)state;
    for (unsigned checked = 0; checked < 2; checked++) {
        for (unsigned lose = 1; lose < 4; lose++) {
            struct mk *mk = gap_begin(checked, lose);
            uint32_t next = mk->cpu[1].sequence + 1;
            struct seen seen;

            mk_event(mk, 1, 3, 6, 1, words, 2);
            mk_dropped(mk, 0, 1, 6, 500); /* another CPU's accounts for nothing */
            seen = gap_end(mk);
            gap_is(&seen, 3, next - 1);

            mk = gap_begin(checked, lose); /* at the head of the next buffer */
            mk_dropped(mk, 1, 1, 6, lose);
            assert_false(gap_end(mk).error);

            mk = gap_begin(checked, lose); /* too few events for so many buffers */
            mk_dropped(mk, 1, 2, 6, 1000); /* of another reason */
            mk_dropped(mk, 1, 1, 6, lose - 1);
            seen = gap_end(mk);
            gap_is(&seen, 3, next - 1);

            mk = gap_begin(checked, lose); /* one buffer later, in two slots, two reasons */
            mk_event(mk, 1, 3, 6, 1, words, 2);
            mk_flush(mk, 1);
            mk_dropped(mk, 1, 1, 2, lose - 1);
            mk_dropped(mk, 1, 7, 6, 1);
            assert_false(gap_end(mk).error);

            mk = gap_begin(checked, lose); /* two gaps before one group of DROPPED, after all */
            mk_event(mk, 1, 3, 6, 1, words, 2);
            mk_flush(mk, 1);
            mk_lose_buffer(mk, 1);
            mk_event(mk, 1, 3, 6, 1, words, 2);
            mk_flush_all(mk);
            mk_tail(mk, 1, 1, 6, lose + 1);
            assert_false(gap_end(mk).error);
        }
    }
}

/* A ring's later run: what gave way accounts for the gap, and for no more than it counts. */
static void test_recycled(void **state)
{
    const uint32_t words[2] = {1, 2};

    (void)state;
    for (unsigned lose = 1; lose < 4; lose++) {
        struct mk *mk = gap_begin(true, lose);
        uint32_t next = mk->cpu[1].sequence + 1;
        struct seen seen;

        mk_event(mk, 1, 3, 6, 1, words, 2);
        mk_flush_all(mk);
        mk_tail(mk, 1, KYMO_DROP_RECYCLED, 1, lose);
        mk_event(mk, 1, 3, 6, 1, words, 2);
        assert_false(gap_end(mk).error);

        mk = gap_begin(true, lose);
        mk_event(mk, 1, 3, 6, 1, words, 2);
        mk_flush_all(mk);
        mk_tail(mk, 1, KYMO_DROP_RECYCLED, 1, lose - 1);
        mk_tail(mk, 0, KYMO_DROP_RECYCLED, 1, 500); /* another CPU's */
        seen = gap_end(mk);
        gap_is(&seen, 3, next - 1);

        mk = gap_begin(true, lose); /* before the gap */
        mk_tail(mk, 1, KYMO_DROP_RECYCLED, 1, 500);
        mk_event(mk, 1, 3, 6, 1, words, 2);
        seen = gap_end(mk);
        gap_is(&seen, 3, next - 1);
    }
}

/* A refused buffer's account is written at once: the CPU's next buffer comes after it. */
static void test_refused_before(void **state)
{
    const uint32_t words[2] = {1, 2};

    (void)state;
    for (unsigned checked = 0; checked < 2; checked++) {
        for (unsigned lose = 1; lose < 4; lose++) {
            struct mk *mk = gap_begin(checked, lose);
            uint32_t next = mk->cpu[1].sequence + 1;
            struct seen seen;

            mk_tail(mk, 1, KYMO_DROP_UNWRITTEN, 6, lose);
            mk_event(mk, 1, 3, 6, 1, words, 2);
            assert_false(gap_end(mk).error);

            mk = gap_begin(checked, lose); /* of buffers that it reported as overwritten, too */
            mk_lose_buffer(mk, 1);
            mk_tail(mk, 1, KYMO_DROP_OVERWRITTEN, 6, lose);
            mk_tail(mk, 1, KYMO_DROP_UNWRITTEN, 1, 1);
            mk_event(mk, 1, 3, 6, 1, words, 2);
            assert_false(gap_end(mk).error);

            mk = gap_begin(checked, lose); /* of one; the account of the others is behind */
            mk_tail(mk, 1, KYMO_DROP_UNWRITTEN, 6, 1);
            mk_dropped(mk, 1, KYMO_DROP_OVERWRITTEN, 6, lose - 1);
            mk_event(mk, 1, 3, 6, 1, words, 2);
            assert_false(gap_end(mk).error);

            mk = gap_begin(checked, lose); /* too few */
            mk_tail(mk, 1, KYMO_DROP_UNWRITTEN, 6, lose - 1);
            mk_tail(mk, 0, KYMO_DROP_UNWRITTEN, 6, 500); /* another CPU's */
            mk_tail(mk, 1, KYMO_DROP_NOBUFFER, 6, 500);  /* another reason */
            mk_event(mk, 1, 3, 6, 1, words, 2);
            seen = gap_end(mk);
            gap_is(&seen, 3, next - 1);
        }
    }
}

/* It has the account of older buffers, too, and the gap that they leave comes first. */
static void test_refused_with_others(void **state)
{
    const uint32_t words[2] = {1, 2};

    (void)state;
    for (unsigned checked = 0; checked < 2; checked++) {
        for (unsigned lose = 1; lose < 4; lose++) {
            struct mk *mk = gap_begin(checked, lose);
            struct seen seen;
            uint32_t next;

            mk_event(mk, 1, 3, 6, 1, words, 2);
            mk_flush(mk, 1);
            mk_lose_buffer(mk, 1);
            mk_tails(mk, 1, (const struct mk_loss[]){{1, 2, lose}, {7, 6, 1}}, 2);
            mk_event(mk, 1, 3, 6, 1, words, 2);
            assert_false(gap_end(mk).error);

            mk = gap_begin(checked, lose); /* likewise, and its own is not there */
            mk_event(mk, 1, 3, 6, 1, words, 2);
            mk_flush(mk, 1);
            next = mk->cpu[1].sequence + 1;
            mk_lose_buffer(mk, 1);
            mk_tails(mk, 1, (const struct mk_loss[]){{1, 2, lose}, {2, 6, 100}}, 2);
            mk_event(mk, 1, 3, 6, 1, words, 2);
            seen = gap_end(mk);
            gap_is(&seen, next, next);

            mk = gap_begin(checked, 0); /* of an earlier gap: the next buffer has none */
            mk_tail(mk, 1, KYMO_DROP_UNWRITTEN, 6, 500);
            mk_event(mk, 1, 3, 6, 1, words, 2);
            mk_flush(mk, 1);
            next = mk->cpu[1].sequence + 1;
            for (unsigned i = 0; i < lose; i++) {
                mk_lose_buffer(mk, 1);
            }
            mk_event(mk, 1, 3, 6, 1, words, 2);
            seen = gap_end(mk);
            gap_is(&seen, next, next + lose - 1);
        }
    }
}

/* The account of a CPU's first buffer has no time: the capture begins with the first one there. */
static void test_start_behind_refused(void **state)
{
    struct mk_options mk_options = {.ncpu = 2, .checked = true, .start = 500};
    struct mk *mk = mk_new(&mk_options);
    const uint32_t words[2] = {1, 2};
    struct kev_options options = {0};
    struct kev_error why;

    (void)state;
    mk_lose_buffer(mk, 1);
    mk_tail(mk, 1, KYMO_DROP_UNWRITTEN, 1, 1);
    mk_event(mk, 1, 3, 6, 1, words, 2);
    mk->cpu[0].now = mk->cpu[1].now + 100;
    mk_event(mk, 0, 3, 6, 1, words, 2);
    mk_flush_all(mk);
    mk_end(mk);
    struct kev *kev = kev_open(support_file(mk->bytes, mk->len), &options, &why);
    assert_non_null(kev);
    assert_in_range(kev_info(kev)->start, 500, 599);
    kev_close(kev);
    mk_free(mk);
}

/* A slot in the middle of a buffer is not one that the writer puts at its head. */
static void test_dropped_elsewhere(void **state)
{
    const uint32_t words[2] = {1, 2};
    struct mk *mk = gap_begin(true, 1);
    struct seen seen;

    (void)state;
    mk_event(mk, 1, 3, 6, 1, words, 2);
    mk_dropped(mk, 1, 1, 6, 500);
    seen = gap_end(mk);
    gap_is(&seen, 3, 3);
}

/* ---- stamps, versions -------------------------------------------------------------- */

static void test_equal_stamps(void **state)
{
    (void)state;
    for (unsigned checked = 0; checked < 2; checked++) {
        for (unsigned words = 2; words < 7; words += 4) {
            struct mk_options options = {.ncpu = 1, .checked = checked, .start = 5};
            struct mk *mk = mk_new(&options);
            const uint32_t text[6] = {0};

            mk_event(mk, 0, 3, 6, 1, text, words);
            mk->cpu[0].now--; /* what mk_event() adds at least */
            mk_event(mk, 0, 1, 6, 2, text, 2);
            mk_flush_all(mk);
            mk_end(mk);
            struct seen seen = read_bytes(mk->bytes, mk->len, false);
            assert_int_equal(seen.error, checked);
            assert_true(!checked || strstr(seen.why.text, "time of the one before it") != NULL);
            mk_free(mk);
        }
    }
}

/* Neither a lost version nor stripped CHECKs make an old capture of it. */
static void test_not_an_old_one(void **state)
{
    static const char *const from[] = {"TRACE_VER_MINOR::02", "TRACE_VER_MINOR::02",
                                       "TRACE_SYSNAME::Kymo"};
    static const char *const to[] = {"TRACE_VER_MINOR::01", "TRACE_VER_MINUR::02",
                                     "TRACE_SYSNAMO::Kymo"};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct made made = make(6, 30, false);
        uint8_t *at = memmem(made.mk->bytes, made.mk->len, from[i], strlen(from[i]));

        assert_non_null(at);
        memcpy(at, to[i], strlen(to[i]));
        assert_true(read_bytes(made.mk->bytes, made.mk->len, false).error);
        mk_free(made.mk);
    }
    struct made made = make(6, 30, false);
    for (unsigned i = made.count - 2; i > 0; i--) {
        bytes_remove(made.mk, made.group[i - 1].at + made.group[i - 1].len - 32, 32);
    }
    assert_true(read_bytes(made.mk->bytes, made.mk->len, false).error);
    mk_free(made.mk);
}

/* ---- at random --------------------------------------------------------------------- */

static void change(struct mk *mk, size_t *where)
{
    size_t at = mk_random(mk) % mk->len, n = 1 + mk_random(mk) % 40;

    *where = at;
    n = n < mk->len - at ? n : mk->len - at;
    switch (mk_random(mk) % 4) {
    case 0:
        mk->bytes[at] ^= (uint8_t)(1 + mk_random(mk) % 255);
        break;
    case 1:
        bytes_remove(mk, at, n);
        break;
    case 2:
        bytes_insert(mk, at, (const uint8_t *)"0123456789012345678901234567890123456789", n);
        break;
    default:
        for (size_t i = 0; i < n; i++) {
            mk->bytes[at + i] = (uint8_t)~mk->bytes[at + i];
        }
        break;
    }
}

static void test_random(void **state)
{
    uint64_t seed = support_seed();

    (void)state;
    for (unsigned i = 0; i < 150; i++) {
        struct made made = make(seed + i, 10 + i % 90, i % 3 == 0);
        size_t at;

        assert_false(read_bytes(made.mk->bytes, made.mk->len, false).error);
        change(made.mk, &at);
        struct seen seen = read_bytes(made.mk->bytes, made.mk->len, false);
        if (!seen.error) {
            fail_msg("KYMO_SEED=%llu: not noticed at %zu", (unsigned long long)(seed + i), at);
        }
        read_bytes(made.mk->bytes, made.mk->len, true);
        mk_free(made.mk);
    }
}

struct put {
    struct trace_slot slots[16];
    size_t count;
};

static int put(void *to, const void *data, size_t bytes)
{
    struct put *put = to;

    memcpy(&put->slots[put->count], data, bytes);
    put->count += bytes / sizeof(put->slots[0]);
    return 0;
}

/* The account of losses after a buffer is closed by a trailer, once, and only if there is one. */
static void test_losses_are_closed(void **state)
{
    struct capture_check check;
    struct put out = {.count = 0};

    (void)state;
    capture_check_begin(&check);
    assert_int_equal(capture_losses_close(&check, 1, put, &out), 0);
    assert_int_equal(out.count, 0);
    assert_int_equal(capture_losses_slots(&check, 1, 0x203, UINT32_MAX + 5ull, put, &out), 0);
    assert_int_equal(out.count, 2);
    assert_int_equal(out.slots[0].d2, UINT32_MAX);
    assert_int_equal(out.slots[1].d2, 5);
    assert_int_equal(capture_losses_close(&check, 1, put, &out), 0);
    assert_int_equal(out.count, 2 + CAPTURE_TRAILER_SLOTS);
    assert_int_equal(TRACE_GET_EVENT(out.slots[2].header), TRACE_CONTROL_CHECK);
    assert_int_equal(TRACE_GET_EVENT(out.slots[3].header), TRACE_CONTROL_BUFFER_END);
    assert_int_equal(capture_losses_close(&check, 1, put, &out), 0);
    assert_int_equal(out.count, 2 + CAPTURE_TRAILER_SLOTS);
}

static int clean(void **state)
{
    (void)state;
    support_remove();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_every_swap),
        cmocka_unit_test(test_groups_removed_and_doubled),
        cmocka_unit_test(test_another_captures),
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_refused_before),
        cmocka_unit_test(test_refused_with_others),
        cmocka_unit_test(test_start_behind_refused),
        cmocka_unit_test(test_recycled),
        cmocka_unit_test(test_dropped_elsewhere),
        cmocka_unit_test(test_equal_stamps),
        cmocka_unit_test(test_not_an_old_one),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_losses_are_closed),
    };

    return cmocka_run_group_tests(tests, NULL, clean);
}
