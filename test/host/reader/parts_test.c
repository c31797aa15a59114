/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of the reader by themselves, on generated data against the plainest definition: joining the
 * slots of combine events, splitting a payload into fields, buffers that come twice, and the time
 * that is covered before events were lost for the want of a buffer. KYMO_SEED=n repeats a run.
 */
#include <stdlib.h>
#include <string.h>

#include "host/reader/reader.h"
#include "abi/sys/trace.h"
#include "test/host/support.h"

static uint64_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((seed >> 33) % n);
}

/* ---- joining: many events at once, of several CPUs, times and numbers alike -------- */

#define AT_ONCE 12

struct part {
    uint32_t header, time; /* of its slots, without the structure bits */
    uint32_t slots, given; /* in all; so far */
    uint32_t salt;         /* of its words */
};

static uint32_t word(const struct part *part, uint32_t i)
{
    return (part->salt + i) * 2654435761u;
}

/* No other open event has the same key. */
static void part_begin(struct part *parts, struct part *part)
{
    static const uint32_t sizes[] = {2,
                                     3,
                                     4,
                                     17,
                                     KEV_WORDS_MAX / 2 - 1,
                                     KEV_WORDS_MAX / 2,
                                     KEV_WORDS_MAX / 2 + 1,
                                     KEV_WORDS_MAX / 2 + 2};
    bool taken;

    do {
        taken = false;
        part->header = TRACE_HEADER(below(3), 0, 6 + below(2), 40 + below(2));
        part->time = 1000 + below(3);
        for (struct part *other = parts; other < parts + AT_ONCE; other++) {
            taken |= other != part && other->slots != 0 && other->header == part->header &&
                     other->time == part->time;
        }
    } while (taken);
    part->slots = below(8) ? 2 + below(6) : sizes[below(8)];
    part->given = 0;
    part->salt = below(1u << 30);
}

static void event_check(const struct kev_event *event, const struct part *part)
{
    assert_int_equal(event->nwords, 2 * part->slots);
    assert_int_equal(event->class, TRACE_GET_CLASS(part->header));
    assert_int_equal(event->number, TRACE_GET_EVENT(part->header));
    assert_int_equal(event->cpu, TRACE_GET_CPU(part->header));
    assert_int_equal(event->time, part->time);
    assert_int_equal(event->offset, part->salt);
    assert_true(event->combined);
    for (uint32_t i = 0; i < event->nwords; i++) {
        assert_int_equal(event->words[i], word(part, i));
    }
}

/* Gives the next slot of one that is open, and looks at what becomes of it: the event is whole with
 * its last slot, and broken with the first that is beyond what one may have. */
static void part_step(struct kev_join *join, struct part *part, uint64_t *whole, uint64_t *too_long)
{
    uint32_t i = part->given++;
    bool last = part->given == part->slots, fits = part->given <= KEV_WORDS_MAX / 2;
    uint32_t structure = i == 0 ? TRACE_STRUCT_CB : last ? TRACE_STRUCT_CE : TRACE_STRUCT_CC;
    struct trace_slot slot = {part->header | structure, part->time, word(part, 2 * i),
                              word(part, 2 * i + 1)};
    struct kev_event event = {0};
    enum kev_joined joined = kev_join_slot(join, &slot, part->time, part->salt, &event);

    if (!fits) {
        assert_int_equal(joined, KEV_JOIN_BROKEN);
        part->slots = 0;
        ++*too_long;
    } else if (last) {
        assert_int_equal(joined, KEV_JOIN_EVENT);
        event_check(&event, part);
        part->slots = 0;
        ++*whole;
    } else {
        assert_int_equal(joined, KEV_JOIN_MORE);
    }
}

static void test_join(void **state)
{
    struct kev_join join = {0};
    struct part parts[AT_ONCE] = {{0}};
    uint64_t whole = 0, too_long = 0;

    (void)state;
    seed = support_seed();
    /* Most seeds have given enough of both by then; none goes on for long. */
    for (unsigned n = 0; n < 200000 || (n < 2000000 && (whole <= 1000 || too_long <= 5)); n++) {
        struct part *part = &parts[below(AT_ONCE)];

        if (part->slots == 0) {
            part_begin(parts, part);
        }
        part_step(&join, part, &whole, &too_long);
    }
    assert_true(whole > 1000 && too_long > 5);
    kev_join_free(&join);
}

