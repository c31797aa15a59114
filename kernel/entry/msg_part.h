/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A buffer of one part, as the fast path of messages (msg_direct.c) reads it from a call's
 * arguments. Kernel lock held; self's own process. Any other buffer is msg_resolve()'s.
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
 * Reads the buffer that args[arg] and args[arg + 1] of self name: itself, or by one iov_t. Returns
 * false, for msg_resolve() to do it, if that is
 *   of several parts, or an iov_t that is not aligned (it is read bytewise, or EFAULT)
 *   not covered by self's user mapping caches: it is looked up in all mappings, perhaps EFAULT
 */
static inline bool part_read(const struct thread *self, unsigned arg, const struct vm_cache *cache,
                             struct part *p)
{
    uintptr_t base = self->args[arg], parts = self->args[arg + 1];
    size_t bytes = (uintptr_t)0 - parts;

    if ((intptr_t)parts > 0) {
        if (parts != 1 || (base & (sizeof(uintptr_t) - 1)) ||
            !msg_cached(&self->iov_cache, base, sizeof(iov_t))) {
            return false;
        }
        const volatile iov_t *iov = msg_cached_ptr(&self->iov_cache, base);
        base = (uintptr_t)iov->iov_base;
        bytes = iov->iov_len;
    }
    p->base = base;
    p->bytes = bytes;
    p->at = NULL;
    if (bytes > 0) {
        if (!msg_cached(cache, base, bytes < MSG_SMALL ? bytes : MSG_SMALL)) {
            return false;
        }
        p->at = msg_cached_ptr(cache, base);
    }
    return true;
}

/* Stores the buffer as msg_resolve() does. */
static inline void part_keep(uintptr_t *arg, const struct part *p)
{
    arg[0] = p->base;
    arg[1] = (uintptr_t)0 - p->bytes;
}

#endif
