/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Offsets and sizes of structs that the assembler of this port uses. Compiled to assembler only:
 * scripts/board.mk makes the lines "->NAME value" the port's offsets.h (ARCH_OFFSETS_H), which the
 * .S files include. Not linked into the kernel. The assembler's assumptions about the structs'
 * order are asserted below.
 */
#include "kernel/arch/aarch64/port.h"

#define OFFSET(name, value) __asm__ volatile(".ascii \"->" #name " %c0\"" ::"i"(value))
#define CONTEXT(member) offsetof(struct arch_context, member)

/* vectors.S stores and loads these in pairs. */
_Static_assert(CONTEXT(sp) == CONTEXT(x[30]) + 8 && CONTEXT(kind) == CONTEXT(sp) + 8, "vectors.S");
_Static_assert(CONTEXT(spsr) == CONTEXT(elr) + 8, "vectors.S");

void arch_offsets(void);
void arch_offsets(void)
{
    OFFSET(CTX_X0, CONTEXT(x));
    OFFSET(CTX_SP, CONTEXT(sp));
    OFFSET(CTX_ELR, CONTEXT(elr));
    OFFSET(CTX_SPSR, CONTEXT(spsr));
    OFFSET(CTX_FP, CONTEXT(fp));
    OFFSET(CTX_FPSR, CONTEXT(fpsr));
    OFFSET(CTX_FPCR, CONTEXT(fpcr));
    /* struct thread: the context is first, the arguments of a kernel call follow it; asserted in
     * kernel/observe/port.c */
    OFFSET(THREAD_ARGS, sizeof(struct arch_context));
    OFFSET(FATAL_SIZE, sizeof(struct a64_fatal_frame));
}
