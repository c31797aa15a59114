/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/escape.h: what may reach a terminal, for every byte, every pair of bytes and random text in
 * random pieces. The reference decides by decoding whole characters.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/escape.h"
#include "host/temporary.h"
#include "test/host/support.h"
#include "test/tool/random.h"

static const char *escaped(const char *text, size_t n)
{
    static char to[ESCAPE_MOST(4096)];
    struct escape e = {0};
    size_t used = escape_text(&e, text, n, to);

    to[used] = '\0';
    return to;
}

static void test_what_stays(void **state)
{
    static const char *const texts[] = {
        "",          "plain text, 100 %",   "two\nlines\tand a tab",
        "back\\033", "Grüße, \xe2\x82\xac", "\xf0\x9f\x98\x80 \xef\xbf\xbd \xee\x80\x80",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        assert_string_equal(escaped(texts[i], strlen(texts[i])), texts[i]);
    }
}

static void test_what_is_replaced(void **state)
{
    static const struct {
        const char *text, *wanted;
    } rows[] = {
        {"\033[31mred", "\\033[31mred"},
        {"\033]0;title\a", "\\033]0;title\\007"},
        {"over\rwritten\b", "over\\015written\\010"},
        {"\x7f", "\\177"},
        {"\xc2\x9b"
         "31m",
         "\\302\\23331m"}, /* C1's CSI */
        {"\x9b"
         "31m",
         "\\23331m"}, /* the same, not in UTF-8 */
        {"\xe2\x80\xae"
         "evil",
         "\\342\\200\\256evil"}, /* right-to-left override */
        {"\xe2\x81\xa6", "\\342\\201\\246"},
        {"\xc0\x9b", "\\300\\233"}, /* overlong forms of ESC, CSI */
        {"\xc1\x9b", "\\301\\233"},
        {"\xe0\x82\x9b", "\\340\\202\\233"},
        {"\xf0\x80\x82\x9b", "\\360\\200\\202\\233"},
        {"\xed\xa0\x80", "\\355\\240\\200"},          /* a surrogate */
        {"\xf4\x90\x80\x80", "\\364\\220\\200\\200"}, /* after the last character */
        {"\xef\xbf\xbe\xef\xbf\xbf", "\\357\\277\\276\\357\\277\\277"}, /* XML has no such */
        {"\xe2\x82\033[m", "\\342\\202\\033[m"},                        /* ESC within a character */
        {"\xe2\xc3\xbc", "\\342\xc3\xbc"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_string_equal(escaped(rows[i].text, strlen(rows[i].text)), rows[i].wanted);
    }
    assert_memory_equal(escaped("\0x", 2), "\\000x", 6);
}

static bool is_continuation(const uint8_t *t, size_t n, size_t at)
{
    return at < n && (t[at] & 0xc0) == 0x80;
}

/* Whether a terminal would do something else with the text than show it. */
static bool acts(const uint8_t *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((t[i] < 0x20 && t[i] != '\n' && t[i] != '\t') || t[i] == 0x7f) {
            return true;
        }
        if (t[i] == 0xc2 && is_continuation(t, n, i + 1) && t[i + 1] < 0xa0) {
            return true;
        }
        if (t[i] >= 0x80) {
            size_t length = t[i] >= 0xf0 ? 4 : t[i] >= 0xe0 ? 3 : t[i] >= 0xc0 ? 2 : 1;
            for (size_t k = 1; k < length; k++) {
                if (!is_continuation(t, n, i + k)) {
                    return true;
                }
            }
            if (length == 1) {
                return true; /* a C1 control where UTF-8 isn't understood */
            }
            i += length - 1;
        }
    }
    return false;
}

/* A text that ends in the midst of a character loses nothing of it. */
static void test_whole_texts(void **state)
{
    static const struct {
        const char *text, *whole, *line;
    } rows[] = {{"", "", ""},
                {"a\xe4\xb8", "a\\344\\270", "a\\344\\270"},
                {"\xe4\xb8\xad", "\xe4\xb8\xad", "\xe4\xb8\xad"},
                {"\xf0\x9f\x99\n", "\\360\\237\\231\n", "\\360\\237\\231\\012"},
                {"a\tb\033", "a\tb\\033", "a\\011b\\033"}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char to[ESCAPE_MOST(8) + 1];

        to[escape_whole(rows[i].text, strlen(rows[i].text), to)] = '\0';
        assert_string_equal(to, rows[i].whole);
        to[escape_line(rows[i].text, strlen(rows[i].text), to)] = '\0';
        assert_string_equal(to, rows[i].line);
    }
}

static void test_every_pair(void **state)
{
    (void)state;
    for (unsigned pair = 0; pair < 65536; pair++) {
        char text[3] = {(char)(pair >> 8), (char)pair, '.'};
        const char *to = escaped(text, sizeof(text));
        assert_false(acts((const uint8_t *)to, strlen(to)));
        assert_int_equal(to[strlen(to) - 1], '.');
    }
}

/* Mostly what is special, so that sequences come to be. */
static char random_byte(void)
{
    static const char special[] = "\033\xc2\x9b\xe2\x80\xae\x7f\r\n\xf0\x9f\x98\x80[31m";

    return random_below(2) ? special[random_below(sizeof(special) - 1)] : (char)random_below(256);
}

static void test_random_pieces(void **state)
{
    (void)state;
    random_start();
    for (unsigned round = 0; round < 2000; round++) {
        char text[257], to[ESCAPE_MOST(sizeof(text))];
        struct escape e = {0};
        size_t used = 0, n = random_below(256);

        for (size_t i = 0; i < n; i++) {
            text[i] = random_byte();
        }
        text[n++] = '\n';
        for (size_t at = 0, part; at < n; at += part) {
            part = 1 + random_below((uint32_t)(n - at));
            used += escape_text(&e, text + at, part, to + used);
        }
        assert_false(acts((const uint8_t *)to, used));
        assert_memory_equal(to, escaped(text, n), used);
        assert_int_equal(to[used - 1], '\n');
    }
}

/* As stderr is: each byte of an escape sequence by a write of its own, and one large write. */
static void test_stream(void **state)
{
    static char large[5000], back[8 * sizeof(large)];
    int fd = temporary_open();
    struct escape_stream state_of_stream;
    FILE *stream = escape_stream_open(&state_of_stream, fd);

    (void)state;
    assert_non_null(stream);
    setvbuf(stream, NULL, _IONBF, 0);
    for (const char *c = "\xc2\x9bm\xe2\x82\xac"; *c; c++) {
        putc(*c, stream);
    }
    memset(large, '\033', sizeof(large));
    assert_int_equal(fwrite(large, 1, sizeof(large), stream), sizeof(large));
    fclose(stream);
    ssize_t n = pread(fd, back, sizeof(back), 0);
    assert_int_equal(n, 9 + 3 + 4 * sizeof(large));
    assert_memory_equal(back, "\\302\\233m\xe2\x82\xac\\033\\033", 20);
    close(fd);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_stays),    cmocka_unit_test(test_what_is_replaced),
        cmocka_unit_test(test_whole_texts),   cmocka_unit_test(test_every_pair),
        cmocka_unit_test(test_random_pieces), cmocka_unit_test(test_stream),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