/* ---- a payload as fields ----------------------------------------------------------- */

/* Words of an argument, 0: a text, which takes the rest. */
static unsigned words_of(const struct kev_arg *arg, const struct kev_event *event)
{
    bool wide = (event->number & TRACE_EVENT_64) != 0 && event->class != TRACE_CLASS_USER;

    switch (arg->type) {
    case 'N':
        return 0;
    case 'E':
    case 'X':
        return 2;
    case 'P':
    case 'I':
        return wide ? 2 : 1;
    default:
        return wide && (event->class == 2 || event->class == 13) ? 2 : 1; /* calls */
    }
}

/* Each field has the words that its argument has by its place, the text ends at its first NUL or
 * where the event ends, and a field that the event has no words for is not there. */
static void fields_check(const struct kev_event *event, const struct kev_list *list,
                         const struct kev_field *fields, unsigned n)
{
    unsigned at = 0;

    for (unsigned i = 0; i < n; i++) {
        unsigned words = words_of(&list->args[i], event);

        assert_ptr_equal(fields[i].arg, &list->args[i]);
        assert_true(at < event->nwords && at + words <= event->nwords);
        if (words == 0) {
            const char *text = (const char *)(event->words + at);
            size_t length = 0;

            while (length < 4 * (event->nwords - at) && text[length] != '\0') {
                length++;
            }
            assert_ptr_equal(fields[i].text, text);
            assert_int_equal(fields[i].len, length);
        } else {
            uint64_t high = words == 2 ? event->words[at + 1] : 0;
            uint32_t low = event->words[at];

            if (words == 1 && list->args[i].type == 'I' && event->code_high != 0 && low % 2 == 1) {
                high = event->code_high;
                low -= 1;
            }
            assert_true(fields[i].value == (high << 32 | low));
            assert_int_equal(fields[i].wide, words == 2 || high != 0);
            assert_null(fields[i].text);
        }
        at += words;
    }
    assert_true(n == list->n || at >= event->nwords ||
                at + words_of(&list->args[n], event) > event->nwords);
}

/* In memory of their own, so that a byte too far is found. */
static void decode_check(const struct kev_desc *desc, unsigned class, unsigned number,
                         unsigned nwords)
{
    struct kev_field fields[KEV_ARGS_MAX];
    uint32_t *words = malloc(nwords * sizeof(*words));
    struct kev_event event = {.class = (uint8_t) class,
                              .number = (uint16_t)number,
                              .words = words,
                              .nwords = nwords,
                              .code_high = below(2) ? 0xffffff80u : 0,
                              .combined = nwords > 2};

    assert_non_null(words);
    for (unsigned i = 0; i < nwords; i++) {
        words[i] = below(4) ? 0x61616161u + below(26) : below(2) ? 0 : 0x610061u;
    }
    unsigned n = kev_decode(&event, desc, fields);
    assert_true(n <= KEV_ARGS_MAX);
    assert_true(n > 0 || desc->fast.n == 0 || desc->wide.n == 0);
    if (n > 0) {
        bool fast = fields[0].arg == desc->fast.args;

        assert_true(fast || fields[0].arg == desc->wide.args);
        fields_check(&event, fast ? &desc->fast : &desc->wide, fields, n);
    }
    free(words);
}

/* Every event that is known, whole, too short and too long. */
static void test_decode(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1,
                                                .events = "10 900 ODD D:a,X:b,D:c,X:d D:a,E:b,N:c\n"
                                                          "10 901 TEXT N:only =\n"});
    struct kev *kev = support_open(mk, NULL);
    unsigned known = 0;

    (void)state;
    seed = support_seed();
    for (unsigned class = 0; class < KEV_CLASSES; class ++) {
        for (unsigned number = 0; number < 1024; number++) {
            const struct kev_desc *desc = kev_describe(kev, class, number);

            for (unsigned nwords = 2; desc != NULL && nwords <= 36; nwords += 2) {
                decode_check(desc, class, number, nwords);
                decode_check(desc, class, number, nwords);
            }
            known += desc != NULL;
        }
    }
    assert_true(known > 300);
    kev_close(kev);
    mk_free(mk);
}

