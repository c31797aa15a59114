/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: changing the running thread's FP registers. Kernel lock held, from the scheduler through
 * arch_switch() (ops.h), which does the rest.
 *
 * FP: a thread that has used it has an extended frame (EXC_RETURN bit 4 clear) whose upper part is
 * written lazily, by the first FP instruction of the kernel, to the thread's own stack: it must
 * happen here, while its regions are loaded. What remains in the registers is cleared if the next
 * thread does not reload them, so that no process sees another's.
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/armv7m/scb.h"

struct armv7m_port armv7m_port;

static const uint32_t zeros[32];

/* A FP instruction in the kernel marks the kernel as a user of FP: interrupts would stack
 * it all. */
static void kernel_without_fp(void)
{
    uint32_t control;
    __asm__ volatile("mrs %0, control\n\tbic %0, #4\n\tmsr control, %0\n\tisb" : "=r"(control));
}

/* Lazy stacking that failed has pended a fault if it could not be taken: it is this thread's. */
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

/* The thread ends: its lazy FP frame must not be written into memory that is no longer its own. */
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
