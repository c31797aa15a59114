/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AArch64: traps in programs (kernel/arch/step.h). The trap is a BRK. An instruction that counts
 * from its own address, or branches, is emulated (isa/aarch64/step.h). Any other is executed in a
 * slot of its own, in a page that programs can execute and only the kernel can write: two words,
 * the instruction and a BRK. Meanwhile the program has all interrupts masked, which it can't
 * change. So a thread comes back from the slot by an exception of this one instruction, on this
 * CPU, before anything else: no thread is ever found in a slot, by an unwinder, a sample, or the
 * end of its probe. If the instruction itself faults, it has done so at its own address.
 */
#include "kernel/arch/step.h"
#include "isa/aarch64/step.h"
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/stack.h"

#define SPSR_MASKED 0x3c0ul /* debug, SError, IRQ, FIQ */
#define SLOT_WORDS 2
#define SLOT_BYTES (SLOT_WORDS * sizeof(uint32_t))
#define SLOTS (A64_STEP_SLOTS_BYTES / SLOT_BYTES)

static uintptr_t slot_from[SLOTS]; /* [k] original address of the instruction in the slot */

static uint32_t *slot_of(unsigned slot)
{
    return (uint32_t *)a64_step_slots + slot * SLOT_WORDS;
}

/* Returns the address at which programs execute the slot. */
static uintptr_t slot_address(unsigned slot)
{
    return (uintptr_t)slot_of(slot) + KERNEL_TEXT_ALIAS;
}

bool arch_step_able(const struct arch_step *step)
{
    return step->bytes == 4 && step->address % 4 == 0 &&
           a64_step_kind(step->insn) != A64_STEP_REFUSED;
}

unsigned arch_step_slots(void)
{
    return SLOTS;
}

void arch_step_prepare(const struct arch_step *step)
{
    kernel_assert(kernel_holds_lock() && step->slot < SLOTS);
    volatile uint32_t *slot = slot_of(step->slot);

    slot[0] = a64_step_kind(step->insn) == A64_STEP_MOVED ? step->insn : a64_step_brk(0);
    slot[1] = a64_step_brk(A64_STEP_END);
    slot_from[step->slot] = step->address;
    arch_text_sync((const void *)slot, SLOT_BYTES);
}

bool arch_step_is_there(const void *at, const struct arch_step *step, bool trap)
{
    const uint32_t insn = *(const volatile uint32_t *)at;

    return insn == (trap ? a64_step_brk(A64_STEP_BREAK) : step->insn);
}

void arch_step_write(void *at, const struct arch_step *step, bool trap)
{
    kernel_assert(kernel_holds_lock());
    *(volatile uint32_t *)at = trap ? a64_step_brk(A64_STEP_BREAK) : step->insn;
    __asm__ volatile("dc cvau, %0" ::"r"(at) : "memory");
}

uintptr_t arch_step_argument(const struct thread *t, unsigned n)
{
    return n < 8 ? a64_context(t)->x[n] : 0;
}

uintptr_t arch_step_result(const struct thread *t)
{
    return a64_context(t)->x[0];
}

static bool step_emulate(struct thread *self, const struct arch_step *step)
{
    struct arch_context *ctx = a64_context(self);
    unsigned bytes = 0;
    uint64_t literal = 0;
    const uint64_t at = a64_step_literal(step->insn, step->address, &bytes);

    if (at && !arch_peek(&literal, at, bytes, self)) {
        return false;
    }
    ctx->elr = a64_step_emulate(step->insn, step->address, ctx->x, ctx->spsr, literal);
    return true;
}

static void step_move(struct arch_context *ctx, const struct arch_step *step)
{
    ctx->elr = slot_address(step->slot);
    ctx->spsr |= SPSR_MASKED;
}

/* Leaves a slot after the instruction was executed or has faulted. */
static void step_leave(struct arch_context *ctx, bool done)
{
    ctx->elr = slot_from[(ctx->elr - slot_address(0)) / SLOT_BYTES % SLOTS] + (done ? 4 : 0);
    ctx->spsr &= ~SPSR_MASKED;
}

static struct thread *step_exit(struct thread *self)
{
    return kernel_work_pending(arch_cpu()) ? kernel_exit(self) : self;
}

struct thread *a64_step_break(struct thread *self, unsigned number)
{
    kernel_assert(a64_irq_masked());
    struct arch_context *ctx = a64_context(self);
    struct arch_step step;

    if (number == A64_STEP_END && (ctx->spsr & SPSR_MASKED)) {
        step_leave(ctx, true);
        return step_exit(self);
    }
    if (number != A64_STEP_BREAK || !kernel_user_probe(self, ctx->elr, &step)) {
        return NULL;
    }
    if (a64_step_kind(step.insn) == A64_STEP_MOVED) {
        step_move(ctx, &step);
        return self;
    }
    return step_emulate(self, &step) ? step_exit(self) : NULL;
}

uint32_t a64_step_insn(const struct thread *user, uintptr_t address, uint32_t insn)
{
    if (insn == a64_step_brk(A64_STEP_BREAK)) {
        kernel_user_displaced(user, address, &insn);
    }
    return insn;
}

void a64_step_faulted(struct thread *self)
{
    struct arch_context *ctx = a64_context(self);

    if (unlikely(ctx->spsr & SPSR_MASKED)) {
        step_leave(ctx, false);
    }
}
