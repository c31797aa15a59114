/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86-64: the CPU-specific part of kernel/observe/unwind.c: a thread's first frame, the test for a
 * return address, and the frames of interrupts and function probes on the kernel's stack (entry.S).
 * Any context, interrupts masked.
 */
#include "kernel/arch/assert.h"
#include "kernel/arch/stack.h"
#include "kernel/arch/x86_64/port.h"

extern const char __kernel_start[], __text_end[];

/* There is no link register: the caller of this frame is on the stack. */
bool arch_user_frame(const struct thread *t, struct unwind_frame *f)
{
    kernel_assert(x86_irq_masked());
    const struct arch_context *ctx = x86_context(t);

    *f = (struct unwind_frame){.pc = ctx->rip, .sp = ctx->r[RSP], .fp = ctx->r[RBP], .live = true};
    return true;
}

/* An interrupt in one of the kernel's windows, or a probe's breakpoint: rbp is the address of the
 * registers that were pushed. */
bool arch_exception_frame(struct unwind_frame *f)
{
    const bool probe = f->pc == (uintptr_t)x86_breakpoint_back;
    uintptr_t pushed[X86_FRAME_RSP + 1];

    if (!probe && f->pc != (uintptr_t)x86_irq_back) {
        return false;
    }
    f->live = f->fp >= f->sp && f->fp % sizeof(*pushed) == 0 &&
              arch_peek(pushed, f->fp, sizeof(pushed), NULL);
    if (f->live) {
        f->pc = pushed[X86_FRAME_RIP] - probe; /* the CPU points after the breakpoint */
        f->sp = pushed[X86_FRAME_RSP];
        f->fp = pushed[0];
        f->at_probe = probe;
    }
    return true;
}

/* Slots don't call functions. */
bool arch_probe_frame(struct unwind_frame *f, uintptr_t site, unsigned offset)
{
    (void)f;
    (void)site;
    (void)offset;
    return false;
}

/* Accepts a word if the instruction before it is a CALL: E8 with four bytes, or FF /2 of the usual
 * lengths. */
bool arch_return_address(uintptr_t *word, const struct thread *user)
{
    bool inside = user || (*word > (uintptr_t)__kernel_start && *word <= (uintptr_t)__text_end);
    uint8_t before[7];

    if (!inside || *word < sizeof(before) ||
        !arch_peek(before, *word - sizeof(before), sizeof(before), user)) {
        return false;
    }
    for (unsigned at = 0; at < 6 && user; at++) {
        before[at] = x86_step_byte(user, *word - sizeof(before) + at, before[at]);
    }
    if (before[2] == 0xe8) {
        return true;
    }
    for (unsigned at = 0; at < 6; at++) {
        if (before[at] == 0xff && (before[at + 1] & 0x38) == 0x10) {
            return true;
        }
    }
    return false;
}
