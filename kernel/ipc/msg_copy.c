/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks and copies the message buffers of processes: the general forms behind msg_copy.h.
 *
 * Called with the kernel lock held. Errors: buffers that are not the process's memory
 * (MSG_FAULT_*), more than KYMO_IOV_MAX parts or more than MSG_BYTES_MAX bytes (-EOVERFLOW). Tested
 * by test/kernel (copies against a byte-wise model, random and hostile parts).
 */
#include "abi/errno.h"
#include "kernel/arch/irq.h"
#include "kernel/base/cpu.h"
#include "kernel/ipc/msg_copy.h"
#include "kernel/base/string.h"
#include "kernel/base/visible.h"

#define WORD_MASK (sizeof(uintptr_t) - 1)

/* Returns the array of parts as a kernel pointer, or NULL. It must be aligned, like any array in
 * C. */
static const iov_t *parts_of(const struct thread *t, unsigned arg)
{
    uintptr_t base = t->args[arg], parts = t->args[arg + 1];
    if (base & WORD_MASK) {
        return NULL;
    }
    return vm_user_ptr(t->proc, base, (size_t)parts * sizeof(iov_t), KYMO_PROT_READ);
}

/* Returns a kernel pointer to these bytes, at least one, of t if they are in one mapping, which the
 * cache then covers; otherwise NULL. */
static inline void *msg_span(struct thread *t, struct vm_cache *w, uintptr_t addr, size_t bytes,
                             unsigned prot)
{
    if (likely(msg_cached_all(w, addr, bytes))) {
        return msg_cached_ptr(w, addr);
    }
    return vm_cache_fill(w, t->proc, addr, bytes, prot);
}

/* Likewise for the array of parts, 1 to KYMO_IOV_MAX. */
static inline const volatile iov_t *parts_span(struct thread *t, unsigned arg)
{
    uintptr_t base = t->args[arg], bytes = t->args[arg + 1] * sizeof(iov_t);

    return base & WORD_MASK ? NULL : msg_span(t, &t->iov_cache, base, bytes, KYMO_PROT_READ);
}

/* Resolves several parts, or one part that its cache doesn't cover; the cache covers it
 * afterwards. */
long msg_resolve_slow(struct thread *t, unsigned arg, uintptr_t *addr)
{
    kernel_assert(kernel_locked());
    *addr = MSG_NOWHERE;
    if (t->args[arg + 1] > 1) {
        return msg_length_parts(t, arg);
    }
    const volatile iov_t *iov = parts_of(t, arg);
    if (!iov) {
        return -EFAULT;
    }
    vm_cache_fill(&t->iov_cache, t->proc, t->args[arg], sizeof(iov_t), KYMO_PROT_READ);
    uintptr_t base = (uintptr_t)iov->iov_base;
    size_t bytes = iov->iov_len;
    *addr = base;
    t->args[arg] = base;
    t->args[arg + 1] = (uintptr_t)0 - bytes;
    return bytes <= MSG_BYTES_MAX ? (long)bytes : -EOVERFLOW;
}

long msg_length_parts(struct thread *t, unsigned arg)
{
    uintptr_t parts = t->args[arg + 1];
    if (parts > KYMO_IOV_MAX) {
        return -EOVERFLOW;
    }
    const volatile iov_t *iov = parts_span(t, arg);
    if (unlikely(!iov)) {
        iov = parts_of(t, arg);
    }
    if (!iov) {
        return -EFAULT;
    }
    size_t sum = 0;
    for (uintptr_t i = 0; i < parts; i++) {
        size_t len = iov[i].iov_len;
        if (len > MSG_BYTES_MAX - sum) {
            return -EOVERFLOW;
        }
        sum += len;
    }
    return (long)sum;
}

/* Makes the next nonempty part the current one. Returns false at the end. */
static bool next_part(struct msg_cursor *c)
{
    while (c->left == 0) {
        if (c->parts == 0) {
            return false;
        }
        const volatile iov_t *iov = c->next;
        c->addr = (uintptr_t)iov->iov_base;
        c->left = iov->iov_len;
        c->next++;
        c->parts--;
    }
    return true;
}

/* With up to KYMO_IOV_MAX parts before the position, this takes most of a piece's time. */
static void msg_copy_skip(struct msg_cursor *c, size_t bytes)
{
    const volatile iov_t *iov = c->next, *end = iov + c->parts;
    uintptr_t addr = c->addr;
    size_t left = c->left;

    while (bytes >= left && iov < end) {
        bytes -= left;
        addr = (uintptr_t)iov->iov_base;
        left = iov->iov_len;
        iov++;
    }
    size_t n = bytes < left ? bytes : left;
    c->addr = addr + n;
    c->left = left - n;
    c->parts = (unsigned)(end - iov);
    c->next = (const iov_t *)iov;
}

