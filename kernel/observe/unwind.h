/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stack traces by the unwind tables (abi/unwind.h): each caller is exact, or the trace ends. Any
 * context, no lock; bounded by `max` frames and by a table's number of entries. See unwind.c.
 */
#ifndef KERNEL_OBSERVE_UNWIND_H
#define KERNEL_OBSERVE_UNWIND_H

#include "kernel/arch/stack.h"

struct elf_image;
struct program;

/* Called for each return address of a thread's stack, innermost first. */
typedef void (*unwind_found)(uintptr_t ip, void *arg);

/* Reports the callers of a thread's current function, at most max. Precondition: t runs on this CPU
 * or has faulted here. */
void unwind_user(const struct thread *t, unsigned max, unwind_found found, void *arg);
/* Stores return addresses on this CPU's kernel stack, innermost first: of the frames that end above
 * `above`, at most max. Starts at `from`, or with NULL at the caller. Returns their number. */
unsigned unwind_kernel(const struct unwind_frame *from, uintptr_t above, uintptr_t *to,
                       unsigned max);

/* A copy of the words of a kernel stack from address `at` on. */
struct unwind_copy {
    const uintptr_t *words;
    uintptr_t at;
    unsigned count;
};
/* Like unwind_kernel(), on a copy of a kernel stack. Ends at an interrupt of the kernel, and at a
 * function probe. */
unsigned unwind_kernel_copy(const struct unwind_frame *from, const struct unwind_copy *copy,
                            uintptr_t *to, unsigned max);

#endif
