/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contexts of threads that are not running: creation, changes, release and display. Kernel lock
 * held.
 */
#include "abi/errno.h"
#include "abi/sys/kymo.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/x86_64/port.h"

#define FP_CONTROL 0x37f /* all x87 exceptions masked, extended precision */
#define FP_MXCSR 24      /* FXSAVE's offset of it */
#define MXCSR 0x1f80     /* all SSE exceptions masked */
#define CANONICAL_END (1ul << 47)
#define NOWHERE (1ul << 46) /* canonical, above all addresses that a program can map */

/* IRET and SYSRET to a non-canonical address would fault in the kernel; so a program that requests
 * one jumps to another address that it can't have. */
static uint64_t x86_canonical_address(uintptr_t func)
{
    return func < CANONICAL_END ? func : NOWHERE | (func & (NOWHERE - 1));
}

int arch_context_init(struct thread *t, uintptr_t func, uintptr_t arg, uintptr_t stack_low,
                      uintptr_t stack_high, uintptr_t ret, uintptr_t tls)
{
    kernel_assert(kernel_holds_lock());
    struct arch_context *ctx = x86_context(t);
    uintptr_t sp = (stack_high & ~15ul) - 8; /* as a call leaves it, with the return address */
    uint64_t *word;

    if (stack_high < 24 || sp < stack_low || sp - stack_low < 8 ||
        (word = kernel_user_ptr(t, sp, 8, KYMO_PROT_READ | KYMO_PROT_WRITE)) == NULL) {
        return -EFAULT;
    }
    *word = ret;
    *ctx = (struct arch_context){
        .kind = CTX_KIND_FULL,
        .rip = x86_canonical_address(func),
        .rflags = RFLAGS_USER,
        .cr3 = x86_aspace(t)->cr3,
        .tls = x86_canonical_address(tls),
        .iomap = X86_PORTS_NONE,
    };
    ctx->r[RDI] = arg;
    ctx->r[RSP] = sp;
    *(uint16_t *)(void *)ctx->fp = FP_CONTROL;
    *(uint32_t *)(void *)(ctx->fp + FP_MXCSR) = MXCSR;
    return 0;
}

void arch_context_init_kernel(struct thread *t)
{
    struct arch_context *ctx = x86_context(t);

    *ctx = (struct arch_context){
        .kind = CTX_KIND_FULL, .cr3 = x86_kernel_cr3, .iomap = X86_PORTS_NONE};
    *(uint32_t *)(void *)(ctx->fp + FP_MXCSR) = MXCSR;
}

/* The stack is as after a call: the stack pointer is 8 bytes off a multiple of 16. The return
 * address on it is not its own: func never returns. */
void arch_context_redirect(struct thread *t, uintptr_t func)
{
    kernel_assert(kernel_holds_lock());
    struct arch_context *ctx = x86_context(t);

    ctx->rip = x86_canonical_address(func);
    ctx->r[RSP] = (ctx->r[RSP] & ~15ul) - 8;
}

void arch_context_set_tls(struct thread *t, uintptr_t tls)
{
    struct arch_context *ctx = x86_context(t);

    ctx->tls = x86_canonical_address(tls);
    x86_tls_load(&ctx->tls);
}

void arch_context_allow_ports(struct thread *t)
{
    struct arch_context *ctx = x86_context(t);

    ctx->iomap = X86_PORTS_BOARD;
    x86_ports_load(ctx->iomap);
}

uintptr_t arch_context_ip(const struct thread *t)
{
    return x86_context(t)->rip;
}

uintptr_t arch_context_sp(const struct thread *t)
{
    return x86_context(t)->r[RSP];
}

/* FP registers are saved whenever the thread leaves the CPU. */
void arch_context_drop(struct thread *t)
{
    (void)t;
}

/* A call's context holds the registers that a function preserves. */
uintptr_t arch_context_registers(const struct thread *t, uintptr_t *registers)
{
    const struct arch_context *ctx = x86_context(t);
    const uint64_t all = (1ull << (KYMO_PANIC_X86_64_rflags + 1)) - 1;

    for (unsigned i = 0; i < 16; i++) {
        registers[i] = ctx->r[i];
    }
    registers[KYMO_PANIC_X86_64_rip] = ctx->rip;
    registers[KYMO_PANIC_X86_64_rflags] = ctx->rflags;
    const uint64_t lost =
        1ull << RAX | 1ull << RCX | 1ull << RDX | 1ull << RSI | 1ull << RDI | 0xf00ull;
    return ctx->kind == CTX_KIND_FULL ? all : all & ~lost;
}
