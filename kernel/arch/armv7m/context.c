/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: creates and reads the contexts of threads that are not running. Kernel lock held, except
 * for arch_context_registers(). The frame is user memory: every access goes through
 * kernel_user_ptr(), and its contents are used for reports only.
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/panic.h"

/* Returns the thread's frame if it is in memory of its process with these rights, otherwise
 * NULL. */
static struct frame *stacked_at(const struct thread *t, uint32_t psp, unsigned prot)
{
    if ((psp & 3) != 0) {
        return NULL;
    }
    return kernel_user_ptr(t, psp, sizeof(struct frame), prot);
}

static struct frame *context_frame(const struct thread *t, unsigned prot)
{
    return stacked_at(t, context_of(t)->psp, prot);
}

/* Returns the stack pointer before the exception. f: the frame at psp, or NULL if there is none. */
static uintptr_t sp_before(uint32_t psp, uint32_t exc_return, const struct frame *f)
{
    if (!f) {
        return psp;
    }
    return psp + sizeof(*f) + ((exc_return & EXC_RETURN_NO_FP) ? 0 : FP_FRAME_BYTES) +
           ((f->xpsr & XPSR_ALIGNED) ? 4 : 0);
}

static void frame_enter(struct frame *f, uintptr_t func, uintptr_t arg, uintptr_t ret)
{
    *f = (struct frame){.r0 = arg, .lr = ret, .pc = func & ~1u, .xpsr = XPSR_THUMB};
}

int arch_context_init(struct thread *t, uintptr_t func, uintptr_t arg, uintptr_t stack_low,
                      uintptr_t stack_high, uintptr_t ret, uintptr_t tls)
{
    kernel_assert(kernel_holds_lock());
    uintptr_t at = (stack_high & ~(uintptr_t)7) - sizeof(struct frame);
    if (stack_high < sizeof(struct frame) + 8 || at < stack_low) {
        return -EFAULT;
    }
    struct arch_context *ctx = context_of(t);
    *ctx = (struct arch_context){
        .aspace = (struct arch_aspace *)kernel_thread_process(t),
        .tls = tls,
        .lib_word = kernel_lib_word(t),
        .psp = at,
        .exc_return = EXC_RETURN_THREAD,
    };
    struct frame *f = context_frame(t, KYMO_PROT_READ | KYMO_PROT_WRITE);
    if (!f) {
        return -EFAULT;
    }
    frame_enter(f, func, arg, ret);
    return 0;
}

void arch_context_init_kernel(struct thread *t)
{
    *context_of(t) = (struct arch_context){
        .aspace = &armv7m_no_memory,
        .lib_word = kernel_lib_word(t),
        .exc_return = EXC_RETURN_THREAD,
    };
}

/* The thread continues on its own stack, below its current frame. Without a frame its process ends
 * when it resumes. */
void arch_context_redirect(struct thread *t, uintptr_t func)
{
    kernel_assert(kernel_holds_lock());
    struct arch_context *ctx = context_of(t);
    struct frame *f = context_frame(t, KYMO_PROT_READ | KYMO_PROT_WRITE);
    if (!f) {
        ctx->kind = CTX_KIND_BAD_FRAME;
        return;
    }
    uint32_t aligned = f->xpsr & XPSR_ALIGNED;
    frame_enter(f, func, 0, 0);
    f->xpsr |= aligned;
    if (ctx->kind == CTX_KIND_CALL) {
        ctx->kind = CTX_KIND_INTERRUPTED;
    }
}

/* There are no ports: devices are in memory. */
void arch_context_allow_ports(struct thread *t)
{
    (void)t;
}

uintptr_t arch_context_ip(const struct thread *t)
{
    const struct frame *f = context_frame(t, KYMO_PROT_READ);
    return f ? f->pc : 0;
}

uintptr_t arch_context_sp(const struct thread *t)
{
    const struct arch_context *ctx = context_of(t);

    return sp_before(ctx->psp, ctx->exc_return, context_frame(t, KYMO_PROT_READ));
}

/* The frame's registers are lost if the stack is not memory of the process; the others are not
 * saved yet if an interrupt has hit the thread. */
uintptr_t arch_context_registers(const struct thread *t, uintptr_t *registers)
{
    const struct arch_context *ctx = context_of(t);
    struct unwind_frame interrupted;
    const enum armv7m_frame where = armv7m_frame_of(t, &interrupted);
    const bool saved = where == ARMV7M_FRAME_SAVED;
    const uint32_t psp = saved ? ctx->psp : armv7m_process_sp();
    const struct frame *f = stacked_at(t, psp, KYMO_PROT_READ);
    uintptr_t known = 1u << KYMO_PANIC_ARM_sp | (saved ? 0xffu << KYMO_PANIC_ARM_r4 : 0);

    if (where == ARMV7M_FRAME_UNKNOWN) {
        return 0;
    }
    for (unsigned i = 0; i < 8; i++) {
        registers[KYMO_PANIC_ARM_r4 + i] = ctx->r4_r11[i];
    }
    registers[KYMO_PANIC_ARM_sp] =
        sp_before(psp, saved ? ctx->exc_return : (uint32_t)interrupted.lr, f);
    if (f) {
        registers[KYMO_PANIC_ARM_r0] = f->r0;
        registers[KYMO_PANIC_ARM_r1] = f->r1;
        registers[KYMO_PANIC_ARM_r2] = f->r2;
        registers[KYMO_PANIC_ARM_r3] = f->r3;
        registers[KYMO_PANIC_ARM_r12] = f->r12;
        registers[KYMO_PANIC_ARM_lr] = f->lr;
        registers[KYMO_PANIC_ARM_pc] = f->pc;
        registers[KYMO_PANIC_ARM_xpsr] = f->xpsr;
        known |= 0xfu << KYMO_PANIC_ARM_r0 | 1u << KYMO_PANIC_ARM_r12 | 1u << KYMO_PANIC_ARM_lr |
                 1u << KYMO_PANIC_ARM_pc | 1u << KYMO_PANIC_ARM_xpsr;
    }
    return known;
}

void arch_context_set_tls(struct thread *t, uintptr_t tls)
{
    context_of(t)->tls = tls;
}
