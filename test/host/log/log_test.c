/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Log text on the host. Random formats with random values give what printf() gives; formats and
 * words at random, and ELF files with damaged formats, crash nothing, and say what is wrong.
 * SEED=n repeats; ROUNDS=n runs more.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/sys/log.h"
#include "host/log/log.h"
#include "test/host/support.h"
#include "test/tool/random.h"

enum { ROUNDS = 40000, ARGUMENTS = 5 };

static unsigned rounds(void)
{
    return getenv("ROUNDS") != NULL ? (unsigned)atoi(getenv("ROUNDS")) : ROUNDS;
}

/* ---- beside printf() ----------------------------------------------------------------- */

struct built {
    char types[KYMO_LOG_ARGS + 1];
    uint32_t words[KYMO_LOG_WORDS];
    unsigned ntypes, nwords;
    char format[256], want[8192];
};

static uint64_t random_bits(void)
{
    uint64_t bits = (uint64_t)random_below(UINT32_MAX) << 32 | random_below(UINT32_MAX);

    switch (random_below(4)) {
    case 0:
        return bits;
    case 1:
        return bits >> random_below(64);
    case 2:
        return (uint64_t)0 - random_below(300);
    default:
        return random_below(300);
    }
}

static void word_add(struct built *b, uint32_t word)
{
    b->words[b->nwords++] = word;
}

static void long_add(struct built *b, uint64_t bits)
{
    word_add(b, (uint32_t)bits);
    word_add(b, (uint32_t)(bits >> 32));
}

static void string_add(struct built *b, const char *text)
{
    size_t bytes = strlen(text);

    word_add(b, (uint32_t)bytes);
    memset(&b->words[b->nwords], 0, (bytes + 3) / 4 * 4);
    memcpy(&b->words[b->nwords], text, bytes);
    b->nwords += (unsigned)(bytes + 3) / 4;
}

