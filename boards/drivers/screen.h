/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text on a linear framebuffer, in white on black: what the kernel prints, beside the serial port.
 * Only ends of lines, returns and backspaces move the place; other control characters are left out.
 * What has been drawn is remembered, so a scroll writes what differs, and nothing is ever read from
 * the framebuffer, which is slow on real machines. After screen_init() screen_putc() may be called
 * from any context; two CPUs at once may mix up what is seen, no more. Proved by
 * test/boards/drivers/.
 */
#ifndef BOARDS_DRIVERS_SCREEN_H
#define BOARDS_DRIVERS_SCREEN_H

#include <stdint.h>

#define SCREEN_FONT_BYTES 4096 /* 256 characters of 8 by 16, a byte a line */

/* `pixels` are of 32 bits, `pitch` bytes a line; `white` is the lightest one's value. The font
 * stays the caller's. */
void screen_init(volatile uint32_t *pixels, uint32_t pitch, uint32_t width, uint32_t height,
                 uint32_t white, const uint8_t *font);
void screen_putc(char c); /* nothing before screen_init() */

#endif
