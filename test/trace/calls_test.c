/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every kernel call of abi/kercalls.def: its enter, exit and interrupted events, with the
 * words that the table names, fast and wide, 32-bit and 64-bit, come back from the host's reader
 * with the call's and the words' names, decoded by the table text that a capture carries. Which
 * words the kernel puts there is test/board's to prove (suite "traced").
 */
#include "test/trace/capture.h"

#include <stdio.h>
#include <string.h>

#include "trace/event_text.h"

#define WORDS 20

/* A word: the argument's name it takes, or its own. */
struct word {
    char type;    /* as in events.def; P: of an argument */
    int argument; /* -1: none */
    const char *name;
};

struct call {
    unsigned number;
    const char *name;
    const char *arguments[7];
    struct word enter[3], enter_wide[WORDS], exit_wide[WORDS]; /* ended by a type of 0 */
};

#define NONE NULL
#define VAL(name) #name
#define IN(name, bytes) #name
#define OUT(name, bytes) #name
#define INOUT(name, bytes) #name
#define STR(name) #name
#define MSG(name) #name
#define LIST(...) \
    { \
        __VA_ARGS__ \
    }
#define A(...) LIST(__VA_ARGS__)
#define ENTER(...) LIST(__VA_ARGS__)
#define ENTERW(...) LIST(__VA_ARGS__)
#define EXITW(...) LIST(__VA_ARGS__)
#define a0 LIST('P', 0, NULL)
#define a1 LIST('P', 1, NULL)
#define a2 LIST('P', 2, NULL)
#define a3 LIST('P', 3, NULL)
#define a4 LIST('P', 4, NULL)
#define a5 LIST('P', 5, NULL)
#define m0 LIST('P', -1, "msg0")
#define m1 LIST('P', -1, "msg1")
#define m2 LIST('P', -1, "msg2")
#define r0 LIST('P', -1, "rmsg0")
#define r1 LIST('P', -1, "rmsg1")
#define r2 LIST('P', -1, "rmsg2")
#define CALLER LIST('H', -1, "owner")
#define F(n, structure, member, type, name) LIST(#type[0], -1, #name)
#define W(n, c_type, type, name) LIST(#type[0], -1, #name)
static const struct call calls[] = {
#define KERCALL(number, NAME, handler, flags, arguments, enter, enter_wide, exit_wide, doc) \
    {number, #NAME, arguments, enter, enter_wide, exit_wide},
#include "abi/kercalls.def"
#undef KERCALL
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))
_Static_assert(WORDS > KERCALL_WORDS + 1, "room for all and an end");

static const char *word_name(const struct call *call, const struct word *word)
{
    return word->argument < 0 ? word->name : call->arguments[word->argument];
}

static unsigned word_count(const struct word *words)
{
    unsigned n = 0;

    while (words[n].type) {
        n++;
    }
    return n;
}

static bool is_long(const struct word *word)
{
    return word->type == 'E' || word->type == 'X';
}

/* ---- there and back ---------------------------------------------------------------- */

static bool big;

static uint64_t value_of(unsigned i, bool is_long)
{
    return 0x80000001u + 0x111 * i + (big || is_long ? (uint64_t)(i + 3) << 40 : 0);
}

/* Records the event, reads the one event there is. */
static struct kev *record(unsigned number, const struct trace_values *values,
                          struct kev_event *event)
{
    fake_boot(1);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    assert_true(trace_kercall_on(number));
    trace_kercall(number, values);
    assert_int_equal(loss_of(0).made, 1);
    struct kev *kev = capture_open();
    assert_true(capture_next(kev, event));
    assert_int_equal(event->class, number % 128 < 100 ? 2 : 13);
    return kev;
}

static struct kev *record2(unsigned number, uint64_t first, uint64_t second,
                           struct kev_event *event)
{
    return record(number, &(struct trace_values){.value = {first, second}, .is_signed = 1, .n = 2},
                  event);
}

/* The event has n words, of which a fast one fills up to two. */
static void round_trip(const struct call *call, unsigned kind, const struct word *words, unsigned n,
                       bool fast)
{
    struct trace_values values = {.n = fast ? 2 : n};
    struct kev_event event;
    struct kev_field fields[KEV_ARGS_MAX];

    for (unsigned i = 0; i < n; i++) {
        values.value[i] = value_of(i, is_long(&words[i]));
        values.is_long |= (uint32_t)is_long(&words[i]) << i;
    }
    struct kev *kev = record(call->number | kind, &values, &event);
    const struct kev_desc *desc = kev_describe(kev, event.class, event.number);
    bool has_big = event.number & 512;
    assert_int_equal(event.number & ~512u, call->number | kind);
    assert_non_null(desc);
    assert_string_equal(desc->name, call->name);
    assert_int_equal(desc->number, call->number);
    assert_int_equal(desc->kind, kind == TRACE_KERCALL_ENTER ? KEV_CALL_ENTER : KEV_CALL_EXIT);
    assert_int_equal(kev_decode(&event, desc, fields), n);
    for (unsigned i = 0; i < n; i++) {
        assert_string_equal(fields[i].arg->name, word_name(call, &words[i]));
        assert_true(fields[i].value == value_of(i, is_long(&words[i])));
        assert_int_equal(fields[i].wide, has_big || is_long(&words[i]));
        assert_true(has_big || is_long(&words[i]) || !big);
    }
    kev_close(kev);
}

