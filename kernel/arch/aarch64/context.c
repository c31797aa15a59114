/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contexts of threads that are not running: made, changed, dropped and shown. Kernel lock held.
 */
#include "abi/errno.h"
#include "abi/sys/kymo.h"
#include "kernel/arch/aarch64/port.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/panic.h"

int arch_context_init(struct thread *t, uintptr_t func, uintptr_t arg, uintptr_t stack_low,
                      uintptr_t stack_high, uintptr_t ret, uintptr_t tls)
{
    kernel_assert(kernel_holds_lock());
    struct arch_context *ctx = a64_context(t);
    uintptr_t sp = stack_high & ~15ul;

    if (sp < stack_low || sp - stack_low < 16 ||
        !kernel_user_ptr(t, sp - 16, 16, KYMO_PROT_READ | KYMO_PROT_WRITE)) {
        return -EFAULT;
    }
    /* clears also the FP registers of the slot's previous thread */
    *ctx = (struct arch_context){0};
    ctx->kind = CTX_KIND_FULL;
    ctx->x[0] = arg;
    ctx->x[30] = ret;
    ctx->sp = sp;
    ctx->elr = func;
    ctx->spsr = SPSR_EL0;
    ctx->tls = tls;
    ctx->ttbr0 = a64_aspace(t)->ttbr0;
    return 0;
}

void arch_context_redirect(struct thread *t, uintptr_t func)
{
    kernel_assert(kernel_holds_lock());
    struct arch_context *ctx = a64_context(t);

    ctx->elr = func;
    ctx->sp &= ~15ul;
}

/* LibWord() is for CPUs without a TLS register: here the program writes TPIDR_EL0 itself. */
void arch_context_set_tls(struct thread *t, uintptr_t tls)
{
    (void)t;
    (void)tls;
}

uintptr_t arch_context_ip(const struct thread *t)
{
    return a64_context(t)->elr;
}

uintptr_t arch_context_sp(const struct thread *t)
{
    return a64_context(t)->sp;
}

/* FP registers are live only on the CPU that runs the thread, and only that CPU ends it. */
void arch_context_drop(struct thread *t)
{
    kernel_assert(kernel_holds_lock());
    struct arch_context *ctx = a64_context(t);

    if (ctx->fp_live) {
        ctx->fp_live = 0;
        a64_fp_trap();
    }
}

/* Registers that the context does not hold are not shown. */
void arch_context_print(const struct thread *t, int (*print)(const char *fmt, ...))
{
    const struct arch_context *ctx = a64_context(t);
    bool full = ctx->kind == CTX_KIND_FULL;
    unsigned column = 0;

    for (unsigned i = 0; i < 31; i++) {
        if (!full && i > 1 && i < 19) {
            continue;
        }
        print("  x%u%s %p%s", i, i < 10 ? " " : "", (void *)ctx->x[i],
              ++column % 4 == 0 ? "\n" : "");
    }
    print("%s  sp  %p  pc  %p  psr %x\n", column % 4 ? "\n" : "", (void *)ctx->sp, (void *)ctx->elr,
          (unsigned)ctx->spsr);
}