/* ---- a buffer that stands there twice ---------------------------------------------- */

/* A capture of three buffers of each of two CPUs, of which one stands there twice: right after
 * itself, or at the end. It is an error, and when recovering it is said. */
static void twice_check(unsigned which, bool at_end)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 2, .start = 5000});
    struct kev_options none = {0}, recover = {.recover = true};
    struct kev_error error;
    size_t from = 0, len = 0;

    for (unsigned i = 0; i < 6; i++) {
        size_t begin = mk->len;

        mk_event(mk, i % 2, 10, TRACE_CLASS_USER, 7, (uint32_t[]){i, 2}, 2);
        mk_flush(mk, i % 2);
        from = i == which ? begin : from;
        len = i == which ? mk->len - begin : len;
        for (size_t at = 0; i == (at_end ? 5 : which) && at < len; at += TRACE_SLOT_BYTES) {
            struct trace_slot slot;

            memcpy(&slot, mk->bytes + from + at, sizeof(slot));
            mk_slot(mk, &slot);
        }
    }
    struct kev *kev = kev_open(support_file(mk->bytes, mk->len), &none, &error);
    struct support_read read = {.error = true, .why = error};
    if (kev != NULL) {
        read = support_read_all(kev);
        kev_close(kev);
    }
    assert_true(read.error);
    assert_non_null(strstr(read.why.text, " comes after buffer "));
    kev = support_open(mk, &recover);
    assert_false(support_read_all(kev).error);
    assert_int_equal(kev_damage(kev)->sequences, 1);
    kev_close(kev);
    mk_free(mk);
}

static void test_buffer_twice(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 6; which++) {
        twice_check(which, false);
        twice_check(which, true);
    }
}

/* ---- covered time ------------------------------------------------------------------ */

/* Slots at a buffer's end where an event of many slots may not have found room. */
#define NARROW 12

/* A buffer is full to its last slot but one event, which was too long for the `left` slots behind
 * it; smaller ones filled those, and the next buffer tells of it. The covered time ends before. */
static void narrow_check(unsigned left, unsigned reason)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1, .start = 5000});
    struct kev_cover cover = {.classes = UINT32_MAX};
    struct mk_cpu *c = &mk->cpu[0];
    struct kev_span *spans;
    uint64_t lost = 0;

    for (unsigned i = 0; i < TRACE_BUFFER_SLOTS; i++) {
        uint32_t header = i == 0   ? TRACE_HEADER(0, 0, TRACE_CLASS_CONTROL, TRACE_CONTROL_BUFFER)
                          : i == 1 ? TRACE_HEADER(0, 0, TRACE_CLASS_CONTROL, TRACE_CONTROL_TIME)
                                   : TRACE_HEADER(0, 0, TRACE_CLASS_COMM, 0);

        c->now += 10;
        c->buffer[i] =
            (struct trace_slot){header, (uint32_t)c->now, i ? 0 : 1, i == 1 ? (uint32_t)c->now : 7};
        lost = i == TRACE_BUFFER_SLOTS - left - 1 ? c->now + 5 : lost;
    }
    c->slots = TRACE_BUFFER_SLOTS;
    c->sequence = 1;
    mk_flush(mk, 0);
    c->now += 10;
    mk_dropped(mk, 0, reason, TRACE_CLASS_COMM, 1);
    mk_event(mk, 0, 10, TRACE_CLASS_COMM, 0, (uint32_t[]){1, 2}, 2);
    mk_flush(mk, 0);
    struct kev *kev = support_open(mk, NULL);
    assert_int_equal(kev_covered(kev, 0, &cover, &spans), 2);
    assert_true(spans[0].to <= lost && spans[1].from > lost);
    assert_true(spans[0].to >= lost - 10 * (uint64_t)(NARROW + 1)); /* and not long before */
    free(spans);
    kev_close(kev);
    mk_free(mk);
}

static void test_narrow_end(void **state)
{
    (void)state;
    for (unsigned left = 0; left < NARROW; left++) {
        narrow_check(left, KYMO_DROP_NOBUFFER);
        narrow_check(left, KYMO_DROP_FILLED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_buffer_twice),
        cmocka_unit_test(test_narrow_end),
    };
    int result = cmocka_run_group_tests(tests, NULL, NULL);

    support_remove();
    return result;
}
