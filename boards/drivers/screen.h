/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text on a linear framebuffer, in white on black: shows the kernel's output, in addition to the
 * serial port. Only newlines, returns and backspaces move the position; other control characters
 * are ignored. The drawn text is remembered, so a scroll writes only the differences, and the
 * framebuffer, which is slow to read on real machines, is never read. After screen_init()
 * screen_putc() may be called from any context; two CPUs at once can only garble the visible text.
 * Tested by test/boards/drivers/.
 */
#ifndef BOARDS_DRIVERS_SCREEN_H
#define BOARDS_DRIVERS_SCREEN_H

#include <stdint.h>

#define SCREEN_FONT_BYTES 4096 /* 256 characters of 8 by 16, one byte per line */

/* Initializes the screen. `pixels` are of 32 bits, `pitch` bytes per line; `white` is the value of
 * the lightest pixel. The font is not copied. */
void screen_init(volatile uint32_t *pixels, uint32_t pitch, uint32_t width, uint32_t height,
                 uint32_t white, const uint8_t *font);
void screen_putc(char c); /* does nothing before screen_init() */

#endif
