/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text that may come from a capture or a target, made fit for a terminal. Any context; no memory.
 * Proof: test/host/test_line.c, test/host/check.
 */
#ifndef HOST_PLAIN_H
#define HOST_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that a terminal may obey: C0 controls, DEL, and C1 controls, alone or as UTF-8 (0xc2 0x80
 * to 0xc2 0x9f). A byte of 0x80 to 0x9f is part of a character if it follows a byte of 0xc3 and
 * above or another such part. */
static inline bool plain_is_control(unsigned char before, unsigned char c)
{
    return c < ' ' || c == 0x7f || (c >= 0x80 && c < 0xa0 && (before < 0x80 || before == 0xc2));
}

/* Replaces control bytes of a string by '?', in place. */
static inline void plain_text(char *text)
{
    unsigned char before = 0;

    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (plain_is_control(before, c)) {
            *text = '?';
        }
        before = c;
    }
}

#endif
