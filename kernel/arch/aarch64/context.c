/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contexts of threads that are not running: creation, changes, release and display. Kernel lock
 * held.
 */
#include "abi/errno.h"
#include "abi/sys/kymo.h"
#include "abi/sys/panic.h"
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

void arch_context_init_kernel(struct thread *t)
{
    *a64_context(t) = (struct arch_context){.kind = CTX_KIND_FULL, .ttbr0 = a64_empty_ttbr0};
}

void arch_context_redirect(struct thread *t, uintptr_t func)
{
    kernel_assert(kernel_holds_lock());
    struct arch_context *ctx = a64_context(t);

    ctx->elr = func;
    ctx->sp &= ~15ul;
}

/* LibWord() is for CPUs without a TLS register: on this one the program writes TPIDR_EL0 itself. */
void arch_context_set_tls(struct thread *t, uintptr_t tls)
{
    (void)t;
    (void)tls;
}

/* There are no ports: devices are in memory. */
void arch_context_allow_ports(struct thread *t)
{
    (void)t;
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

/* A call's context does not hold x0 to x18. */
uintptr_t arch_context_registers(const struct thread *t, uintptr_t *registers)
{
    const struct arch_context *ctx = a64_context(t);
    uint64_t known = (1ull << (KYMO_PANIC_AARCH64_psr + 1)) - 1;

    for (unsigned i = 0; i < 31; i++) {
        registers[KYMO_PANIC_AARCH64_x0 + i] = ctx->x[i];
    }
    registers[KYMO_PANIC_AARCH64_sp] = ctx->sp;
    registers[KYMO_PANIC_AARCH64_pc] = ctx->elr;
    registers[KYMO_PANIC_AARCH64_psr] = ctx->spsr;
    return ctx->kind == CTX_KIND_FULL ? known : known & ~(0x7ffffull << KYMO_PANIC_AARCH64_x0);
}
