/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * boards/drivers/screen.c: any text on screens of any size, beside a plain model of a terminal:
 * what is shown is the same, nothing is drawn outside of the screen, and a scroll does not write
 * again what stays as it was. Built with ASan and UBSan. KYMO_SEED=n repeats it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "boards/drivers/screen.h"

#define LIGHT 0xffffffu
#define UNSEEN 0x123456u
#define ROUNDS 60
#define TEXT 600

static uint8_t font[SCREEN_FONT_BYTES];

/* What a cell shows, which must be one character's whole. */
static int cell(const uint32_t *pixels, uint32_t words, uint32_t x, uint32_t y)
{
    for (int c = 0; c < 256; c++) {
        bool same = true;
        for (uint32_t i = 0; same && i < 128; i++) {
            uint32_t is = pixels[(y * 16 + i / 8) * words + x * 8 + i % 8];
            same = is == (font[c * 16 + i / 8] << i % 8 & 0x80 ? LIGHT : 0);
        }
        if (same) {
            return c;
        }
    }
    return -1;
}

struct terminal {
    uint32_t columns, lines, x, y;
    uint8_t text[80][256];
};

static void model_putc(struct terminal *t, uint8_t c)
{
    if (c == '\r') {
        t->x = 0;
        return;
    }
    if (c == '\b') {
        t->x -= t->x > 0;
        return;
    }
    if (c == '\n' || t->x == t->columns) {
        t->x = 0;
        if (++t->y == t->lines) {
            memmove(t->text[0], t->text[1], (t->lines - 1) * sizeof(t->text[0]));
            memset(t->text[t->lines - 1], ' ', sizeof(t->text[0]));
            t->y--;
        }
    }
    if (c >= ' ') {
        t->text[t->y][t->x++] = c;
    }
}

static void one_screen(uint32_t width, uint32_t height, uint32_t more)
{
    uint32_t words = width + more;
    uint32_t *pixels = malloc(sizeof(*pixels) * words * height);
    static struct terminal t;

    for (uint32_t i = 0; i < words * height; i++) {
        pixels[i] = UNSEEN;
    }
    t = (struct terminal){.columns = width / 8, .lines = height / 16};
    t.columns = t.columns < 240 ? t.columns : 240;
    t.lines = t.lines < 68 ? t.lines : 68;
    memset(t.text, ' ', sizeof(t.text));
    screen_init(pixels, words * 4, width, height, LIGHT, font);
    for (unsigned i = 0; i < TEXT; i++) {
        uint8_t c = (uint8_t)(rand() % 9 ? 0x20 + rand() % 0xe0 : "\r\n\b\n\t\a\n"[rand() % 7]);
        screen_putc((char)c);
        if (t.columns && t.lines) {
            model_putc(&t, c);
        }
    }
    for (uint32_t y = 0; y < (t.columns ? t.lines : 0); y++) {
        for (uint32_t x = 0; x < t.columns; x++) {
            assert_int_equal(cell(pixels, words, x, y), t.text[y][x]);
        }
    }
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < words; x++) {
            uint32_t is = pixels[y * words + x];
            bool in_cells = x / 8 < t.columns && y / 16 < t.lines;
            assert_true(in_cells || is == (x < width ? 0 : UNSEEN));
        }
    }
    free(pixels);
}

static void text_on_screens_of_all_sizes(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        one_screen(1 + (uint32_t)rand() % 400, 1 + (uint32_t)rand() % 200, (uint32_t)rand() % 9);
    }
    one_screen(2600, 1500, 0); /* larger than what is used of it */
}

static void a_scroll_writes_what_differs(void **state)
{
    static uint32_t pixels[640 * 160];

    (void)state;
    screen_init(pixels, 640 * 4, 640, 160, LIGHT, font);
    for (unsigned i = 0; i < 12; i++) {
        screen_putc('x');
        screen_putc('\n');
    }
    for (unsigned i = 0; i < 640 * 160; i++) {
        pixels[i] = UNSEEN;
    }
    screen_putc('\n'); /* the line of the cursor is empty: only the last x moves up */
    unsigned written = 0;
    for (unsigned i = 0; i < 640 * 160; i++) {
        written += pixels[i] != UNSEEN;
    }
    assert_int_equal(written, 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_on_screens_of_all_sizes),
        cmocka_unit_test(a_scroll_writes_what_differs),
    };
    const char *seed = getenv("KYMO_SEED");
    unsigned n = seed ? (unsigned)strtoul(seed, NULL, 0) : (unsigned)time(NULL);

    printf("KYMO_SEED=%u\n", n);
    fflush(stdout);
    srand(n);
    /* Each character differs from all others, and the blank is blank. */
    for (unsigned c = 0; c < 256; c++) {
        for (unsigned i = 1; c != ' ' && i < 16; i++) {
            font[c * 16 + i] = (uint8_t)(rand() | 1);
        }
        font[c * 16] = (uint8_t)(c ^ ' ');
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
