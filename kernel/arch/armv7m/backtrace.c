/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: the CPU-specific part of kernel/observe/unwind.c: a thread's first frame, the test for a
 * return address, the return of an exception. Any context, interrupts masked.
 *
 * Also makes the backtrace of a thread whose frame the CPU could not store because its stack has
 * overflowed: scans the stack for words that look like return addresses. Kernel lock held.
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/armv7m/scb.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/stack.h"

#define SCAN_WORDS 2048
#define SCAN_STEP 16        /* words between two preemption points */
#define OVERFLOW_BYTES 1024 /* how far below its stack an overflowed thread's sp may be */
#define IPSR_FIRST_INTERRUPT 15
#define IPSR_NMI 2
#define R7 3 /* index in r4_r11 */

extern const char __kernel_start[], __text_end[], __slots_start[], __slots_end[];

static uint32_t exception_number(void)
{
    uint32_t ipsr;
    __asm__("mrs %0, ipsr" : "=r"(ipsr));
    return ipsr & 0x1ff;
}

/* Returns true in an interrupt handler, which stores nothing in the thread's context. */
static bool in_interrupt(const struct thread *t)
{
    uint32_t exception = exception_number();

    return armv7m_port.saved == &context_of(t)->kind &&
           (exception >= IPSR_FIRST_INTERRUPT || exception == IPSR_NMI);
}

/* The interrupt hit the thread; or a kernel entry that has not saved the thread yet and will return
 * to it; or the kernel after it had saved the thread. */
enum armv7m_frame armv7m_frame_of(const struct thread *t, struct unwind_frame *f)
{
    if (!in_interrupt(t)) {
        return ARMV7M_FRAME_SAVED;
    }
    if (kernel_unwind_to_user(f)) {
        return ARMV7M_FRAME_STACKED;
    }
    return ICSR & ICSR_RETTOBASE ? ARMV7M_FRAME_UNKNOWN : ARMV7M_FRAME_SAVED;
}

/* Reads the frame that the CPU stored at psp. */
static bool frame_at(const struct thread *t, uint32_t psp, uint32_t exc_return,
                     struct unwind_frame *f)
{
    struct frame stored;

    if ((psp & 3) != 0 || !arch_peek(&stored, psp, sizeof(stored), t)) {
        return false;
    }
    f->pc = stored.pc & ~1u;
    f->lr = stored.lr;
    f->sp = psp + sizeof(stored) + ((exc_return & EXC_RETURN_NO_FP) ? 0 : FP_FRAME_BYTES) +
            ((stored.xpsr & XPSR_ALIGNED) ? 4 : 0);
    f->live = true;
    return true;
}

bool arch_user_frame(const struct thread *t, struct unwind_frame *f)
{
    const struct arch_context *ctx = context_of(t);
    const enum armv7m_frame where = armv7m_frame_of(t, f);

    if (where != ARMV7M_FRAME_SAVED) {
        return where == ARMV7M_FRAME_STACKED &&
               frame_at(t, armv7m_process_sp(), (uint32_t)f->lr, f);
    }
    f->fp = ctx->r4_r11[R7];
    return ctx->kind != CTX_KIND_BAD_FRAME && frame_at(t, ctx->psp, ctx->exc_return, f);
}

bool arch_exception_frame(struct unwind_frame *f)
{
    uint32_t exc_return = (uint32_t)f->pc;

    if (exc_return < EXC_RETURN_LEAST) {
        return false;
    }
    if (exc_return & EXC_RETURN_TO_THREAD) {
        f->to_user = true;
        f->lr = exc_return;
    } else {
        frame_at(NULL, (uint32_t)f->sp, exc_return, f);
    }
    return true;
}

/* The slot has done push {r0, lr}; in a return probe, after the displaced instructions. */
bool arch_probe_frame(struct unwind_frame *f, uintptr_t site, unsigned offset)
{
    uint32_t pushed[2];

    if (!arch_peek(pushed, f->sp, sizeof(pushed), NULL)) {
        return false;
    }
    f->pc = site + offset - PROBE_CALL_BYTES;
    f->lr = pushed[1];
    f->sp += sizeof(pushed);
    f->live = true;
    return true;
}

/* Reads two halfwords of code. Kernel code may be in the first KB, which D may not access. */
static bool read_code(uint16_t code[2], uintptr_t at, const struct thread *user)
{
    if (user) {
        return arch_peek(code, at, 4, user);
    }
    bool slot = at >= (uintptr_t)__slots_start && at + 4 <= (uintptr_t)__slots_end;
    if (!slot && (at < (uintptr_t)__kernel_start || at > (uintptr_t)__text_end - 4)) {
        return false;
    }
    __builtin_memcpy(code, (const void *)at, 4);
    return true;
}

/* Accepts a word if the instruction that ends at `next` is BL, or BLX of a register. */
bool arch_return_address(uintptr_t *word, const struct thread *user)
{
    uintptr_t next = *word & ~(uintptr_t)1;
    uint16_t code[2];

    if (!(*word & 1) || next < sizeof(code) || !read_code(code, next - sizeof(code), user)) {
        return false;
    }
    if (user) {
        armv7m_step_half(user, next - sizeof(code), &code[0]);
        armv7m_step_half(user, next - sizeof(code[1]), &code[1]);
    }
    *word = next;
    bool bl = (code[0] & 0xf800) == 0xf000 && (code[1] & 0xd000) == 0xd000;
    return bl || (code[1] & 0xff87) == 0x4780;
}

/* ---- a lost frame ------------------------------------------------------------------ */

bool arch_backtrace_lost(const struct thread *t, unsigned *at, uintptr_t *to, unsigned *n,
                         unsigned max)
{
    kernel_assert(kernel_holds_lock());
    uintptr_t low, high, psp = context_of(t)->psp;

    kernel_thread_stack(t, &low, &high);
    if (low - psp > OVERFLOW_BYTES) {
        return false;
    }
    for (unsigned end = *at + SCAN_STEP; *at < end; ++*at) {
        const uint32_t *stored = kernel_user_ptr(t, low + 4 * *at, 4, KYMO_PROT_READ);
        if (!stored || *at == SCAN_WORDS || *n == max) {
            return false;
        }
        uintptr_t word = *stored;
        if (kernel_user_ptr(t, (word & ~1u) - 4, 4, KYMO_PROT_EXEC) &&
            arch_return_address(&word, t)) {
            to[(*n)++] = word;
        }
    }
    return true;
}
