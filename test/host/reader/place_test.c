/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whatever groups of slots are taken out of a capture of format 1.02, the reader tells exactly
 * what: beside losses that really happened, on the same CPU or another, and without the end mark.
 * Sound captures are never accused, wherever they end. The captures are drawn at random: KYMO_SEED
 * repeats them.
 */
#include <stdlib.h>
#include <string.h>

#include "test/host/support.h"

#define GROUPS_MOST 400
#define CPUS 4

struct group {
    size_t at, len;
    unsigned cpu;
    uint32_t sequence; /* 0: no buffer */
    bool gone;
};

struct made {
    struct mk *mk;
    struct group group[GROUPS_MOST];
    unsigned count;
    size_t end; /* where the end mark begins */
};

struct seen {
    bool error, given, incomplete;
    uint64_t bytes, buffers[CPUS]; /* missing, and known to have been there */
    unsigned doubts;               /* rows of buffers that nothing accounts for */
    unsigned rows;
    struct kev_missing row[GROUPS_MOST];
    char text[768];
};

static struct seen read_bytes(const uint8_t *bytes, size_t len, bool recover)
{
    struct kev_options options = {.recover = recover};
    struct kev_error why = {0};
    struct seen seen = {0};
    struct kev_event event;
    struct kev *kev = kev_open(support_file(bytes, len), &options, &why);
    enum kev_result result;

    assert_non_null(kev);
    do {
        result = kev_next(kev, &event, &why);
    } while (result == KEV_EVENT);
    const struct kev_info *info = kev_info(kev);
    seen.error = result == KEV_ERROR || kev_damage(kev)->first[0] != '\0';
    seen.given = why.given;
    seen.incomplete = why.incomplete;
    seen.bytes = info->missing_bytes;
    memcpy(seen.text, why.text, sizeof(seen.text));
    assert_true(info->nmissing <= GROUPS_MOST);
    for (unsigned i = 0; i < info->nmissing; i++) {
        seen.row[seen.rows++] = info->missing[i];
        seen.doubts += !info->missing[i].written;
        seen.buffers[info->missing[i].cpu] +=
            info->missing[i].written ? info->missing[i].buffers : 0;
    }
    kev_close(kev);
    return seen;
}

static void group_note(struct made *made, unsigned cpu, uint32_t sequence)
{
    struct group *group = &made->group[made->count];
    size_t start = made->count == 0 ? made->mk->slots_offset : group[-1].at + group[-1].len;

    assert_true(made->count < GROUPS_MOST && made->mk->len > start);
    *group = (struct group){start, made->mk->len - start, cpu, sequence, false};
    made->count++;
}

/* A buffer of a CPU, perhaps after some that the kernel overwrote; what it says of them may stand
 * here or a buffer later, and count as many events as buffers or a thousand times as many. */
static void buffer_make(struct made *made, unsigned cpu, uint32_t owed[CPUS])
{
    struct mk *mk = made->mk;
    const uint32_t words[2] = {mk_random(mk), mk_random(mk)};

    if (mk->cpu[cpu].sequence > 0 && mk_random(mk) % 3 == 0) {
        uint32_t lost = 0;

        for (unsigned n = 1 + mk_random(mk) % 4; n > 0; n--) {
            mk_lose_buffer(mk, cpu);
            lost++;
        }
        if (owed[cpu] == 0 && mk_random(mk) % 3 == 0) { /* refused: counted before the next one */
            mk_tail(mk, cpu, 7, 6, lost * (1 + mk_random(mk) % 1000));
            group_note(made, cpu, 0);
            lost = 0;
        }
        owed[cpu] += lost;
    }
    if (owed[cpu] > 0 && mk_random(mk) % 4 != 0) {
        mk_dropped(mk, cpu, mk_random(mk) % 2 ? 1 : 7, 6, owed[cpu] * (1 + mk_random(mk) % 1000));
        owed[cpu] = 0;
    }
    for (unsigned n = 1 + mk_random(mk) % 5; n > 0; n--) {
        mk_event(mk, cpu, 1 + mk_random(mk) % 9, 6, 1, words, 2);
    }
    mk_flush(mk, cpu);
    group_note(made, cpu, mk->cpu[cpu].sequence);
}

