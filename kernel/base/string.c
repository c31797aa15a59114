/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memcpy and related functions for the kernel: a word at a time where both sides allow it. Any
 * context, no lock. The attribute keeps the compiler from turning the loops into calls of
 * themselves.
 */
#include "kernel/base/string.h"

#include <stdint.h>

#define NO_SELF_CALL __attribute__((optimize("no-tree-loop-distribute-patterns")))

typedef uintptr_t __attribute__((may_alias)) word_t;
#define WORD sizeof(word_t)
#define MISALIGNED(p) ((uintptr_t)(p) % WORD)

NO_SELF_CALL void *memcpy(void *restrict dst, const void *restrict src, size_t len)
{
    uint8_t *d = dst;
    const uint8_t *s = src;

    if (MISALIGNED(d) == MISALIGNED(s)) {
        for (; len && MISALIGNED(d); len--) {
            *d++ = *s++;
        }
        for (; len >= 4 * WORD; len -= 4 * WORD, d += 4 * WORD, s += 4 * WORD) {
            word_t a = ((const word_t *)s)[0], b = ((const word_t *)s)[1];
            word_t c = ((const word_t *)s)[2], e = ((const word_t *)s)[3];
            ((word_t *)d)[0] = a;
            ((word_t *)d)[1] = b;
            ((word_t *)d)[2] = c;
            ((word_t *)d)[3] = e;
        }
        for (; len >= WORD; len -= WORD, d += WORD, s += WORD) {
            *(word_t *)d = *(const word_t *)s;
        }
    }
    for (; len; len--) {
        *d++ = *s++;
    }
    return dst;
}

NO_SELF_CALL void *memmove(void *dst, const void *src, size_t len)
{
    uint8_t *d = dst;
    const uint8_t *s = src;

    if ((uintptr_t)d - (uintptr_t)s >= len) {
        return memcpy(dst, src, len);
    }
    while (len--) {
        d[len] = s[len];
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
    for (; len >= 4 * WORD; len -= 4 * WORD, d += 4 * WORD) {
        ((word_t *)d)[0] = pattern;
        ((word_t *)d)[1] = pattern;
        ((word_t *)d)[2] = pattern;
        ((word_t *)d)[3] = pattern;
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
