/* SPDX-License-Identifier: BSD-2-Clause */
/* Events for random_test.c. See random_events.h. */
#include "test/trace/random_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/sys/states.h"
#include "trace/hook.h"
#include "trace/log_batch.h"
#include "trace/user.h"

#define NUMBER_USER 100
#define NUMBER_WORDS 101
#define NUMBER_STRING 102
#define NUMBER_BIG 103
#define NUMBER_CALL 11

/* The i-th value of an event. */
static uint32_t mix(unsigned cpu, uint32_t serial, unsigned i)
{
    uint32_t h = serial * 2654435761u ^ (cpu + 1) * 40503u ^ (i + 7) * 2246822519u;

    h ^= h >> 15;
    h *= 2246822519u;
    return h ^ h >> 13;
}

unsigned kind_class(enum kind kind)
{
    static const unsigned classes[KINDS] = {
        [KIND_USER] = TRACE_CLASS_USER,     [KIND_WORDS] = TRACE_CLASS_USER,
        [KIND_STRING] = TRACE_CLASS_USER,   [KIND_COMM] = TRACE_CLASS_COMM,
        [KIND_STATE] = TRACE_CLASS_PR_TH,   [KIND_NAME] = TRACE_CLASS_PR_TH,
        [KIND_MMAP] = TRACE_CLASS_SYSTEM,   [KIND_INTERRUPT] = TRACE_CLASS_INT,
        [KIND_CALL] = TRACE_CLASS_KER_CALL, [KIND_BIG] = TRACE_CLASS_USER,
        [KIND_TOO_BIG] = TRACE_CLASS_USER,
    };

    return classes[kind];
}

/* ---- the parts of an event that vary in size --------------------------------------- */

static bool is_big(unsigned cpu, uint32_t serial)
{
    return mix(cpu, serial, 99) % 3 == 0;
}

static uint64_t pointer(unsigned cpu, uint32_t serial, unsigned i)
{
    uint64_t high = is_big(cpu, serial) ? mix(cpu, serial, 50 + i) | 1u : 0;

    return high << 32 | mix(cpu, serial, i);
}

/* An instruction's: an odd one would take two words. */
static uint64_t even_pointer(unsigned cpu, uint32_t serial, unsigned i)
{
    return pointer(cpu, serial, i) & ~UINT64_C(1);
}

static unsigned words_of(unsigned cpu, uint32_t serial, enum kind kind)
{
    uint32_t r = mix(cpu, serial, 98);

    switch (kind) {
    case KIND_WORDS:
        return 1 + r % (KYMO_TRACE_USER_COMBINE_MAX / 4);
    case KIND_CALL:
        return 2 + r % 6;
    case KIND_BIG:
        return 2 * (1 + r % TRACE_EVENT_SLOTS_MOST);
    case KIND_TOO_BIG:
        return 2 * (TRACE_EVENT_SLOTS_MOST + 1 + r % TRACE_DROPPED_MOST);
    default:
        return 2;
    }
}

/* The serial in hexadecimal, then letters. */
static unsigned make_text(unsigned cpu, uint32_t serial, unsigned most, char *text)
{
    unsigned len = 8 + mix(cpu, serial, 97) % (most - 8);

    snprintf(text, 9, "%08x", serial);
    for (unsigned i = 8; i < len; i++) {
        text[i] = (char)('a' + mix(cpu, serial, i) % 26);
    }
    text[len] = '\0';
    return len;
}

/* ---- expected ---------------------------------------------------------------------- */

static void put32(struct event *e, uint32_t value)
{
    e->words[e->nwords++] = value;
}

static void put64(struct event *e, uint64_t value)
{
    put32(e, (uint32_t)value);
    put32(e, (uint32_t)(value >> 32));
}

static void put_text(struct event *e, const char *text, unsigned len)
{
    unsigned words = len / 4 + 1; /* a NUL at least */

    memset(&e->words[e->nwords], 0, 4 * words);
    memcpy(&e->words[e->nwords], text, len);
    e->nwords += words;
}

static void expect_text(unsigned cpu, uint32_t serial, enum kind kind, struct event *e)
{
    char text[KYMO_TRACE_USER_COMBINE_MAX];
    unsigned len;

    if (kind == KIND_STRING) {
        e->number = NUMBER_STRING;
        len = make_text(cpu, serial, 255, text);
    } else {
        e->number = 192;
        put32(e, serial);
        put32(e, mix(cpu, serial, 1));
        len = make_text(cpu, serial, 200, text);
        len = len < 127 ? len : 127;
    }
    put_text(e, text, len);
}

