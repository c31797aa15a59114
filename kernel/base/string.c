/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memcpy and related functions for the kernel. Any context, no lock. They move blocks of 16 words
 * by the CPU's widest instructions (kernel/arch/cpu.h), then words, then bytes. The destination is
 * aligned first; if the source isn't aligned then, its words are read at unaligned addresses. Every
 * port's CPU can do that in normal memory, but not in device memory: device memory is never an
 * argument of these functions (vm_user_ptr() doesn't return it, D refuses it). The attribute keeps
 * the compiler from turning the loops into calls of themselves. Tested by
 * test/kernel/base/string_test.c.
 */
#include "kernel/base/string.h"

#include <stdint.h>

#include "kernel/arch/cpu.h"

#define NO_SELF_CALL __attribute__((optimize("no-tree-loop-distribute-patterns")))

typedef uintptr_t __attribute__((may_alias)) word_t;
typedef uintptr_t __attribute__((may_alias, aligned(1))) odd_word_t;
#define WORD sizeof(word_t)
#define MISALIGNED(p) ((uintptr_t)(p) % WORD)

#define TURN ARCH_TURN
/* Half a block, because for a packed structure of more than 32 bytes the Arm compiler makes a
 * loop. */
typedef struct {
    word_t words[TURN / WORD / 2];
} __attribute__((may_alias, packed)) odd_half_t;

/* Copies whole blocks from an unaligned address. A separate function, so that short copies need not
 * save the registers that it uses. */
static __attribute__((noinline)) NO_SELF_CALL void
copy_odd_turns(uint8_t *restrict d, const uint8_t *restrict s, size_t len)
{
    for (const uint8_t *end = s + len; s != end; d += TURN, s += TURN) {
        odd_half_t *to = (odd_half_t *)d;
        const odd_half_t *from = (const odd_half_t *)s;

        to[0] = from[0];
        to[1] = from[1];
    }
}

NO_SELF_CALL void *memcpy(void *restrict dst, const void *restrict src, size_t len)
{
    uint8_t *d = dst;
    const uint8_t *s = src;

    for (; len && MISALIGNED(d); len--) {
        *d++ = *s++;
    }
    if (len >= TURN) {
        size_t turns = len / TURN * TURN;

        if (MISALIGNED(s)) {
            copy_odd_turns(d, s, turns);
        } else {
            arch_copy_turns(d, s, turns);
        }
        d += turns;
        s += turns;
        len -= turns;
    }
    for (; len >= WORD; len -= WORD, d += WORD, s += WORD) {
        *(word_t *)d = *(const odd_word_t *)s;
    }
    for (; len; len--) {
        *d++ = *s++;
    }
    return dst;
}

/* For a source that overlaps the destination: each word is read before any byte of it is
 * overwritten. copy_up() is for a destination below the source, copy_down() for one above it. */
static NO_SELF_CALL void copy_up(uint8_t *d, const uint8_t *s, size_t len)
{
    for (; len && MISALIGNED(d); len--) {
        *d++ = *s++;
    }
    for (; len >= WORD; len -= WORD, d += WORD, s += WORD) {
        *(word_t *)d = *(const odd_word_t *)s;
    }
    for (; len; len--) {
        *d++ = *s++;
    }
}

static NO_SELF_CALL void copy_down(uint8_t *d, const uint8_t *s, size_t len)
{
    d += len;
    s += len;
    for (; len && MISALIGNED(d); len--) {
        *--d = *--s;
    }
    for (; len >= WORD; len -= WORD) {
        d -= WORD;
        s -= WORD;
        *(word_t *)d = *(const odd_word_t *)s;
    }
    for (; len; len--) {
        *--d = *--s;
    }
}

NO_SELF_CALL void *memmove(void *dst, const void *src, size_t len)
{
    /* wraps if the destination is below the source */
    uintptr_t ahead = (uintptr_t)dst - (uintptr_t)src;

    if (ahead >= len && 0 - ahead >= len) {
        return memcpy(dst, src, len);
    }
    if (ahead < len) {
        copy_down(dst, src, len);
    } else {
        copy_up(dst, src, len);
    }
    return dst;
}

NO_SELF_CALL void *memset(void *dst, int value, size_t len)
{
    uint8_t *d = dst;
    word_t pattern = (word_t)-1 / 255 * (uint8_t)value;

    for (; len && MISALIGNED(d); len--) {
        *d++ = (uint8_t)value;
    }
    if (len >= TURN) {
        arch_fill_turns(d, pattern, len / TURN * TURN);
        d += len / TURN * TURN;
        len %= TURN;
    }
    for (; len >= WORD; len -= WORD, d += WORD) {
        *(word_t *)d = pattern;
    }
    for (; len; len--) {
        *d++ = (uint8_t)value;
    }
    return dst;
}

NO_SELF_CALL int memcmp(const void *a, const void *b, size_t len)
{
    const uint8_t *p = a, *q = b;

    for (; len >= WORD && *(const odd_word_t *)p == *(const odd_word_t *)q; len -= WORD) {
        p += WORD;
        q += WORD;
    }
    for (; len; len--, p++, q++) {
        if (*p != *q) {
            return *p < *q ? -1 : 1;
        }
    }
    return 0;
}

NO_SELF_CALL size_t strlen(const char *s)
{
    size_t len = 0;

    while (s[len]) {
        len++;
    }
    return len;
}

int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return (uint8_t)*a - (uint8_t)*b;
}

int strncmp(const char *a, const char *b, size_t len)
{
    for (; len > 0; a++, b++, len--) {
        if (*a != *b || !*a) {
            return (uint8_t)*a - (uint8_t)*b;
        }
    }
    return 0;
}
