/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks by the unwind tables (abi/unwind.h): each caller is exact, or the stack ends. Any
 * context, no lock; bounded by `max` frames and by the rows of a table. See unwind.c.
 */
#ifndef KERNEL_OBSERVE_UNWIND_H
#define KERNEL_OBSERVE_UNWIND_H

#include "kernel/arch/arch.h"

struct elf_image;
struct program;

/* What stack() of a thread calls for each return address, innermost first. */
typedef void (*unwind_found)(uintptr_t ip, void *arg);

/* Callers of where the thread is, at most max. It is this CPU's, or it has faulted here. */
void unwind_user(const struct thread *t, unsigned max, unwind_found found, void *arg);
/* Return addresses on this CPU's kernel stack, innermost first: of the frames that end above
 * `above`, at most max. Begins at `from`, or with NULL at the caller. Returns how many. */
unsigned unwind_kernel(const struct unwind_frame *from, uintptr_t above, uintptr_t *to,
                       unsigned max);

/* Words that were on a kernel stack from address `at` on. */
struct unwind_copy {
    const uintptr_t *words;
    uintptr_t at;
    unsigned count;
};
/* The same of a kernel stack as it was. It ends at an interrupt that has interrupted the kernel,
 * and at a function probe. */
unsigned unwind_kernel_copy(const struct unwind_frame *from, const struct unwind_copy *copy,
                            uintptr_t *to, unsigned max);

#endif
