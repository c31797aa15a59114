/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures cut at every byte, Kymo's and another kernel's, in both byte orders: what is read of one
 * is, for each CPU, the beginning of what is read of the whole, and no event that was there in full
 * is missing. EVERY=n, KYMO_SEED: as test/host/support.h says. And those that are cut while they
 * are read, between any two events: the reader says so, whatever it was about to read.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/host/support.h"

#define EVENTS_MAX 1000
#define CPUS 3

/* Of each CPU the hashes of its first 0, 1, 2 ... events, and up to where the last of them needs
 * the file: to its end, a BUFFER slot of Kymo's to the end of TIME, which has the high word of its
 * time. */
struct story {
    unsigned n[CPUS];
    uint64_t hash[CPUS][EVENTS_MAX];
    uint64_t end[CPUS][EVENTS_MAX];
    bool error;
    struct kev_error why;
};

static void hash_add(uint64_t *hash, uint64_t value)
{
    *hash = (*hash ^ value) * 1099511628211ull;
}

static void story_add(struct story *story, const struct kev_event *event, bool kymo)
{
    bool head =
        kymo && event->class == TRACE_CLASS_CONTROL && event->number == TRACE_CONTROL_BUFFER;
    unsigned cpu = event->cpu;
    unsigned n = ++story->n[cpu];
    uint64_t hash = story->hash[cpu][n - 1];

    assert_true(n < EVENTS_MAX && cpu < CPUS);
    hash_add(&hash, event->time);
    hash_add(&hash, (uint64_t)event->class << 32 | event->number);
    for (unsigned i = 0; i < event->nwords; i++) {
        hash_add(&hash, kev_word(event, i));
    }
    story->hash[cpu][n] = hash;
    story->end[cpu][n] = event->offset + event->nwords * 8 + (head ? TRACE_SLOT_BYTES : 0);
}

static void story_read(struct story *story, const struct mk *mk, size_t len)
{
    struct kev_options options = {0};
    struct kev *kev = kev_open(support_file(mk->bytes, len), &options, &story->why);
    struct kev_event event;
    enum kev_result result = KEV_ERROR;

    memset(story->n, 0, sizeof(story->n));
    while (kev != NULL && (result = kev_next(kev, &event, &story->why)) == KEV_EVENT) {
        story_add(story, &event, kev_info(kev)->kymo);
    }
    story->error = result == KEV_ERROR;
    kev_close(kev);
}

static void compare(const struct story *whole, const struct story *cut, size_t len)
{
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        unsigned n = cut->n[cpu];

        assert_true(n <= whole->n[cpu]);
        for (unsigned i = 1; i <= n; i++) {
            assert_true(cut->hash[cpu][i] == whole->hash[cpu][i]);
        }
        /* The next one is not there in full. */
        assert_true(n == whole->n[cpu] || whole->end[cpu][n + 1] > len);
    }
}

static void every_cut(bool foreign, bool swapped)
{
    struct story *whole = calloc(1, sizeof(*whole)), *cut = calloc(1, sizeof(*cut));
    struct support_sample sample = support_sample();
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = CPUS,
                                                .seed = 11,
                                                .high_water = 20,
                                                .start = 0xfffffc00u,
                                                .foreign = foreign,
                                                .swapped = swapped});

    assert_true(whole != NULL && cut != NULL);
    mk_workload(mk, 150);
    story_read(whole, mk, mk->len);
    assert_false(whole->error);
    assert_true(whole->n[0] > 20 && whole->n[1] > 20 && whole->n[2] > 20);
    for (size_t len = sample.first; len < mk->len; len += sample.every) {
        bool at_slot = len >= mk->slots_offset && (len - mk->slots_offset) % TRACE_SLOT_BYTES == 0;

        story_read(cut, mk, len);
        compare(whole, cut, len);
        assert_true(!cut->error || strlen(cut->why.text) > 20);
        assert_true(cut->error || len >= mk->slots_offset);
        assert_true(cut->error || foreign || at_slot);
    }
    mk_free(mk);
    free(whole);
    free(cut);
}

static void test_kymo(void **state)
{
    (void)state;
    every_cut(false, false);
}

static void test_kymo_swapped(void **state)
{
    (void)state;
    every_cut(false, true);
}

static void test_foreign(void **state)
{
    (void)state;
    every_cut(true, false);
}

static void test_foreign_swapped(void **state)
{
    (void)state;
    every_cut(true, true);
}

/* Reads so many events, cuts the file to `len` bytes and reads on: the reader must say so. */
static void cut_while_read(const struct mk *mk, bool follow, size_t len, unsigned events)
{
    struct kev_options options = {.follow = follow};
    const char *path = support_file(mk->bytes, mk->len);
    struct kev_error error;
    struct kev *kev = kev_open(path, &options, &error);
    enum kev_result result = KEV_EVENT;
    struct kev_event event;
    bool ended;

    assert_non_null(kev);
    for (unsigned i = 0; i < events && result == KEV_EVENT; i++) {
        result = kev_next(kev, &event, &error);
    }
    assert_int_equal(result, KEV_EVENT);
    assert_int_equal(truncate(path, (off_t)len), 0);
    while (result == KEV_EVENT) {
        result = kev_next(kev, &event, &error);
    }
    if (follow && result == KEV_END) {
        result = kev_refresh(kev, &ended, &error) < 0 ? KEV_ERROR : KEV_END;
    }
    assert_int_equal(result, KEV_ERROR);
    assert_non_null(strstr(error.text, "was truncated while it was read: it was started again"));
    kev_close(kev);
}

static void test_while_read(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = CPUS, .seed = 12, .high_water = 700});
    static const unsigned events[] = {1, 100, 2000, 5000};

    (void)state;
    mk_workload(mk, 20000);
    for (unsigned i = 0; i < sizeof(events) / sizeof(*events); i++) {
        for (size_t part = 0; part < 8; part++) {
            cut_while_read(mk, false, mk->len / 2 * part / 8, events[i]);
            cut_while_read(mk, true, mk->len / 2 * part / 8, events[i]);
        }
    }
    mk_free(mk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kymo),       cmocka_unit_test(test_kymo_swapped),
        cmocka_unit_test(test_foreign),    cmocka_unit_test(test_foreign_swapped),
        cmocka_unit_test(test_while_read),
    };
    int result = cmocka_run_group_tests(tests, NULL, NULL);

    support_remove();
    return result;
}
