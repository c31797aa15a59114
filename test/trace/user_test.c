/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * User events: words and strings of every length, event numbers, what is refused, and that none of
 * it needs a lock, an ability or buffers.
 */
#include "test/trace/look.h"

#include <stdlib.h>
#include <string.h>

#include "trace/user.h"

#define MAX KYMO_TRACE_USER_COMBINE_MAX

static const struct seen *user_event(void)
{
    const struct seen *e = the_event();

    assert_int_equal(e->class, TRACE_CLASS_USER);
    return e;
}

static void simple_events(void **state)
{
    static const unsigned numbers[] = {0, 1, 511, 512, 1023};

    (void)state;
    start_one();
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(trace_user_simple(numbers[i], 0xdeadbeef, i), 0);
        const struct seen *e = user_event();
        assert_int_equal(e->number, numbers[i]);
        assert_int_equal(e->words[0], 0xdeadbeef);
        assert_int_equal(e->words[1], i);
        assert_int_equal(e->nwords, 2);
    }
    end_tracing();
}

/* ceil(n/2) slots, the odd word padded with 0; none is one slot of zeros. */
static void words_of_every_length(void **state)
{
    (void)state;
    start_one();
    for (unsigned n = 0; n <= MAX / 4; n++) {
        uint32_t *words = malloc(4 * n); /* exactly: the address sanitizer watches its end */
        const struct seen *e;

        for (unsigned i = 0; i < n; i++) {
            words[i] = 0x1000000 * n + i + 1;
        }
        assert_int_equal(trace_user_combine(100 + n, words, n), 0);
        e = user_event();
        assert_int_equal(e->number, 100 + n);
        assert_int_equal(e->slots, n <= 2 ? 1 : (n + 1) / 2);
        for (unsigned i = 0; i < e->nwords; i++) {
            assert_int_equal(e->words[i], i < n ? words[i] : 0);
        }
        free(words);
    }
    end_tracing();
}

/* Bytes and a NUL at least, zeros up to the slot's end. What would be a simple event has a second
 * slot, which marks it as a string. */
static void strings_of_every_length(void **state)
{
    (void)state;
    start_one();
    for (unsigned len = 0; len < MAX; len++) {
        char *text = malloc(len + 1);
        const struct seen *e;

        for (unsigned i = 0; i < len; i++) {
            text[i] = (char)(1 + (i * 7 + len) % 255);
        }
        text[len] = '\0';
        assert_int_equal(trace_user_string(3, text, len + 1), 0);
        e = user_event();
        assert_int_equal(e->slots, len < 8 ? 2 : (len + 1 + 7) / 8);
        assert_memory_equal(e->words, text, len);
        if (len < 8) {
            assert_int_equal(e->words[2], 0x5458544b);
            assert_int_equal(e->words[3], 0xaba7abb4);
        }
        for (unsigned i = len; i < (len < 8 ? 8 : 8 * e->slots); i++) {
            assert_int_equal(((const char *)e->words)[i], 0);
        }
        free(text);
    }
    end_tracing();
}

/* The length says how much may be read: a NUL before that ends the string, none after
 * it counts. */
static void a_string_ends_at_its_nul(void **state)
{
    (void)state;
    start_one();
    assert_int_equal(trace_user_string(3, "ab\0cdefghijk", 12), 0);
    const struct seen *e = user_event();
    assert_int_equal(e->words[0], 'a' | 'b' << 8);
    assert_int_equal(e->words[1], 0);
    assert_int_equal(e->nwords, 4);
    end_tracing();
}

static void unterminated(void **state)
{
    const struct seen *e;

    (void)state;
    start_one();
    assert_int_equal(trace_user_string(3, "abcdefgh", 4), 0); /* its last byte counts as the NUL */
    e = user_event();
    assert_int_equal(e->words[0], 'a' | 'b' << 8 | 'c' << 16);
    assert_int_equal(e->words[1], 0);
    assert_int_equal(trace_user_string(3, "", 0), 0);
    e = user_event();
    assert_int_equal(e->words[0], 0);
    assert_int_equal(e->slots, 2);
    end_tracing();
}

static void too_much_is_refused(void **state)
{
    static uint32_t words[MAX];

    (void)state;
    start_one();
    assert_int_equal(trace_user_combine(1, words, MAX / 4 + 1), -EINVAL);
    assert_int_equal(trace_user_combine(1, words, MAX), -EINVAL); /* bytes for words: the trap */
    assert_int_equal(trace_user_combine(1, words, 0x40000001), -EINVAL);
    assert_int_equal(trace_user_combine(1, words, UINT32_MAX), -EINVAL);
    assert_int_equal(trace_user_string(1, (const char *)words, MAX + 1), -EINVAL);
    assert_int_equal(trace_user_string(1, (const char *)words, UINT32_MAX), -EINVAL);
    assert_int_equal(trace_user_simple(1024, 0, 0), -EINVAL);
    assert_int_equal(trace_user_simple(UINT32_MAX, 0, 0), -EINVAL);
    assert_int_equal(trace_user_combine(1024, words, 1), -EINVAL);
    assert_int_equal(trace_user_string(1024, "", 1), -EINVAL);
    assert_int_equal(loss_of(0).made, 0); /* an error is no event and no loss */
    end_tracing();
}

