/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Offsets and sizes of structs that the assembler of this port uses. Compiled to assembler only:
 * scripts/board.mk makes the lines "->NAME value" the port's offsets.h (ARCH_OFFSETS_H), which the
 * .S files include. Not linked into the kernel.
 */
#include "kernel/arch/x86_64/port.h"

#define OFFSET(name, value) __asm__ volatile(".ascii \"->" #name " %c0\"" ::"i"(value))
#define CONTEXT(member) offsetof(struct arch_context, member)

#define KERCALL(number, NAME, ...) CALL_##NAME = (number),
enum {
#include "abi/kercalls.def"
};
#undef KERCALL
_Static_assert((int)CALL_MSG_SENDV == X86_CALL_SEND && (int)CALL_MSG_RECEIVEV == X86_CALL_RECEIVE &&
                   (int)CALL_MSG_REPLYV == X86_CALL_REPLY,
               "shared.h");

void arch_offsets(void);
void arch_offsets(void)
{
    OFFSET(CTX_R0, CONTEXT(r));
    OFFSET(CTX_RIP, CONTEXT(rip));
    OFFSET(CTX_RFLAGS, CONTEXT(rflags));
    OFFSET(CTX_KIND, CONTEXT(kind));
    /* struct thread: the context is first, the arguments of a kernel call follow it; asserted in
     * kernel/observe/port.c */
    OFFSET(THREAD_ARGS, sizeof(struct arch_context));
    OFFSET(CPU_THREAD, offsetof(struct x86_cpu, thread));
    OFFSET(CPU_STACK, offsetof(struct x86_cpu, stack_top));
    OFFSET(CPU_SCRATCH, offsetof(struct x86_cpu, scratch));
    OFFSET(STARTING_STACK, offsetof(struct x86_starting, stack));
    OFFSET(STARTING_NUMBER, offsetof(struct x86_starting, number));
    OFFSET(PANIC_FRAME, sizeof(struct x86_panic_frame));
}
