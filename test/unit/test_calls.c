/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every kernel call of kernel/abi/kercalls.def: its enter, exit and interrupted events, with the
 * words that the table names, fast and wide, 32-bit and 64-bit, come back from the host's reader
 * with the call's and the words' names, decoded by the table text that a capture carries. Which
 * words the kernel puts there is test/boot's to prove (suite "traced").
 */
#include "test/unit/capture.h"

#include <stdio.h>
#include <string.h>

#include "trace/event_text.h"

#define WORDS 8

/* Names of a word: arguments by number, of the message sent and of the one received. */
enum word { NONE_, a0, a1, a2, a3, a4, a5, m0, m1, m2, r0, r1, r2 };

struct call {
    unsigned number;
    const char *name;
    const char *arguments[7];
    uint8_t enter[3], enter_wide[WORDS], exit_wide[4]; /* enum word */
};

#define NAMES(...) \
    { \
        __VA_ARGS__ \
    }
#define A(...) NAMES(__VA_ARGS__)
#define NONE NULL
#define VAL(name) #name
#define IN(name, bytes) #name
#define OUT(name, bytes) #name
#define INOUT(name, bytes) #name
#define STR(name) #name
#define MSG(name) #name
#define ENTER(...) \
    { \
        __VA_ARGS__ \
    }
#define ENTERW(...) \
    { \
        __VA_ARGS__ \
    }
#define EXITW(...) \
    { \
        __VA_ARGS__ \
    }
