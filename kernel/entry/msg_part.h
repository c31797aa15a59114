/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers as the fast path of messages (msg_direct.c, msg_wide.c) reads them from a call's
 * arguments. Kernel lock held; the buffers are in self's own process. Any other buffer is left to
 * msg_resolve().
 */
#ifndef KERNEL_ENTRY_MSG_PART_H
#define KERNEL_ENTRY_MSG_PART_H

#include "kernel/ipc/msg.h"

/* A buffer that a call names, and its kernel pointer: NULL if it is of 0 bytes. */
struct part {
    uintptr_t base;
    size_t bytes;
    void *at;
};

/*
 * Reads the buffer that args[arg] and args[arg + 1], words of self's call, describe directly or by
 * one iov_t. For an iov_t, self's arguments are replaced by the direct buffer, as msg_resolve()
 * does, so that the slow path, if it is taken after all, finds the buffer that was read here.
 * Returns false, for msg_resolve() to do the rest, if the buffer is
 *   of several parts, or an iov_t that is not aligned (it is read bytewise, or EFAULT)
 *   not covered by self's user mapping caches: it is looked up in all mappings, perhaps EFAULT
 */
static inline bool part_read(struct thread *self, const uintptr_t *args, unsigned arg,
                             const struct vm_cache *cache, struct part *p)
{
    uintptr_t base = args[arg];
    size_t bytes = (uintptr_t)0 - args[arg + 1];

    if (unlikely((intptr_t)bytes <= 0)) { /* parts, or 0 bytes: one test for both */
        if (bytes != 0) {
            if (bytes != (size_t)-1 || (base & (sizeof(uintptr_t) - 1)) ||
                !msg_cached(&self->iov_cache, base, sizeof(iov_t))) {
                return false;
            }
            const volatile iov_t *iov = msg_cached_ptr(&self->iov_cache, base);
            base = (uintptr_t)iov->iov_base;
            bytes = iov->iov_len;
            if (MSG_TOO_LONG(bytes)) {
                return false; /* EOVERFLOW */
            }
            self->args[arg] = base;
            self->args[arg + 1] = (uintptr_t)0 - bytes;
        }
        if (bytes == 0) {
            *p = (struct part){base, 0, NULL};
            return true;
        }
    }
    *p = (struct part){base, bytes, msg_cached_ptr(cache, base)};
    return msg_cached(cache, base, bytes);
}

/* Like part_read(), for two words in registers and the common case only: no bytes, or up to `most`
 * bytes that are not near their mapping's end. */
static ALWAYS_INLINE bool part_direct(uintptr_t base, uintptr_t parts, const struct vm_cache *cache,
                                      size_t most, struct part *p)
{
    size_t bytes = (uintptr_t)0 - parts;

    if (unlikely(bytes - 1 >= most)) { /* one test for parts, for too many, and for none */
        *p = (struct part){base, 0, NULL};
        return bytes == 0;
    }
    if (unlikely(base - cache->base >= cache->covered)) {
        return false;
    }
    *p = (struct part){base, bytes, msg_cached_ptr(cache, base)};
    return true;
}

/* The pieces of a buffer of up to MSG_PIECES parts. */
struct parts {
    struct msg_piece pieces[MSG_PIECES];
    unsigned count; /* number of pieces; 0: none has bytes */
    bool whole;     /* one part: pieces[0], perhaps NULL of 0 bytes */
    size_t bytes;   /* in all of them */
};

/* Reads the list of parts whose length is t's args[arg + 1]: each iov_t once. Returns false as
 * part_read() does, or if the parts are too many. cache NULL: only their total length is wanted. */
static inline bool parts_read_several(const struct thread *t, unsigned arg,
                                      const struct vm_cache *cache, struct parts *p)
{
    uintptr_t base = t->args[arg], left = t->args[arg + 1];
    struct msg_piece *piece = p->pieces;
    size_t sum = 0;

    if (left > MSG_PIECES || (base & (sizeof(uintptr_t) - 1)) ||
        !msg_cached(&t->iov_cache, base, left * sizeof(iov_t))) {
        return false;
    }
    const struct vm_cache known = cache ? *cache : (struct vm_cache){0}; /* read once */
    for (const volatile iov_t *iov = msg_cached_ptr(&t->iov_cache, base); left > 0; left--, iov++) {
        uintptr_t at = (uintptr_t)iov->iov_base;
        size_t bytes = iov->iov_len;
        if (bytes == 0) {
            continue;
        }
        if (cache && !msg_cached_all(&known, at, bytes)) {
            return false;
        }
        if (bytes > CONFIG_COPY_CHUNK - sum) {
            return false;
        }
        sum += bytes;
        if (cache) {
            *piece++ = (struct msg_piece){msg_cached_ptr(&known, at), bytes};
        }
    }
    p->whole = false;
    p->count = (unsigned)(piece - p->pieces);
    p->bytes = sum;
    return true;
}
_Static_assert(MSG_PIECES * sizeof(iov_t) <= MSG_SMALL, "found in the user mapping cache");

/* Reads the buffer that args[arg] and args[arg + 1] of t describe, of at most CONFIG_COPY_CHUNK
 * bytes. Returns false as part_read() does, or if the buffer is longer or has too many parts. */
static inline __attribute__((always_inline)) bool
parts_read(struct thread *t, unsigned arg, const struct vm_cache *cache, struct parts *p)
{
    if ((intptr_t)t->args[arg + 1] > 1) {
        return parts_read_several(t, arg, cache, p);
    }
    struct part one;
    if (!part_read(t, t->args, arg, cache, &one) || one.bytes > CONFIG_COPY_CHUNK) {
        return false;
    }
    p->whole = true;
    p->bytes = one.bytes;
    p->count = 1;
    p->pieces[0] = (struct msg_piece){one.at, one.bytes};
    return one.bytes <= MSG_SMALL || msg_cached_all(cache, one.base, one.bytes);
}

#endif