int msg_cursor_open(struct msg_cursor *c, const struct thread *t, unsigned arg, size_t offset,
                    unsigned prot)
{
    long parts = (long)t->args[arg + 1];
    *c = (struct msg_cursor){.proc = t->proc, .prot = prot};
    if (parts < 0) {
        c->addr = t->args[arg];
        c->left = (size_t)0 - (size_t)parts;
    } else if (parts > 0) {
        c->next = parts <= KYMO_IOV_MAX ? parts_of(t, arg) : NULL;
        c->parts = (unsigned)parts;
        if (!c->next) {
            return -EFAULT;
        }
    }
    msg_copy_skip(c, offset);
    return 0;
}

/*
 * Returns a kernel pointer to the cursor's next bytes, at most *len, which is reduced to the
 * contiguous length. Returns NULL with *len 0 at the end of the buffer, otherwise for a fault.
 */
static char *cursor_span(struct msg_cursor *c, size_t *len)
{
    if (!next_part(c)) {
        *len = 0;
        return NULL;
    }
    size_t want = *len < c->left ? *len : c->left;
    *len = want;
    char *p = vm_user_span(c->proc, c->addr, len, c->prot);
    if (!p) {
        *len = want; /* not 0, which would mean the end */
    }
    return p;
}

static void cursor_move(struct msg_cursor *c, size_t bytes)
{
    c->addr += bytes;
    c->left -= bytes;
}

long msg_cursor_copy(struct msg_cursor *dst, struct msg_cursor *src, size_t max, unsigned spans)
{
    size_t done = 0;
    while (done < max && spans-- > 0) {
        size_t n = max - done;
        const char *from = cursor_span(src, &n);
        if (!from) {
            return n == 0 ? (long)done : MSG_FAULT_SRC;
        }
        char *to = cursor_span(dst, &n);
        if (!to) {
            return n == 0 ? (long)done : MSG_FAULT_DST;
        }
        memmove(to, from, n);
        arch_irq_window(); /* the lock is kept: the two address spaces can't change */
        cursor_move(src, n);
        cursor_move(dst, n);
        done += n;
    }
    return (long)done;
}

/* ---- buffers of a few parts, each in the mapping that the thread's cache knows ----- */

/* Resolves a thread's buffer to pieces of kernel memory. Returns their number, or 0 if the case
 * isn't that simple; the parts may be anything then. Each iov_t is read once. */
static unsigned msg_pieces(struct thread *t, unsigned arg, struct vm_cache *w, unsigned prot,
                           struct msg_piece *pieces)
{
    long parts = (long)t->args[arg + 1];

    if (parts < 0) {
        size_t len = (size_t)0 - (size_t)parts;
        *pieces = (struct msg_piece){msg_span(t, w, t->args[arg], len, prot), len};
        return pieces->at != NULL;
    }
    const volatile iov_t *iov = parts > 0 && parts <= MSG_PIECES ? parts_span(t, arg) : NULL;
    if (!iov) {
        return 0;
    }
    for (long i = 0; i < parts; i++) {
        size_t len = iov[i].iov_len;
        void *at = len > 0 ? msg_span(t, w, (uintptr_t)iov[i].iov_base, len, prot) : NULL;
        if (!at && len > 0) {
            return 0;
        }
        pieces[i] = (struct msg_piece){at, len};
    }
    return (unsigned)parts;
}

long msg_pieces_copy(const struct msg_piece *to, const struct msg_piece *to_end,
                     const struct msg_piece *from, const struct msg_piece *from_end, size_t bytes)
{
    char *dst = to->at;
    const char *src = from->at;
    size_t room = to->len, have = from->len, left = bytes;

    for (;;) {
        size_t n = have < room ? have : room;
        n = n < left ? n : left;
        if (n > 0) {
            msg_move(dst, src, n);
        }
        left -= n;
        if (left == 0) {
            break;
        }
        dst += n;
        room -= n;
        if (room == 0) {
            if (++to == to_end) {
                break; /* shorter than when its length was taken */
            }
            dst = to->at;
            room = to->len;
        }
        src += n;
        have -= n;
        if (have == 0) {
            if (++from == from_end) {
                break;
            }
            src = from->at;
            have = from->len;
        }
    }
    return (long)(bytes - left);
}