static void expect_mmap(unsigned cpu, uint32_t serial, bool wide, struct event *e)
{
    char text[KYMO_TRACE_USER_COMBINE_MAX];

    e->number = 6;
    put32(e, serial);
    put64(e, (uint64_t)mix(cpu, serial, 1) << 20);
    put64(e, mix(cpu, serial, 2));
    put32(e, mix(cpu, serial, 3));
    if (wide) {
        put32(e, mix(cpu, serial, 4));
        put32(e, mix(cpu, serial, 5));
        put64(e, mix(cpu, serial, 6));
        put64(e, (uint64_t)mix(cpu, serial, 7) << 12);
        put_text(e, text, make_text(cpu, serial, 120, text));
    }
}

static void expect_call(unsigned cpu, uint32_t serial, struct event *e)
{
    unsigned n = words_of(cpu, serial, KIND_CALL);
    bool big = is_big(cpu, serial);

    e->number = NUMBER_CALL | (big ? 512 : 0);
    for (unsigned i = 0; i < n; i++) {
        uint64_t word = i == 0 ? serial : pointer(cpu, serial, i);

        put32(e, (uint32_t)word);
        if (big) {
            put32(e, (uint32_t)(word >> 32));
        }
    }
}

static void expect_state(unsigned cpu, uint32_t serial, bool wide, struct event *e)
{
    e->number = STATE_SEND;
    put32(e, serial);
    put32(e, mix(cpu, serial, 1));
    if (wide) {
        put32(e, mix(cpu, serial, 2));
        put32(e, mix(cpu, serial, 3));
    }
}

static void expect_words(unsigned cpu, uint32_t serial, enum kind kind, struct event *e)
{
    unsigned n = words_of(cpu, serial, kind);

    e->number = kind == KIND_USER ? NUMBER_USER : kind == KIND_WORDS ? NUMBER_WORDS : NUMBER_BIG;
    e->number = kind == KIND_COMM ? 0 : e->number;
    put32(e, serial);
    for (unsigned i = 1; i < n; i++) {
        put32(e, mix(cpu, serial, i));
    }
}

void event_expect(unsigned cpu, uint32_t serial, enum kind kind, bool wide, struct event *e)
{
    e->class = kind_class(kind);
    e->nwords = 0;
    switch (kind) {
    case KIND_STRING:
    case KIND_NAME:
        expect_text(cpu, serial, kind, e);
        break;
    case KIND_MMAP:
        expect_mmap(cpu, serial, wide, e);
        break;
    case KIND_CALL:
        expect_call(cpu, serial, e);
        break;
    case KIND_STATE:
        expect_state(cpu, serial, wide, e);
        break;
    case KIND_INTERRUPT:
        e->number = 1 | (is_big(cpu, serial) ? 512 : 0);
        put32(e, serial + 256);
        put32(e, (uint32_t)even_pointer(cpu, serial, 1));
        if (is_big(cpu, serial)) {
            put32(e, (uint32_t)(even_pointer(cpu, serial, 1) >> 32));
        }
        break;
    default:
        expect_words(cpu, serial, kind, e);
        break;
    }
    if (e->nwords % 2) {
        put32(e, 0);
    }
}

/* ---- made -------------------------------------------------------------------------- */

/* The ways of the kernel's fast paths, where it is the common case. Return false if it isn't. */
static bool emit_usual(const uint32_t words[2])
{
    return trace_user_log_only(NUMBER_USER) &&
           trace_user_two_usual(NUMBER_USER, words[0], words[1]);
}

static bool emit_batch(enum kind kind, const uint32_t words[4])
{
    bool is_state = kind == KIND_STATE;
    bool is_long = is_state && trace_filter.state_long >> STATE_SEND & 1;
    struct trace_batch batch;

    if (trace_port_site(is_state ? TRACE_EV_thread_state : TRACE_EV_comm_snd_message) !=
            TRACE_SITE_LOG ||
        (is_state && !is_long && !(trace_filter.state_fast >> STATE_SEND & 1)) ||
        !trace_batch_begin(&batch, 1 + is_long)) {
        return false;
    }
    trace_batch_count(&batch, kind_class(kind), 1);
    if (is_long) {
        trace_batch_put4(&batch, kind_class(kind), STATE_SEND, words);
    } else {
        trace_batch_put2(&batch, kind_class(kind), is_state ? STATE_SEND : 0, words[0], words[1]);
    }
    trace_batch_end(&batch);
    return true;
}