static struct made make(uint64_t seed, unsigned groups, bool swapped)
{
    struct mk_options options = {.ncpu = 1 + (unsigned)(seed % CPUS),
                                 .seed = seed,
                                 .checked = true,
                                 .start = 5,
                                 .swapped = swapped};
    struct made made = {.mk = mk_new(&options)};
    uint32_t owed[CPUS] = {0};

    for (unsigned cpu = 0; cpu < options.ncpu; cpu++) { /* a ring's first number isn't 1 */
        made.mk->cpu[cpu].sequence = seed % 2 ? mk_random(made.mk) % 50 : 0;
    }
    while (made.count < groups) {
        unsigned cpu = mk_random(made.mk) % options.ncpu;

        if (mk_random(made.mk) % 6 == 0) {
            mk_tail(made.mk, cpu, 2, 6, 1 + mk_random(made.mk) % 9);
            group_note(&made, cpu, 0);
        } else {
            buffer_make(&made, cpu, owed);
        }
    }
    for (unsigned cpu = 0; cpu < options.ncpu; cpu++) {
        if (owed[cpu] > 0) {
            mk_tail(made.mk, cpu, 1, 6, owed[cpu]);
            group_note(&made, cpu, 0);
        }
    }
    made.end = made.mk->len;
    mk_end(made.mk);
    return made;
}

/* ---- what is there, without the groups that are gone ------------------------------- */

static size_t copy_rest(const struct made *made, size_t end, uint8_t *to)
{
    size_t len = made->mk->slots_offset;

    memcpy(to, made->mk->bytes, len);
    for (unsigned i = 0; i < made->count; i++) {
        if (!made->group[i].gone) {
            memcpy(to + len, made->mk->bytes + made->group[i].at, made->group[i].len);
            len += made->group[i].len;
        }
    }
    memcpy(to + len, made->mk->bytes + made->end, end - made->end);
    return len + end - made->end;
}

/* The last group that is here, of a CPU or of any; -1: none. */
static int last_here(const struct made *made, int cpu)
{
    int last = -1;

    for (unsigned i = 0; i < made->count; i++) {
        bool it = !made->group[i].gone && (cpu < 0 || made->group[i].cpu == (unsigned)cpu);

        last = it ? (int)i : last;
    }
    return last;
}

/* Of the CPU's buffers that are gone, those with something of it after them; all, if the end mark
 * is there. */
static uint64_t gone_of(const struct made *made, unsigned cpu, bool end)
{
    int last = end ? (int)made->count : last_here(made, (int)cpu);
    uint64_t buffers = 0;

    for (int i = 0; i < last; i++) {
        const struct group *group = &made->group[i];

        buffers += group->gone && group->cpu == cpu && group->sequence > 0;
    }
    return buffers;
}

static uint64_t gone_bytes(const struct made *made)
{
    uint64_t bytes = 0;

    for (int i = 0; i < last_here(made, -1); i++) {
        bytes += made->group[i].gone ? made->group[i].len : 0;
    }
    return bytes;
}

static bool row_has(const struct seen *seen, const struct group *group)
{
    for (unsigned i = 0; i < seen->rows; i++) {
        const struct kev_missing *row = &seen->row[i];

        if (row->written && row->cpu == group->cpu && row->first <= group->sequence &&
            group->sequence <= row->last) {
            return true;
        }
    }
    return false;
}

static void compare(const struct made *made, bool end, bool recover, uint64_t seed)
{
    uint8_t *bytes = malloc(made->mk->len);
    size_t len = copy_rest(made, end ? made->mk->len : made->end, bytes);
    struct seen seen = read_bytes(bytes, len, recover);
    bool any = false;

    for (unsigned cpu = 0; cpu < made->mk->ncpu; cpu++) {
        uint64_t gone = gone_of(made, cpu, end);

        if (seen.buffers[cpu] != gone) {
            fail_msg("KYMO_SEED=%llu: %llu buffers of CPU %u are gone, %llu told: %s",
                     (unsigned long long)seed, (unsigned long long)gone, cpu,
                     (unsigned long long)seen.buffers[cpu], seen.text);
        }
    }
    for (unsigned i = 0; i < made->count; i++) {
        any |= made->group[i].gone;
    }
    assert_int_equal(seen.bytes, gone_bytes(made));
    assert_int_equal(seen.error, any || !end);
    if (!recover) {
        assert_true(seen.given || !seen.error);
        assert_int_equal(seen.incomplete, !end);
        /* Whoever reads only the message learns of more than the cut. */
        assert_true(seen.bytes == 0 || strstr(seen.text, "missing") != NULL);
    }
    for (unsigned i = 0; i < made->count; i++) {
        const struct group *group = &made->group[i];
        bool later = false;

        for (unsigned k = i + 1; k < made->count; k++) {
            later |= !made->group[k].gone && made->group[k].cpu == group->cpu &&
                     made->group[k].sequence > 0;
        }
        if (group->gone && group->sequence > 0 && later && !row_has(&seen, group)) {
            fail_msg("KYMO_SEED=%llu: buffer %u of CPU %u is not named", (unsigned long long)seed,
                     group->sequence, group->cpu);
        }
    }
    free(bytes);
}

