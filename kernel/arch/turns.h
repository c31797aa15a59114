/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arch_copy_turns() and arch_fill_turns() in C, for ports whose compiler generates optimal code for
 * them: it moves a structure by the instructions that move several words. They are inlined into
 * their caller, whose attributes keep the loops from becoming calls of itself. Not a topic: only a
 * port's ops.h includes it. Tested by test/kernel/base/string_test.c.
 */
#ifndef KERNEL_ARCH_TURNS_H
#define KERNEL_ARCH_TURNS_H

#include <stddef.h>
#include <stdint.h>

#include "abi/compiler.h"

typedef struct {
    uintptr_t words[ARCH_TURN / sizeof(uintptr_t)];
} __attribute__((may_alias)) turn_t;

static ALWAYS_INLINE void turn_copy(uint8_t *to, const uint8_t *from)
{
    *(turn_t *)to = *(const turn_t *)from;
}

static ALWAYS_INLINE void arch_copy_turns(uint8_t *restrict to, const uint8_t *restrict from,
                                          size_t len)
{
    const uint8_t *end = from + len;

    if (len & ARCH_TURN) {
        turn_copy(to, from);
        to += ARCH_TURN;
        from += ARCH_TURN;
    }
    for (; from != end; to += 2 * ARCH_TURN, from += 2 * ARCH_TURN) {
        turn_copy(to, from);
        turn_copy(to + ARCH_TURN, from + ARCH_TURN);
    }
}

static ALWAYS_INLINE void arch_fill_turns(uint8_t *to, uintptr_t word, size_t len)
{
    for (const uint8_t *end = to + len; to != end; to += ARCH_TURN) {
        *(turn_t *)to = (turn_t){{[0 ... ARCH_TURN / sizeof(uintptr_t) - 1] = word}};
    }
}

#endif