static void emit_words(unsigned cpu, uint32_t serial, enum kind kind)
{
    uint32_t words[2 * TRACE_BUFFER_SLOTS]; /* not static: events nest */
    unsigned n = words_of(cpu, serial, kind);

    words[0] = serial;
    for (unsigned i = 1; i < n; i++) {
        words[i] = mix(cpu, serial, i);
    }
    if (kind == KIND_USER && mix(cpu, serial, 96) % 2 && emit_usual(words)) {
        return;
    }
    if (kind == KIND_USER) {
        assert_int_equal(trace_user_simple(NUMBER_USER, words[0], words[1]), 0);
    } else if (kind == KIND_WORDS) {
        assert_int_equal(trace_user_combine(NUMBER_WORDS, words, n), 0);
    } else {
        trace_log_words(TRACE_CLASS_USER, NUMBER_BIG, &(struct trace_words){words, n, NULL, 0});
    }
}

static void emit_call(unsigned cpu, uint32_t serial)
{
    struct trace_values words = {.value = {serial}, .n = words_of(cpu, serial, KIND_CALL)};

    for (unsigned i = 1; i < words.n; i++) {
        words.value[i] = pointer(cpu, serial, i);
    }
    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_enter) && trace_kercall_on(NUMBER_CALL)) {
        trace_kercall(NUMBER_CALL, &words);
    }
}

static void emit_hook(unsigned cpu, uint32_t serial, enum kind kind)
{
    char text[KYMO_TRACE_USER_COMBINE_MAX];
    uint32_t m[8];

    for (unsigned i = 1; i < 8; i++) {
        m[i] = mix(cpu, serial, i);
    }
    if ((kind == KIND_COMM || kind == KIND_STATE) && mix(cpu, serial, 96) % 2 &&
        emit_batch(kind, (const uint32_t[4]){serial, m[1], m[2], m[3]})) {
        return;
    }
    switch (kind) {
    case KIND_COMM:
        trace_comm_snd_message(serial, m[1]);
        break;
    case KIND_STATE:
        trace_thread_state(STATE_SEND, serial, m[1], m[2], m[3]);
        break;
    case KIND_NAME:
        make_text(cpu, serial, 200, text);
        trace_proc_create_name(serial, m[1], text);
        break;
    case KIND_MMAP:
        make_text(cpu, serial, 120, text);
        trace_mmap(serial, (uint64_t)m[1] << 20, m[2], m[3], m[4], m[5], m[6], (uint64_t)m[7] << 12,
                   text);
        break;
    default:
        trace_int_entry(serial + 256, (uintptr_t)even_pointer(cpu, serial, 1));
        break;
    }
}

void event_emit(unsigned cpu, uint32_t serial, enum kind kind, bool wide)
{
    char text[KYMO_TRACE_USER_COMBINE_MAX];

    (void)wide; /* the filter's */
    if (kind == KIND_CALL) {
        emit_call(cpu, serial);
    } else if (kind_has_site(kind)) {
        emit_hook(cpu, serial, kind);
    } else if (kind == KIND_STRING) {
        unsigned len = make_text(cpu, serial, 255, text);
        assert_int_equal(trace_user_string(NUMBER_STRING, text, len + 1), 0);
    } else {
        emit_words(cpu, serial, kind);
    }
}

/* ---- found ------------------------------------------------------------------------- */

enum kind event_recognise(const struct seen *seen, uint32_t *serial)
{
    *serial = seen->words[0];
    switch (seen->class) {
    case TRACE_CLASS_COMM:
        return KIND_COMM;
    case TRACE_CLASS_PR_TH:
        return seen->number == 192 ? KIND_NAME : KIND_STATE;
    case TRACE_CLASS_SYSTEM:
        return KIND_MMAP;
    case TRACE_CLASS_INT:
        *serial -= 256;
        return KIND_INTERRUPT;
    case TRACE_CLASS_KER_CALL:
        return KIND_CALL;
    default:
        break;
    }
    if (seen->number == NUMBER_STRING) {
        char digits[9] = {0};

        memcpy(digits, seen->words, 8);
        *serial = (uint32_t)strtoul(digits, NULL, 16);
        return KIND_STRING;
    }
    return seen->number == NUMBER_USER    ? KIND_USER
           : seen->number == NUMBER_WORDS ? KIND_WORDS
                                          : KIND_BIG;
}
