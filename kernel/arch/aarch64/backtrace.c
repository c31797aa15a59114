/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AArch64: the CPU-specific part of kernel/observe/unwind.c: a thread's first frame, and the test
 * for a return address. Only samples interrupt the kernel, and they fire no probe, so the kernel's
 * stack holds no exception frame. Any context, interrupts masked.
 */
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/stack.h"

extern const char __kernel_start[], __text_end[];

bool arch_user_frame(const struct thread *t, struct unwind_frame *f)
{
    kernel_assert(a64_irq_masked());
    const struct arch_context *ctx = a64_context(t);

    f->pc = ctx->elr;
    f->sp = ctx->sp;
    f->fp = ctx->x[29];
    f->lr = ctx->x[30];
    f->live = true;
    return true;
}

bool arch_exception_frame(struct unwind_frame *f)
{
    (void)f;
    return false;
}

/* x0 and x30 are at the start of the words that the slot pushed. */
bool arch_probe_frame(struct unwind_frame *f, uintptr_t site, unsigned offset)
{
    uintptr_t pushed[2];

    (void)offset;
    if (!arch_peek(pushed, f->sp, sizeof(pushed), NULL)) {
        return false;
    }
    f->pc = site;
    f->lr = pushed[1];
    f->sp += A64_PROBE_FRAME;
    f->live = true;
    return true;
}

/* Accepts a word if the instruction before it is BL or BLR. */
bool arch_return_address(uintptr_t *word, const struct thread *user)
{
    uint32_t insn;
    bool inside = user || (*word > (uintptr_t)__kernel_start && *word <= (uintptr_t)__text_end);

    if (!inside || (*word & 3) || *word < sizeof(insn) ||
        !arch_peek(&insn, *word - sizeof(insn), sizeof(insn), user)) {
        return false;
    }
    insn = user ? a64_step_insn(user, *word - sizeof(insn), insn) : insn;
    return (insn & 0xfc000000) == 0x94000000 || (insn & 0xfffffc1f) == 0xd63f0000;
}
