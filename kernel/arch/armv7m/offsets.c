/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Offsets and sizes of structs that the assembler of this port uses. Compiled to assembler only:
 * scripts/board.mk makes the lines "->NAME value" the port's offsets.h (ARCH_OFFSETS_H), which the
 * .S files include. Not linked into the kernel. The assembler's assumptions about the structs'
 * order are asserted below.
 */
#include "kernel/arch/armv7m/private.h"

#define OFFSET(name, value) __asm__ volatile(".ascii \"->" #name " %c0\"" ::"i"(value))
#define CONTEXT(member) offsetof(struct arch_context, member)

/* CTX_RESULT: result and error, followed by the words that the entry saves: kind, psp, r4-r11,
 * exc_return. */
_Static_assert(CONTEXT(error) == CONTEXT(result) + 4 && CONTEXT(kind) == CONTEXT(error) + 4,
               "entry.S");
_Static_assert(CONTEXT(psp) == CONTEXT(kind) + 4 && CONTEXT(r4_r11) == CONTEXT(psp) + 4 &&
                   CONTEXT(exc_return) == CONTEXT(r4_r11) + 32 &&
                   sizeof(struct arch_context) == CONTEXT(exc_return) + 4,
               "entry.S");

void arch_offsets(void);
void arch_offsets(void)
{
    OFFSET(CTX_RESULT, CONTEXT(result));
    OFFSET(CTX_SAVED, CONTEXT(kind));
    OFFSET(CTX_BYTES, sizeof(struct arch_context));
    OFFSET(FRAME_PC, offsetof(struct frame, pc));
    OFFSET(FRAME_BYTES, sizeof(struct frame)); /* r0-r3, r12, lr, pc, xPSR */
    OFFSET(PORT_IDLE, offsetof(struct armv7m_port, idle));
}