/* ---- the properties ---------------------------------------------------------------- */

static void test_sound(void **state)
{
    uint64_t seed = support_seed();

    (void)state;
    for (uint64_t i = seed; i < seed + 8; i++) {
        struct made made = make(i, 4 + (unsigned)(i % 30), i % 5 == 0);
        struct seen seen = read_bytes(made.mk->bytes, made.mk->len, false);

        if (seen.error || seen.rows > 0 || seen.bytes > 0) {
            fail_msg("KYMO_SEED=%llu: %s", (unsigned long long)i, seen.text);
        }
        for (unsigned k = 0; k < made.count; k++) { /* cut after any group: none is missing */
            size_t len = made.group[k].at + made.group[k].len;

            seen = read_bytes(made.mk->bytes, len, false);
            assert_true(seen.error && seen.incomplete && seen.bytes == 0);
            assert_int_equal(seen.rows, seen.doubts); /* what says of losses may be behind */
        }
        mk_free(made.mk);
    }
}

static void test_any_one(void **state)
{
    uint64_t seed = support_seed();

    (void)state;
    for (uint64_t i = seed; i < seed + 6; i++) {
        struct made made = make(i, 25, i % 3 == 0);

        for (unsigned k = 0; k < made.count; k++) {
            made.group[k].gone = true;
            compare(&made, false, false, i);
            compare(&made, true, k % 2, i);
            made.group[k].gone = false;
        }
        mk_free(made.mk);
    }
}

static void test_any_runs(void **state)
{
    uint64_t seed = support_seed();

    (void)state;
    for (uint64_t i = seed; i < seed + 300; i++) {
        struct made made = make(i, 6 + (unsigned)(i % 30), i % 7 == 0);

        for (unsigned runs = 1 + mk_random(made.mk) % 3; runs > 0; runs--) {
            unsigned at = mk_random(made.mk) % made.count, n = 1 + mk_random(made.mk) % 8;

            for (unsigned k = at; k < at + n && k < made.count; k++) {
                made.group[k].gone = true;
            }
        }
        compare(&made, i % 2, i % 11 == 0, i);
        mk_free(made.mk);
    }
}

/* DROPPED slots that are there twice would count losses twice: the sequence doesn't tell. */
static void test_any_twice(void **state)
{
    uint64_t seed = support_seed();
    unsigned tried = 0;

    (void)state;
    /* One capture in six has a group that will do. */
    for (uint64_t i = seed; tried < 4 && i < seed + 1000; i++) {
        struct made made = make(i, 20, false);
        unsigned k = mk_random(made.mk) % (made.count - 1);
        struct group group = made.group[k];

        if (group.sequence == 0) {
            size_t behind = group.at + group.len;
            uint8_t *bytes = malloc(made.end + group.len);

            memcpy(bytes, made.mk->bytes, behind);
            memcpy(bytes + behind, made.mk->bytes + group.at, group.len);
            memcpy(bytes + behind + group.len, made.mk->bytes + behind, made.end - behind);
            struct seen seen = read_bytes(bytes, made.end + group.len, false);
            assert_true(seen.error && strstr(seen.text, "duplicated") != NULL);
            free(bytes);
            tried++;
        }
        mk_free(made.mk);
    }
    assert_int_equal(tried, 4);
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
        cmocka_unit_test(test_sound),
        cmocka_unit_test(test_any_one),
        cmocka_unit_test(test_any_runs),
        cmocka_unit_test(test_any_twice),
    };

    return cmocka_run_group_tests(tests, NULL, clean);
}