static const struct call calls[] = {
#define KERCALL(number, NAME, handler, flags, arguments, enter, enter_wide, exit_wide, doc) \
    {number, #NAME, arguments, enter, enter_wide, exit_wide},
#include "kernel/abi/kercalls.def"
#undef KERCALL
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static const char *word_name(const struct call *call, unsigned word)
{
    static const char *const message[] = {"msg0", "msg1", "msg2", "rmsg0", "rmsg1", "rmsg2"};

    return word <= a5 ? call->arguments[word - a0] : message[word - m0];
}

static unsigned word_count(const uint8_t *words)
{
    unsigned n = 0;

    while (words[n] != NONE_) {
        n++;
    }
    return n;
}

/* ---- there and back ---- */

static bool big;

static uintptr_t value_of(unsigned i)
{
    return 0x80000001u + 0x111 * i + (big ? (uintptr_t)(i + 3) << 40 : 0);
}

/* Records words of `number`, reads the one event there is. */
static struct kev *record(unsigned number, const uintptr_t *words, unsigned n,
                          struct kev_event *event)
{
    fake_boot(1);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    assert_true(trace_kercall_on(number));
    trace_kercall(number, words, n);
    assert_int_equal(loss_of(0).made, 1);
    struct kev *kev = capture_open();
    assert_true(capture_next(kev, event));
    assert_int_equal(event->class, TRACE_CLASS_KER_CALL);
    return kev;
}

/* names: of the fields, n of them. given: words that the event has, at least n. */
static void round_trip(const struct call *call, unsigned kind, const char *const *names, unsigned n,
                       unsigned given)
{
    uintptr_t words[WORDS + 1];
    struct kev_event event;
    struct kev_field fields[KEV_ARGS_MAX];

    for (unsigned i = 0; i < given; i++) {
        words[i] = i < n ? value_of(i) : 0;
    }
    struct kev *kev = record(call->number | kind, words, given, &event);
    assert_int_equal(event.number, call->number | kind | (big && n ? 512 : 0));
    const struct kev_desc *desc = kev_describe(kev, event.class, event.number);
    assert_non_null(desc);
    assert_string_equal(desc->name, call->name);
    assert_int_equal(desc->number, call->number);
    assert_int_equal(desc->kind, kind == TRACE_KERCALL_ENTER ? KEV_CALL_ENTER : KEV_CALL_EXIT);
    assert_int_equal(kev_decode(&event, desc, fields), n);
    for (unsigned i = 0; i < n; i++) {
        assert_string_equal(fields[i].arg->name, names[i]);
        assert_true(fields[i].value == value_of(i));
        assert_int_equal(fields[i].wide, big);
    }
    kev_close(kev);
}

static void enter(const struct call *call)
{
    const char *names[WORDS];
    unsigned n = word_count(call->enter);

    for (unsigned i = 0; i < n; i++) {
        names[i] = word_name(call, call->enter[i]);
    }
    round_trip(call, TRACE_KERCALL_ENTER, names, n, 2);
    n = word_count(call->enter_wide);
    for (unsigned i = 0; i < n; i++) {
        names[i] = word_name(call, call->enter_wide[i]);
    }
    round_trip(call, TRACE_KERCALL_ENTER, names, n, n);
}

static void leave(const struct call *call)
{
    const char *names[WORDS] = {"ret_val"};
    unsigned n = word_count(call->exit_wide);

    for (unsigned i = 0; i < n; i++) {
        names[1 + i] = word_name(call, call->exit_wide[i]);
    }
    round_trip(call, TRACE_KERCALL_EXIT, names, n ? 2 : 1, 2);
    round_trip(call, TRACE_KERCALL_EXIT, names, 1 + n, 1 + n);
}

static void every_call_comes_back(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 2; form++) {
        big = form;
        for (unsigned i = 0; i < CALLS; i++) {
            enter(&calls[i]);
            leave(&calls[i]);
        }
    }
    big = false;
}

static void interrupted_calls_come_back(void **state)
{
    struct kev_event event;

    (void)state;
    for (unsigned i = 0; i < CALLS; i++) {
        struct kev *kev =
            record(calls[i].number | TRACE_KERCALL_INT, (uintptr_t[]){3, 0}, 2, &event);
        const struct kev_desc *desc = kev_describe(kev, event.class, event.number);

        assert_int_equal(event.number, calls[i].number + 256);
        assert_int_equal(desc->kind, KEV_CALL_INT);
        assert_string_equal(desc->name, calls[i].name);
        assert_int_equal(kev_word(&event, 0), 3);
        kev_close(kev);
    }
}

/* A failing call: -1 fits no 32 bits, so both words are 64-bit ones; the second is the errno. */
static void a_failing_call_has_its_errno(void **state)
{
    struct kev_event event;
    struct kev *kev = record(11 | TRACE_KERCALL_EXIT, (uintptr_t[]){(uintptr_t)-1, 14}, 2, &event);

    (void)state;
    assert_int_equal(event.number, 11 | TRACE_KERCALL_EXIT | 512);
    assert_int_equal(event.nwords, 4);
    assert_int_equal(kev_word(&event, 0), 0xffffffff);
    assert_int_equal(kev_word(&event, 1), 0xffffffff);
    assert_int_equal(kev_word(&event, 2), 14);
    assert_int_equal(kev_word(&event, 3), 0);
    kev_close(kev);
}

static void the_text_has_each_call_once(void **state)
{
    unsigned lines = 0;
    char begin[64];

    (void)state;
    for (unsigned i = 0; i < trace_kercall_text_len; i++) {
        lines += trace_kercall_text[i] == '\n';
    }
    assert_int_equal(strlen(trace_kercall_text), trace_kercall_text_len);
    assert_int_equal(lines, CALLS);
    for (unsigned i = 0; i < CALLS; i++) {
        snprintf(begin, sizeof(begin), "\n%u %s ", calls[i].number, calls[i].name);
        assert_true(i == 0 ? strncmp(trace_kercall_text, begin + 1, strlen(begin + 1)) == 0
                           : strstr(trace_kercall_text, begin) != NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_comes_back),
        cmocka_unit_test(interrupted_calls_come_back),
        cmocka_unit_test(a_failing_call_has_its_errno),
        cmocka_unit_test(the_text_has_each_call_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
