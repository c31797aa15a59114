/* SPDX-License-Identifier: BSD-2-Clause */
/* Text on a framebuffer: see screen.h. */
#include "boards/drivers/screen.h"

#define CELL_WIDTH 8u
#define CELL_HEIGHT 16u
/* Larger screens are used only up to this size: 1920 by 1088. */
#define COLUMNS_MOST 240u
#define LINES_MOST 68u

static volatile uint32_t *pixels; /* [I] like all other variables, except the state of drawing */
static uint32_t words_a_line, columns, lines, light;
static const uint8_t *font;
static uint8_t drawn[LINES_MOST][COLUMNS_MOST]; /* [a] */
static uint32_t column, line;                   /* [a] position of the next character */

static void screen_cell_draw(uint32_t y, uint32_t x, uint8_t c)
{
    volatile uint32_t *at = pixels + y * CELL_HEIGHT * words_a_line + x * CELL_WIDTH;

    if (drawn[y][x] == c) {
        return;
    }
    drawn[y][x] = c;
    for (uint32_t row = 0; row < CELL_HEIGHT; row++) {
        for (uint32_t i = 0; i < CELL_WIDTH; i++) {
            at[i] = font[c * CELL_HEIGHT + row] << i & 0x80 ? light : 0;
        }
        at += words_a_line;
    }
}

static void screen_scroll(void)
{
    for (uint32_t y = 0; y < lines; y++) {
        for (uint32_t x = 0; x < columns; x++) {
            screen_cell_draw(y, x, y + 1 < lines ? drawn[y + 1][x] : ' ');
        }
    }
}

void screen_init(volatile uint32_t *at, uint32_t pitch, uint32_t width, uint32_t height,
                 uint32_t white, const uint8_t *with)
{
    pixels = at;
    words_a_line = pitch / sizeof(*at);
    light = white;
    font = with;
    columns = width / CELL_WIDTH < COLUMNS_MOST ? width / CELL_WIDTH : COLUMNS_MOST;
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            at[y * words_a_line + x] = 0;
        }
    }
    for (uint32_t y = 0; y < LINES_MOST; y++) {
        for (uint32_t x = 0; x < COLUMNS_MOST; x++) {
            drawn[y][x] = ' ';
        }
    }
    column = line = 0;
    lines = height / CELL_HEIGHT < LINES_MOST ? height / CELL_HEIGHT : LINES_MOST;
    lines = columns == 0 ? 0 : lines;
}

void screen_putc(char c)
{
    uint32_t x = column, y = line; /* others may change them meanwhile */

    if (lines == 0) {
        return;
    }
    if (c == '\r') {
        x = 0;
    } else if (c == '\b') {
        x -= x > 0;
    } else if (c == '\n' || x >= columns) {
        x = 0;
        y++;
    }
    if (y >= lines) {
        screen_scroll();
        y = lines - 1;
    }
    if ((uint8_t)c >= ' ') {
        screen_cell_draw(y, x++, (uint8_t)c);
    }
    column = x;
    line = y;
}
