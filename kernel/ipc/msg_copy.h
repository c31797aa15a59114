/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Message buffers of processes and copying between them. Kernel lock held.
 *
 * A kernel call names a buffer by two words: an address and `parts`. Negative parts mean one buffer
 * of -parts bytes at the address; otherwise parts is the number of iov_t at the address, at most
 * KYMO_IOV_MAX. So these functions identify a buffer by a thread in such a call and the index of
 * the first of these two arguments. User memory is reached only through vm_user_ptr() and
 * vm_user_span(), checked in the buffer's process at the moment of use. Each iov_t is read once, so
 * that another thread that changes it meanwhile harms only its own process.
 */
#ifndef KERNEL_IPC_MSG_COPY_H
#define KERNEL_IPC_MSG_COPY_H

#include "abi/compiler.h"
#include "abi/errno.h"
#include "kernel/base/string.h"
#include "kernel/proc/proc.h"

/* Results of the copy functions besides a number of bytes: they say whose memory was bad. */
#define MSG_FAULT_SRC (-1L)
#define MSG_FAULT_DST (-2L)
/* Messages up to this size are copied by words, inline. */
#define MSG_SMALL VM_CACHE_SPAN
/* Most bytes of a message: lengths are int in QNX's interface. */
#define MSG_BYTES_MAX 0x7fffffffu
/* like bytes > MSG_BYTES_MAX, where a constant would cost more */
#define MSG_TOO_LONG(bytes) ((bytes) >> 31 != 0)

/* A position in a buffer; everything before it has been copied. */
struct msg_cursor {
    struct process *proc;
    const iov_t *next; /* remaining parts, checked kernel pointer */
    unsigned parts;    /* their number */
    unsigned prot;     /* KYMO_PROT_READ or _WRITE */
    uintptr_t addr;    /* rest of the current part */
    size_t left;
};

/* Returns the number of bytes in a buffer, -EOVERFLOW (too many parts or bytes) or -EFAULT
 * (unreadable parts). */
long msg_length_parts(struct thread *t, unsigned arg);
/* Opens a cursor, skipping `offset` bytes. Returns 0, or -EFAULT if parts are unreadable. */
int msg_cursor_open(struct msg_cursor *c, const struct thread *t, unsigned arg, size_t offset,
                    unsigned prot);
/* Copies at most max bytes, and at most `spans` pieces that are contiguous on both sides, and
 * advances both cursors. Returns the number copied, or MSG_FAULT_*. */
long msg_cursor_copy(struct msg_cursor *dst, struct msg_cursor *src, size_t max, unsigned spans);
/* Copies as much as fits from kernel memory. Returns the number of bytes, or MSG_FAULT_DST. */
long msg_put(const struct thread *dst, unsigned arg, const void *from, size_t bytes);

/* Returns whether a user mapping cache covers these bytes, at least one, or the first MSG_SMALL of
 * them; msg_cached_ptr() then returns their kernel pointer. The number of bytes matters only near
 * the mapping's end. */
static inline bool msg_cached(const struct vm_cache *w, uintptr_t addr, size_t bytes)
{
    size_t offset = addr - w->base, covered = w->covered;

    kernel_assert(bytes > 0);
    if (likely(offset < covered)) {
        return true;
    }
    size_t left = covered + (MSG_SMALL - 1) - offset; /* to the mapping's end, if it is near */
    return left < MSG_SMALL && bytes <= left && covered > 0;
}

/* Likewise for any number of bytes, at least one. */
static inline bool msg_cached_all(const struct vm_cache *w, uintptr_t addr, size_t bytes)
{
    size_t offset = addr - w->base;

    return offset < w->covered && bytes <= w->covered - offset + (MSG_SMALL - 1);
}

static inline void *msg_cached_ptr(const struct vm_cache *w, uintptr_t addr)
{
    return (void *)(addr + w->offset);
}

