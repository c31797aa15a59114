/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs of the 64-bit CPUs with an MMU run where they were linked, and an exception leaves their
 * stacks alone. See kernel/arch/elf.h and stack.h.
 */
#include "kernel/arch/elf.h"
#include "kernel/arch/stack.h"

#define ELFCLASS64 2

uint8_t arch_elf_class(void)
{
    return ELFCLASS64;
}

bool arch_elf_relocates(void)
{
    return false;
}

int arch_elf_reloc_kind(unsigned r_type)
{
    (void)r_type;
    return 0;
}

/* An exception stores nothing on the program's stack, so no frame is ever lost. */
bool arch_backtrace_lost(const struct thread *t, unsigned *at, uintptr_t *to, unsigned *n,
                         unsigned max)
{
    (void)t;
    (void)at;
    (void)to;
    (void)n;
    (void)max;
    return false;
}