/* Copies between buffers of which at least one has parts. Returns 0, with nothing done, if the case
 * isn't that simple. */
static long msg_copy_pieces(struct thread *dst, unsigned dst_arg, struct thread *src,
                            unsigned src_arg, size_t bytes)
{
    struct msg_piece to[MSG_PIECES], from[MSG_PIECES];
    unsigned sources = msg_pieces(src, src_arg, &src->out_cache, KYMO_PROT_READ, from);

    if (sources == 0) {
        return 0;
    }
    unsigned targets = msg_pieces(dst, dst_arg, &dst->in_cache, KYMO_PROT_WRITE, to);
    if (targets == 0) {
        return 0;
    }
    return msg_pieces_copy(to, to + targets, from, from + sources, bytes);
}

/* Like msg_copy(), if one of the buffers is not one piece of memory. */
static __attribute__((noinline)) long copy_parts(const struct thread *dst, unsigned dst_arg,
                                                 size_t dst_offset, const struct thread *src,
                                                 unsigned src_arg, size_t src_offset, size_t bytes,
                                                 unsigned spans)
{
    struct msg_cursor to, from;
    if (msg_cursor_open(&from, src, src_arg, src_offset, KYMO_PROT_READ) != 0) {
        return MSG_FAULT_SRC;
    }
    if (msg_cursor_open(&to, dst, dst_arg, dst_offset, KYMO_PROT_WRITE) != 0) {
        return MSG_FAULT_DST;
    }
    return msg_cursor_copy(&to, &from, bytes, spans);
}

FBT_VISIBLE long msg_copy(struct thread *dst, unsigned dst_arg, size_t dst_offset,
                          struct thread *src, unsigned src_arg, size_t src_offset, size_t bytes)
{
    kernel_assert(kernel_locked());
    if (bytes == 0) {
        return 0;
    }
    if ((long)(dst->args[dst_arg + 1] & src->args[src_arg + 1]) < 0) {
        const void *from =
            msg_span(src, &src->out_cache, src->args[src_arg] + src_offset, bytes, KYMO_PROT_READ);
        void *to =
            msg_span(dst, &dst->in_cache, dst->args[dst_arg] + dst_offset, bytes, KYMO_PROT_WRITE);
        if (likely(from && to)) {
            memmove(to, from, bytes);
            return (long)bytes;
        }
    } else if ((src_offset | dst_offset) == 0) {
        long done = msg_copy_pieces(dst, dst_arg, src, src_arg, bytes);
        if (likely(done > 0)) {
            return done;
        }
    }
    return copy_parts(dst, dst_arg, dst_offset, src, src_arg, src_offset, bytes, UINT32_MAX);
}

long msg_copy_piece(struct thread *runner, struct thread *dst, unsigned dst_arg, size_t dst_offset,
                    struct thread *src, unsigned src_arg, size_t src_offset, size_t total)
{
    kernel_assert(kernel_locked());
    size_t piece = total > runner->step ? total - runner->step : 0; /* parts may have changed */
    if (piece > CONFIG_COPY_CHUNK) {
        piece = CONFIG_COPY_CHUNK;
    }
    dst_offset += runner->step;
    src_offset += runner->step;
    long n;
    if (piece > 0 && (msg_many_parts(dst, dst_arg) || msg_many_parts(src, src_arg))) {
        n = copy_parts(dst, dst_arg, dst_offset, src, src_arg, src_offset, piece,
                       MSG_SPANS_AT_ONCE);
    } else {
        n = msg_copy(dst, dst_arg, dst_offset, src, src_arg, src_offset, piece);
    }
    if (n < 0) {
        return n;
    }
    runner->step += (uint32_t)n;
    return runner->step < total && n > 0 ? KER_AGAIN : 0; /* 0: parts have become shorter */
}

long msg_put(const struct thread *dst, unsigned arg, const void *from, size_t bytes)
{
    kernel_assert(kernel_locked());
    struct msg_cursor to;
    if (msg_cursor_open(&to, dst, arg, 0, KYMO_PROT_WRITE) != 0) {
        return MSG_FAULT_DST;
    }
    size_t done = 0;
    while (done < bytes) {
        size_t n = bytes - done;
        char *p = cursor_span(&to, &n);
        if (!p) {
            return n == 0 ? (long)done : MSG_FAULT_DST;
        }
        memmove(p, (const char *)from + done, n);
        cursor_move(&to, n);
        done += n;
    }
    return (long)done;
}