_Static_assert(sizeof(iov_t) <= MSG_SMALL, "found in the user mapping cache");
/* An address that no user mapping cache covers. */
#define MSG_NOWHERE UINTPTR_MAX
long msg_resolve_slow(struct thread *t, unsigned arg, uintptr_t *addr);

/*
 * Returns the length of the buffer that t's current call describes by args[arg] and args[arg + 1],
 * or a negative errno. A single part is converted to a direct buffer in the arguments, so that it
 * is read once and later uses are fast. *addr: its start, or MSG_NOWHERE if it has several parts or
 * they can't be read.
 */
static inline long msg_resolve(struct thread *t, unsigned arg, uintptr_t *addr)
{
    uintptr_t base = t->args[arg];
    long parts = (long)t->args[arg + 1];
    uintptr_t bytes = (uintptr_t)0 - (uintptr_t)parts;
    *addr = base;
    if (parts > 0) {
        const struct vm_cache *w = &t->iov_cache;
        if (parts > 1 || !msg_cached(w, base, sizeof(iov_t)) ||
            (base & (sizeof(uintptr_t) - 1)) != 0) {
            return msg_resolve_slow(t, arg, addr);
        }
        const volatile iov_t *iov = msg_cached_ptr(w, base);
        *addr = (uintptr_t)iov->iov_base;
        bytes = iov->iov_len;
        t->args[arg] = *addr;
        t->args[arg + 1] = (uintptr_t)0 - bytes;
    }
    return bytes <= MSG_BYTES_MAX ? (long)bytes : -EOVERFLOW;
}

/* Returns a kernel pointer to a resolved buffer of at most MSG_SMALL bytes, or NULL. */
static inline void *msg_buffer_find(const struct thread *t, struct vm_cache *w, uintptr_t addr,
                                    size_t bytes, unsigned prot)
{
    if (bytes == 0) {
        return NULL;
    }
    bytes = bytes < MSG_SMALL ? bytes : MSG_SMALL;
    if (likely(msg_cached(w, addr, bytes))) {
        return msg_cached_ptr(w, addr);
    }
    return addr == MSG_NOWHERE ? NULL : vm_cache_fill(w, t->proc, addr, bytes, prot);
}

/* Copies 8 bytes, aligned like a word. The asm statements keep the compiler from making the
 * surrounding loop a call of memcpy(). */
static inline void msg_copy_two(char *dst, const char *src)
{
    if (sizeof(uintptr_t) == 8) {
        uint64_t both;
        __builtin_memcpy(&both, __builtin_assume_aligned(src, 4), 8);
        __asm__("" : "+r"(both));
        __builtin_memcpy(__builtin_assume_aligned(dst, 4), &both, 8);
        return;
    }
    uint32_t low = ((const uint32_t *)src)[0], high = ((const uint32_t *)src)[1];
    __asm__("" : "+r"(low), "+r"(high));
    ((uint32_t *)dst)[0] = low;
    ((uint32_t *)dst)[1] = high;
}

/* Copies a few whole words, in any order: two at a time, from the end backwards, so that few
 * registers are needed. */
static inline __attribute__((always_inline)) void msg_copy_words(void *dst, const void *src,
                                                                 size_t bytes)
{
    size_t left = bytes & ~(size_t)7;

    if (bytes & 4) {
        uint32_t word = *(const uint32_t *)((const char *)src + left);
        __asm__("" : "+r"(word));
        *(uint32_t *)((char *)dst + left) = word;
    }
    if (left != 0) {
        do {
            left -= 8;
            msg_copy_two((char *)dst + left, (const char *)src + left);
        } while (left != 0);
    }
}

/* Copies at most MSG_SMALL bytes if they are whole words; otherwise returns false. The most common
 * message needs neither a loop nor, where registers have 64 bits, an aligned address. */
static inline __attribute__((always_inline)) bool msg_copy_plain(void *dst, const void *src,
                                                                 size_t bytes)
{
    if (sizeof(uintptr_t) == 8 && likely(bytes == 8)) {
        __builtin_memcpy(dst, src, 8);
        return true;
    }
    if ((((uintptr_t)dst | (uintptr_t)src | bytes) & 3) != 0) {
        return false;
    }
    msg_copy_words(dst, src, bytes);
    return true;
}