static void head_make(char head[64], bool signs)
{
    static const char flags[] = "-+ #0";
    char *at = head;

    *at++ = '%';
    for (unsigned i = 0; i < 5; i++) {
        if (random_below(4) == 0 && (signs || flags[i] == '-')) {
            *at++ = flags[i];
        }
    }
    if (random_below(3) == 0) {
        at += sprintf(at, "%u", 1 + random_below(30));
    }
    if (random_below(3) == 0) {
        at += sprintf(at, ".%u", random_below(20));
    }
    *at = '\0';
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#define WANT(...) \
    snprintf(b->want + strlen(b->want), sizeof(b->want) - strlen(b->want), __VA_ARGS__)

static void integer_add(struct built *b, const char *head)
{
    static const char *const lengths[] = {"hh", "h", "", "l", "ll"};
    unsigned length = random_below(5);
    char spec[80], conversion = "diouxX"[random_below(6)];
    uint64_t bits = random_bits();
    bool is_signed = conversion == 'd' || conversion == 'i';

    snprintf(spec, sizeof(spec), "%s%s%c", head, lengths[length], conversion);
    strcat(b->format, spec);
    if (length < 3) {
        b->types[b->ntypes++] = is_signed || length < 2 ? 'i' : 'u';
        word_add(b, (uint32_t)bits);
        WANT(spec, (int)bits);
    } else {
        b->types[b->ntypes++] = is_signed ? 'I' : 'U';
        long_add(b, bits);
        WANT(spec, (unsigned long long)bits);
    }
}

/* `long` of a 32-bit target: one word. */
static void long32_add(struct built *b, const char *head)
{
    char spec[80], conversion = "dux"[random_below(3)];
    uint64_t bits = random_bits();

    snprintf(spec, sizeof(spec), "%sl%c", head, conversion);
    strcat(b->format, spec);
    b->types[b->ntypes++] = conversion == 'd' ? 'i' : 'u';
    word_add(b, (uint32_t)bits);
    WANT(spec, conversion == 'd' ? (unsigned long)(long)(int32_t)bits : (uint32_t)bits);
}

static void double_add(struct built *b, const char *head)
{
    char spec[80];
    uint64_t bits = random_bits();
    double number = (double)(int64_t)bits / 1024;

    if (random_below(4) == 0) {
        memcpy(&number, &bits, sizeof(number));
    }
    memcpy(&bits, &number, sizeof(bits));
    snprintf(spec, sizeof(spec), "%s%c", head, "fFeEgGaA"[random_below(8)]);
    strcat(b->format, spec);
    b->types[b->ntypes++] = 'f';
    long_add(b, bits);
    WANT(spec, number);
}

static void text_add(struct built *b, const char *head)
{
    char spec[80], text[24];
    unsigned n = random_below(20);

    for (unsigned i = 0; i < n; i++) {
        text[i] = (char)(1 + random_below(255));
    }
    text[n] = '\0';
    snprintf(spec, sizeof(spec), "%ss", head);
    strcat(b->format, spec);
    b->types[b->ntypes++] = 's';
    string_add(b, text);
    WANT(spec, text);
}

static void star_add(struct built *b)
{
    int width = (int)random_below(40) - 20, precision = (int)random_below(12);
    uint64_t bits = random_bits();

    strcat(b->format, "%*.*lld");
    b->types[b->ntypes++] = 'i';
    b->types[b->ntypes++] = 'i';
    b->types[b->ntypes++] = 'I';
    word_add(b, (uint32_t)width);
    word_add(b, (uint32_t)precision);
    long_add(b, bits);
    WANT("%*.*lld", width, precision, (long long)bits);
}

static void character_add(struct built *b)
{
    int code = 1 + (int)random_below(255);

    strcat(b->format, "%5c");
    b->types[b->ntypes++] = 'i';
    word_add(b, (uint32_t)code);
    WANT("%5c", code);
}

#pragma GCC diagnostic pop

static void as_printf(void **state)
{
    (void)state;
    for (unsigned round = 0; round < rounds(); round++) {
        struct built b = {.ntypes = 0};
        unsigned n = random_below(ARGUMENTS);
        struct log_site site = {.level = KYMO_LOG_INFO, .types = b.types, .format = b.format};
        char head[64], text[KEV_LOG_TEXT];

        for (unsigned i = 0; i < n && b.ntypes + 3 <= KYMO_LOG_ARGS; i++) {
            unsigned kind = random_below(7);

            head_make(head, kind != 2);
            if (kind == 0) {
                integer_add(&b, head);
            } else if (kind == 1) {
                double_add(&b, head);
            } else if (kind == 2) {
                text_add(&b, head);
            } else if (kind == 3) {
                star_add(&b);
            } else if (kind == 4) {
                character_add(&b);
            } else if (kind == 5) {
                long32_add(&b, head);
            } else {
                strcat(b.format, "%% and ");
                strcat(b.want, "% and ");
            }
        }
        log_format(&site, b.words, b.nwords, text, sizeof(text));
        b.want[sizeof(text) - 1] = '\0';
        if (strcmp(text, b.want) != 0) {
            fail_msg("\"%s\" of %s: \"%s\", not \"%s\"", b.format, b.types, text, b.want);
        }
    }
}

/* ---- hostile ------------------------------------------------------------------------- */

static const char *formatted(const char *format, const char *types, const uint32_t *words,
                             unsigned nwords)
{
    static char text[KEV_LOG_TEXT];
    struct log_site site = {.level = KYMO_LOG_INFO, .types = types, .format = format};

    log_format(&site, words, nwords, text, sizeof(text));
    return text;
}

static void what_does_not_fit(void **state)
{
    const uint32_t words[] = {0x00000003, 0x00636261, 7}, unending[] = {4, 0x61616161};
    const uint32_t lies[] = {0xffff, 0x61616161}, wide[] = {UINT32_MAX >> 1, 5};

    (void)state;
    assert_string_equal(formatted("%n", "i", words, 1), "<%n is refused>");
    assert_string_equal(formatted("%d %n %d", "iii", words, 3), "3 <%n is refused> <%d: no value>");
    assert_string_equal(formatted("%S%", "s", words, 2), "<%S is refused><% is refused>");
    assert_string_equal(formatted("%s", "i", words, 1), "<%s: the value is of another type>");
    assert_string_equal(formatted("%d", "s", words, 2), "<%d: the value is of another type>");
    assert_string_equal(formatted("%s %d", "si", words, 3), "abc 7");
    assert_string_equal(formatted("%s %d", "s", words, 2), "abc <%d: no value>");
    assert_string_equal(formatted("%lld", "I", words, 1), "<%lld: no value>");
    assert_string_equal(formatted("%d", "", words, 3), "<%d: no value>");
    assert_string_equal(formatted("[%s]", "s", unending, 2), "[aaaa]");
    assert_string_equal(formatted("[%s]", "s", lies, 2), "[<%s: no value>]");
    assert_string_equal(formatted("%p %p", "pP", words, 3), "0x3 0x700636261");
    /* Widths are bounded. */
    assert_int_equal(strlen(formatted("%*d", "ii", wide, 2)), 512);
    assert_int_equal(strlen(formatted("%999999999999999999d", "i", words, 1)), 512);
    assert_true(strlen(formatted("%.999999999f", "f", words, 2)) < 600);
    assert_int_equal(strlen(formatted("%512d%512d%512d", "iii", words, 3)), KEV_LOG_TEXT - 1);
}

static void a_probe(void **state)
{
    static const uint32_t words[] = {17, 0xffffffff, 0xffffffff, 0x1000, 0xff};
    static const struct {
        const char *types, *format, *text;
    } rows[] = {
        {"", "app, none", "app:::none"},
        {"iI", "app, request__start, id, -b", "app:::request-start id=17 -b=-1"},
        {"uUP", "a, b, x, y,  z ", "a:::b x=17 y=18446744073709551615 z=0xff00001000"},
        {"iIPi", "a, b, x, y, z, v", "a:::b x=17 y=-1 z=0xff00001000 v: no value"},
        {"iI", "a, b, f(x, y[1,2]), ','", "a:::b f(x, y[1,2])=17 ','=-1"},
        {"iI", "a, b, \"\\\",)\", (p){1, 2}", "a:::b \"\\\",)\"=17 (p){1, 2}=-1"},
        {"i", "a, b, x, y", "a:::b x=17 y: no value"},
        {"i", "a, b, (x", "a:::b (x=17"},
        {"i", "a, b, x)", "a:::b x)=17"},
        {"s", "a, b, x", "a:::b x: no value"},
        {"i", "a, b,", "a:::b"},
        {"i", "a", "a"},
        {"i", "", ""},
        {"i", "__, ___, %s%n", "__:::-_ %s%n=17"},
    };
    char text[64];

    (void)state;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct log_site site = {
            .level = KYMO_LOG_PROBE, .types = rows[i].types, .file = "", .format = rows[i].format};

        log_format(&site, words, 5, text, sizeof(text));
        assert_string_equal(text, rows[i].text);
        for (size_t room = 1; room < sizeof(text); room++) {
            char less[sizeof(text)];

            log_format(&site, words, 5, less, room);
            assert_true(strlen(less) < room && strncmp(less, rows[i].text, strlen(less)) == 0);
        }
    }
}