/* Not being traced is no error; a wrong event is, traced or not. */
static void not_traced_is_no_error(void **state)
{
    uint32_t words[4] = {0};

    (void)state;
    fake_boot(1);
    assert_int_equal(trace_user_simple(1, 0, 0), 0);
    assert_int_equal(trace_user_combine(1, words, 4), 0);
    assert_int_equal(trace_user_string(1, "text", 5), 0);
    assert_int_equal(trace_user_simple(1024, 0, 0), -EINVAL);
    assert_int_equal(trace_user_combine(1, words, 65), -EINVAL);
    start_one();
    assert_int_equal(command1(_NTO_TRACE_DELCLASS, _NTO_TRACE_USER), 0);
    assert_int_equal(trace_user_simple(1, 0, 0), 0);
    assert_int_equal(trace_user_combine(1, words, 4), 0);
    assert_int_equal(trace_user_string(1, "text", 5), 0);
    assert_int_equal(trace_user_string(1, "text", MAX + 1), -EINVAL);
    assert_int_equal(loss_of(0).made, 0);
    end_tracing();
}

static void fired(unsigned times, uint64_t event, uint64_t d1, uint64_t d2, uint64_t kind)
{
    assert_int_equal(fake.fired, times);
    assert_int_equal(fake.fired_site, TRACE_EV_user_event);
    assert_int_equal(fake.fired_words[0], event);
    assert_int_equal(fake.fired_words[4], kind);
    if (kind == 0) {
        assert_int_equal(fake.fired_words[1], d1);
        assert_int_equal(fake.fired_words[2], d2);
    }
}

/* What a clause has for `timestamp` is the event's, if it was logged. */
static void check_stamp(bool logged)
{
    struct trace_cpu *cpu = trace_port_cpu_at(0);

    assert_int_equal(fake.fired_stamp, logged ? trace_clock_last(cpu) : 0);
    assert_int_equal(cpu->stamp, 0);
    assert_false(trace_port_irq_masked());
}

static void each_kind_fires(unsigned before, bool logged)
{
    const uint32_t words[3] = {7, 8, 0x90000000};

    assert_int_equal(trace_user_simple(1023, 0xffffffff, 5), 0);
    fired(before + 1, 1023, 0xffffffff, 5, 0);
    check_stamp(logged);
    assert_int_equal(trace_user_combine(6, words, 3), 0);
    fired(before + 2, 6, 0, 0, 1);
    check_stamp(logged);
    assert_memory_equal(fake.fired_data, words, sizeof(words));
    assert_int_equal(trace_user_string(8, "text that is cut", 5), 0);
    fired(before + 3, 8, 0, 0, 2);
    check_stamp(logged);
    assert_string_equal((const char *)fake.fired_data, "text");
    assert_int_equal(trace_user_simple(1024, 1, 2), -EINVAL);
    assert_int_equal(fake.fired, before + 3);
}