static void enter(const struct call *call)
{
    round_trip(call, TRACE_KERCALL_ENTER, call->enter, word_count(call->enter), true);
    round_trip(call, TRACE_KERCALL_ENTER, call->enter_wide, word_count(call->enter_wide), false);
}

static void leave(const struct call *call)
{
    unsigned n = word_count(call->exit_wide);
    struct word words[WORDS + 1] = {{'P', -1, "ret_val"}};

    memcpy(words + 1, call->exit_wide, n * sizeof(words[0]));
    round_trip(call, TRACE_KERCALL_EXIT, words, n && !is_long(&words[1]) ? 2 : 1, true);
    round_trip(call, TRACE_KERCALL_EXIT, words, 1 + n, n == 0);
}

/* A reader can't tell the forms of at most two words apart: then they are the same. */
static void short_forms_are_the_same(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CALLS; i++) {
        unsigned n = word_count(calls[i].enter_wide);

        if (n <= 2 && !is_long(&calls[i].enter_wide[0]) && !is_long(&calls[i].enter_wide[1])) {
            assert_memory_equal(calls[i].enter, calls[i].enter_wide, n * sizeof(struct word));
            assert_int_equal(word_count(calls[i].enter), n);
        }
        for (unsigned j = 0; j < word_count(calls[i].enter); j++) {
            assert_false(is_long(&calls[i].enter[j]));
        }
    }
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
        struct kev *kev = record2(calls[i].number | TRACE_KERCALL_INT, 3, 0, &event);
        const struct kev_desc *desc = kev_describe(kev, event.class, event.number);

        assert_int_equal(event.number, calls[i].number + 256);
        assert_int_equal(desc->kind, KEV_CALL_INT);
        assert_string_equal(desc->name, calls[i].name);
        assert_int_equal(kev_word(&event, 0), 3);
        kev_close(kev);
    }
}

/* -1 has a sign: it is one word, and the second is the errno. */
static void a_failing_call_has_its_errno(void **state)
{
    struct kev_event event;
    struct kev *kev = record2(11 | TRACE_KERCALL_EXIT, UINT64_MAX, 14, &event);

    (void)state;
    assert_int_equal(event.number, 11 | TRACE_KERCALL_EXIT);
    assert_int_equal(event.nwords, 2);
    assert_int_equal(kev_word(&event, 0), 0xffffffff);
    assert_int_equal(kev_word(&event, 1), 14);
    kev_close(kev);
}

/* What fits one word: any of 32 bits, and with a sign those down to -2^31; exactly. */
static void the_edges_of_one_word(void **state)
{
    static const struct {
        uint64_t value;
        bool is_signed, fits;
    } edges[] = {
        {0xffffffff, false, true},         {0xffffffff, true, true},
        {0x100000000, false, false},       {0x100000000, true, false},
        {0xffffffff80000000, true, true},  {0xffffffff80000000, false, false},
        {0xffffffff7fffffff, true, false}, {UINT64_MAX, false, false},
        {INT64_MIN, true, false},          {INT64_MAX, true, false},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
        for (unsigned n = 2; n <= 3; n++) {
            struct trace_values v = {.value = {1, edges[i].value, 7}, .n = n};
            struct kev_event event;
            v.is_signed = (uint32_t)edges[i].is_signed << 1;
            struct kev *kev = record(1, &v, &event);
            bool big = !edges[i].fits;
            assert_int_equal(event.number, big ? 1 | 512 : 1);
            assert_int_equal(kev_word(&event, big ? 2 : 1), (uint32_t)edges[i].value);
            assert_int_equal(event.nwords, ((big ? 2 : 1) * n + 1) / 2 * 2);
            if (big) {
                assert_int_equal(kev_word(&event, 3), edges[i].value >> 32);
            }
            kev_close(kev);
        }
    }
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
        cmocka_unit_test(short_forms_are_the_same),
        cmocka_unit_test(the_edges_of_one_word),
        cmocka_unit_test(the_text_has_each_call_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