static void at_random(void **state)
{
    static const char alphabet[] = "%%%%diouxXcsfgap0123456789.*-+ #hlLjzn";

    (void)state;
    for (unsigned round = 0; round < rounds(); round++) {
        char format[64], types[KYMO_LOG_ARGS + 1];
        uint32_t *words;
        unsigned n = random_below(8);

        for (unsigned i = 0; i < sizeof(format) - 1; i++) {
            format[i] = alphabet[random_below(sizeof(alphabet) - 1)];
        }
        for (unsigned i = 0; i < sizeof(types) - 1; i++) {
            types[i] = "iuIUfspP"[random_below(8)];
        }
        format[random_below(sizeof(format))] = format[sizeof(format) - 1] = '\0';
        types[random_below(sizeof(types))] = types[sizeof(types) - 1] = '\0';
        words = malloc(n * sizeof(*words) + 1); /* of this size, for the sanitizer */
        assert_non_null(words);
        for (unsigned i = 0; i < n; i++) {
            words[i] = random_below(3) == 0 ? random_below(20) : (uint32_t)random_bits();
        }
        assert_true(strlen(formatted(format, types, words, n)) < KEV_LOG_TEXT);
        free(words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_printf),
        cmocka_unit_test(what_does_not_fit),
        cmocka_unit_test(a_probe),
        cmocka_unit_test(at_random),
    };

    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