/* Finds the struct _msg_info that t's call requests: *found is NULL if it requests none. Returns
 * false if it can't be written directly: it is unaligned, or not near the receiver's buffer. */
static inline bool msg_info_find(const struct thread *t, uintptr_t info, struct _msg_info **found)
{
    *found = NULL;
    if (likely(info == 0)) {
        return true;
    }
    if ((info & 3) != 0 || !msg_cached(&t->in_cache, info, sizeof(struct _msg_info))) {
        return false;
    }
    *found = msg_cached_ptr(&t->in_cache, info);
    return true;
}
_Static_assert(sizeof(struct _msg_info) <= MSG_SMALL, "found in the user mapping cache");

/* Like memmove(), for at least one byte; one or two words need no call. */
static inline void msg_move(char *to, const char *from, size_t n)
{
    if (n > 8 || (((uintptr_t)to | (uintptr_t)from | n) & 3) != 0) {
        memmove(to, from, n);
        return;
    }
    uint32_t first = *(const uint32_t *)from, last = *(const uint32_t *)(from + n - 4);
    *(uint32_t *)to = first;
    *(uint32_t *)(to + n - 4) = last;
}

/* A contiguous part of a buffer, with its kernel pointer. */
struct msg_piece {
    char *at;
    size_t len;
};
#define MSG_PIECES 4 /* most pieces that are copied at once */
/* Copies at most `bytes`, at least one, in the order of the pieces, of which each side has one or
 * more. Returns the number copied: fewer if one side has less. */
long msg_pieces_copy(const struct msg_piece *to, const struct msg_piece *to_end,
                     const struct msg_piece *from, const struct msg_piece *from_end, size_t bytes);

/* Copies a few whole words of t's resolved buffer at addr to a kernel pointer (may be NULL).
 * Returns false, with nothing done, if the case isn't that simple. The caller guarantees that both
 * sides have the bytes. */
static inline bool msg_copy_small(void *dst, struct thread *t, uintptr_t addr, size_t bytes)
{
    if (bytes > MSG_SMALL || (((uintptr_t)dst | addr | bytes) & 3) != 0) {
        return false;
    }
    if (bytes == 0) {
        return true;
    }
    const void *src = dst ? msg_buffer_find(t, &t->out_cache, addr, bytes, KYMO_PROT_READ) : NULL;
    if (!src) {
        return false;
    }
    msg_copy_words(dst, src, bytes);
    return true;
}

/* The most parts with which a message is copied at once; the most pieces, contiguous on both sides,
 * between two preemption points. */
#define MSG_PARTS_AT_ONCE 4
#define MSG_SPANS_AT_ONCE 4

/* Returns whether the buffer has so many parts that it must be copied in pieces. */
static inline bool msg_many_parts(const struct thread *t, unsigned arg)
{
    return (long)t->args[arg + 1] > MSG_PARTS_AT_ONCE;
}

/*
 * Copies `bytes` (which both buffers have, from their offsets on) at once. Returns the number
 * copied, which is smaller only if the parts were changed meanwhile, or MSG_FAULT_*. The caller
 * limits bytes to a chunk, and excludes buffers of many parts.
 */
long msg_copy(struct thread *dst, unsigned dst_arg, size_t dst_offset, struct thread *src,
              unsigned src_arg, size_t src_offset, size_t bytes);

/*
 * Copies one piece of a transfer of `total` bytes made by `runner`'s call; runner->step is the
 * progress. Returns 0 when the transfer is complete, KER_AGAIN, or MSG_FAULT_*. The offsets are
 * those of the transfer's first byte.
 */
long msg_copy_piece(struct thread *runner, struct thread *dst, unsigned dst_arg, size_t dst_offset,
                    struct thread *src, unsigned src_arg, size_t src_offset, size_t total);

#endif
