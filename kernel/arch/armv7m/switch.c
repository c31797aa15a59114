/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: switches the running thread's FP registers. Kernel lock held, from the scheduler through
 * arch_switch() (ops.h), which switches everything else.
 *
 * A thread that has used FP has an extended frame (EXC_RETURN bit 4 clear). The CPU writes its
 * upper part lazily, at the kernel's first FP instruction, to the thread's own stack: this must
 * happen in this function, while the thread's regions are loaded. Registers that the next thread
 * does not reload are cleared, so that no process sees another's.
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/armv7m/scb.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/cpu.h"

struct armv7m_port armv7m_port;

static const uint32_t zeros[32];

/* Clears the flag that an FP instruction set for the kernel: otherwise interrupts would stack FP
 * registers. */
static void kernel_without_fp(void)
{
    uint32_t control;
    __asm__ volatile("mrs %0, control\n\tbic %0, #4\n\tmsr control, %0\n\tisb" : "=r"(control));
}

/* If lazy stacking failed and could not be taken as a fault, it is pended: the fault is this
 * thread's. */
static void fp_save(struct arch_context *ctx)
{
    bool failed = armv7m_fp_save(ctx->fp);
    if (failed || (CFSR & (CFSR_MLSPERR | CFSR_LSPERR))) {
        ctx->kind = CTX_KIND_BAD_FRAME;
        FPCCR &= ~FPCCR_LSPACT;
        CFSR = CFSR_MLSPERR | CFSR_LSPERR;
        SHCSR &= ~(SHCSR_MEMFAULTPENDED | SHCSR_BUSFAULTPENDED);
    }
}

void armv7m_fp_switch(struct arch_context *prev, struct arch_context *next)
{
    kernel_assert(kernel_holds_lock());
    if (!armv7m_no_fp(prev)) {
        fp_save(prev);
    }
    if (!armv7m_no_fp(next)) {
        armv7m_fp_load(next->fp);
    } else {
        armv7m_fp_clear(zeros);
    }
    kernel_without_fp();
}

/* Called when the thread ends: its lazy FP frame must not be written into memory that is no longer
 * its own. */
void arch_context_drop(struct thread *t)
{
    struct arch_context *ctx = context_of(t);
    if (!armv7m_no_fp(ctx) && armv7m_port.saved == &ctx->kind) {
        FPCCR &= ~FPCCR_LSPACT;
        armv7m_fp_clear(zeros);
        kernel_without_fp();
    }
    ctx->exc_return |= EXC_RETURN_NO_FP;
}