/* D listens to all of them, whatever the log records; programs are told that they are wanted. */
static void probes_fire_whatever_is_logged(void **state)
{
    (void)state;
    start_one();
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    assert_false(fake.user_wanted);
    trace_site_probe(TRACE_EV_user_event, true);
    trace_sites_settle();
    assert_true(fake.user_wanted);
    each_kind_fires(0, false);
    assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
    assert_int_equal(command1(_NTO_TRACE_DELCLASS, _NTO_TRACE_USER), 0);
    each_kind_fires(3, false);
    assert_int_equal(loss_of(0).made, 0);
    assert_int_equal(command1(_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
    each_kind_fires(6, true);
    assert_int_equal(loss_of(0).made, 3);
    trace_site_probe(TRACE_EV_user_event, false);
    trace_sites_settle();
    assert_true(fake.user_wanted); /* by the log */
    assert_int_equal(trace_user_simple(1, 2, 3), 0);
    assert_int_equal(fake.fired, 9);
    end_tracing();
    assert_false(fake.user_wanted);
}

/* So are its two words. */
static void two_words(void **state)
{
    (void)state;
    start_one();
    insert_events(1);
    fake_pass(0, 100);
    assert_true(trace_user_log_only(1023));
    assert_false(trace_user_log_only(1024));
    assert_true(trace_user_two_usual(1023, 5, 6));
    const struct trace_slot *slot = look_slots(0, 0) + 3;
    assert_int_equal(look_active_slots(0), 4);
    assert_int_equal(slot->header, TRACE_HEADER(0, TRACE_STRUCT_S, TRACE_CLASS_USER, 1023));
    assert_int_equal(slot->d1, 5);
    assert_int_equal(slot->d2, 6);
    end_tracing();
}

/* The fast path's texts are recorded as trace_user_string() records them. */
static void texts_as_words(void **state)
{
    char text[4 * TRACE_USER_TEXT_WORDS];

    (void)state;
    start_one();
    for (unsigned len = 0; len < sizeof(text); len++) {
        uint32_t words[TRACE_USER_TEXT_WORDS] = {0};
        memset(text, 'a' + (int)(len % 26), len);
        text[len] = '\0';
        memcpy(words, text, len);
        memset((char *)words + (len / 4 + 1) * 4, 0xff, sizeof(words) - (len / 4 + 1) * 4);
        assert_int_equal(trace_user_string(3, text, len + 1), 0);
        const struct seen e = *user_event();
        assert_true(trace_user_log_only(3));
        trace_user_text_words(3, words, len / 4 + 1);
        const struct seen *same = user_event();
        assert_int_equal(e.nwords, same->nwords);
        assert_memory_equal(e.words, same->words, e.nwords * sizeof(*e.words));
    }
    assert_int_equal(command1(_NTO_TRACE_DELCLASS, _NTO_TRACE_USER), 0);
    assert_false(trace_user_log_only(3));
    end_tracing();
}

/* The fast path's words are recorded as trace_user_combine() and trace_user_probe() record them. */
static void words_as_combine(void **state)
{
    (void)state;
    start_one();
    assert_int_equal(command1(_NTO_TRACE_ADDCLASS, KYMO_TRACE_SYSTEM_PROBES), 0);
    for (unsigned n = 3; n <= TRACE_USER_TEXT_WORDS; n++) {
        uint32_t words[TRACE_USER_TEXT_WORDS];

        for (unsigned i = 0; i < TRACE_USER_TEXT_WORDS; i++) {
            words[i] = 0x01010101u * (i + 1);
        }
        assert_int_equal(trace_user_combine(3, words, n), 0);
        const struct seen e = *user_event();
        trace_user_combine_words(3, words, n);
        const struct seen *same = user_event();
        assert_int_equal(e.nwords, same->nwords);
        assert_memory_equal(e.words, same->words, e.nwords * sizeof(*e.words));
        assert_int_equal(trace_user_probe(words, n), 0); /* its number isn't 3 */
        same = user_event();
        assert_int_equal(e.nwords, same->nwords);
        assert_memory_equal(e.words, same->words, e.nwords * sizeof(*e.words));
    }
    end_tracing();
}

/* A probe of the library or a driver is recorded whatever user events are. */
static void probes_of_the_system(void **state)
{
    const uint32_t words[] = {1, 2, 3};

    (void)state;
    start_one();
    insert_events(1);
    const unsigned before = look_active_slots(0);
    assert_false(trace_user_probe_log_only());
    assert_int_equal(trace_user_probe(words, 3), 0);
    assert_int_equal(look_active_slots(0), before);
    assert_int_equal(command1(_NTO_TRACE_ADDCLASS, KYMO_TRACE_SYSTEM_PROBES), 0);
    assert_int_equal(command1(_NTO_TRACE_DELCLASS, _NTO_TRACE_USER), 0);
    assert_true(trace_user_probe_log_only());
    assert_int_equal(trace_user_probe(words, 3), 0);
    assert_int_equal(look_active_slots(0), before + 2);
    trace_site_probe(TRACE_EV_system_probe, true);
    assert_false(trace_user_probe_log_only());
    trace_site_probe(TRACE_EV_system_probe, false);
    assert_true(trace_user_probe_log_only());
    assert_int_equal(command1(_NTO_TRACE_DELCLASS, KYMO_TRACE_SYSTEM_PROBES), 0);
    assert_false(trace_user_probe_log_only());
    end_tracing();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_events),
        cmocka_unit_test(words_of_every_length),
        cmocka_unit_test(strings_of_every_length),
        cmocka_unit_test(a_string_ends_at_its_nul),
        cmocka_unit_test(unterminated),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(not_traced_is_no_error),
        cmocka_unit_test(probes_fire_whatever_is_logged),
        cmocka_unit_test(two_words),
        cmocka_unit_test(texts_as_words),
        cmocka_unit_test(words_as_combine),
        cmocka_unit_test(probes_of_the_system),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
