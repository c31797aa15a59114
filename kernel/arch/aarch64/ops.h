/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AArch64: the structs and inlines that kernel/arch/ requires of a port ("[inline]"). Included by
 * kernel/arch/cpu.h only, before its prototypes.
 *
 * Interrupts are masked from kernel entry to exit, so arch_irq_save() does nothing. TPIDR_EL1
 * points to this CPU's struct cpu. This file knows only one thing about struct thread: its first
 * member is struct arch_context.
 */
#ifndef KERNEL_ARCH_AARCH64_OPS_H
#define KERNEL_ARCH_AARCH64_OPS_H

#include "abi/compiler.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/arch/aarch64/shared.h"
#include "kernel/arch/aarch64/sysreg.h"
#include "kernel/arch/masked.h"
#include "kernel/arch/turns.h"

#define ARCH_CODE_HIGH (KERNEL_VIRT >> 32)
#define ARCH_PROBE_BYTES 4
#define ARCH_CODE_SHIFT 1
#define ARCH_CALL_PUSHES 0
#define ARCH_SITE_BYTES 4
#define ARCH_SITE_LIVE 1

struct arch_context {
    /* [k] in a CTX_KIND_CALL context x2-x18 are those of an earlier interruption */
    uint64_t x[31];
    uint64_t sp;      /* [k] SP_EL0 */
    uint64_t kind;    /* [k] CTX_KIND_* */
    uint64_t elr;     /* [k] */
    uint64_t spsr;    /* [k] always EL0 */
    uint64_t ttbr0;   /* [I] the process's, with its ASID */
    uint64_t tls;     /* [k] TPIDR_EL0, which the program can change */
    uint64_t fp_live; /* [c] this CPU's FP registers hold this thread's state, newer than fp[] */
    unsigned __int128 fp[32];
    uint64_t fpsr, fpcr;
};

struct arch_aspace {
    uint64_t ttbr0; /* [I] level 1 table and ASID; 0: none. Must be first, also in struct process */
    /* [k] the search for free addresses begins here, downwards: above there is little or no room */
    uintptr_t search_from;
};

extern uint64_t a64_empty_ttbr0; /* [I] a table that maps nothing, ASID 0, for idle CPUs */

static inline struct cpu *arch_cpu(void)
{
    struct cpu *cpu;
    /* Not volatile: TPIDR_EL1 never changes on a CPU, and the kernel never migrates between
     * CPUs. */
    __asm__("mrs %0, tpidr_el1" : "=r"(cpu));
    return cpu;
}

/* Nothing has to be done: all calls begin in kernel_call(). */
static inline void arch_calls_direct(bool on)
{
    (void)on;
}

static inline bool arch_spin_try(volatile uint32_t *lock)
{
    uint32_t word; /* then whether the store failed */
    __asm__ goto("1: ldaxr %w0, %1\n"
                 "   cbnz %w0, %l[taken]\n"
                 "   stxr %w0, %w2, %1\n"
                 "   cbnz %w0, 1b\n"
                 : "=&r"(word), "+Q"(*lock)
                 : "r"(1)
                 : "memory"
                 : taken);
    return true;
taken:
    return false;
}

static inline void arch_spin_release(volatile uint32_t *lock)
{
    __asm__ volatile("stlrb wzr, %0" : "+Q"(*lock)::"memory");
}

/* yield, not wfe: a spinning CPU also serves cross-calls, and an emulator that runs CPUs in turn
 * switches to the next one at a yield. isb: a spinning CPU must see text that the lock's holder
 * patched. */
static inline void arch_spin_hint(void)
{
    __asm__ volatile("yield\n\tisb" ::: "memory");
}

/* No isb: reading the counter a few instructions early does not put events of one CPU out of order,
 * because the trace log makes each stamp later than the one before. */
static inline uint64_t arch_cycles(void)
{
    return a64_read_sysreg(cntvct_el0);
}

static inline __attribute__((always_inline)) void arch_frame_here(uintptr_t *pc, uintptr_t *sp,
                                                                  uintptr_t *fp)
{
    __asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29" : "=&r"(*pc), "=&r"(*sp), "=r"(*fp));
}

static inline void *arch_phys_to_virt(uintptr_t pa)
{
    return (void *)(pa + KERNEL_VIRT);
}

static inline uintptr_t arch_virt_to_phys(const void *va)
{
    return (uintptr_t)va - KERNEL_VIRT;
}

static inline void a64_fp_trap(void)
{
    a64_write_sysreg(cpacr_el1, 1ul << 20);
}

/* Saves this CPU's FP and SIMD registers. Inline, so that the fast path of messages stays without
 * calls; the kernel's own code is compiled for general registers only. */
static inline void a64_fp_save(struct arch_context *ctx)
{
    uint64_t fpsr, fpcr;

    __asm__ volatile(".arch_extension fp\n\t"
                     ".arch_extension simd\n\t"
                     "stp q0, q1, [%[fp]]\n\t"
                     "stp q2, q3, [%[fp], #32]\n\t"
                     "stp q4, q5, [%[fp], #64]\n\t"
                     "stp q6, q7, [%[fp], #96]\n\t"
                     "stp q8, q9, [%[fp], #128]\n\t"
                     "stp q10, q11, [%[fp], #160]\n\t"
                     "stp q12, q13, [%[fp], #192]\n\t"
                     "stp q14, q15, [%[fp], #224]\n\t"
                     "stp q16, q17, [%[fp], #256]\n\t"
                     "stp q18, q19, [%[fp], #288]\n\t"
                     "stp q20, q21, [%[fp], #320]\n\t"
                     "stp q22, q23, [%[fp], #352]\n\t"
                     "stp q24, q25, [%[fp], #384]\n\t"
                     "stp q26, q27, [%[fp], #416]\n\t"
                     "stp q28, q29, [%[fp], #448]\n\t"
                     "stp q30, q31, [%[fp], #480]\n\t"
                     "mrs %[fpsr], fpsr\n\t"
                     "mrs %[fpcr], fpcr\n\t"
                     ".arch_extension nofp"
                     : [fpsr] "=&r"(fpsr), [fpcr] "=&r"(fpcr), "=m"(ctx->fp)
                     : [fp] "r"(&ctx->fp));
    ctx->fpsr = fpsr;
    ctx->fpcr = fpcr;
}

static inline void a64_space_switch(uint64_t ttbr0)
{
    if (ttbr0 != a64_read_sysreg(ttbr0_el1)) {
        a64_write_sysreg(ttbr0_el1, ttbr0);
    }
}

static inline void arch_switch_save(struct thread *prev)
{
    struct arch_context *from = (struct arch_context *)prev;

    from->tls = a64_read_sysreg(tpidr_el0);
    if (unlikely(from->fp_live)) {
        a64_fp_save(from);
        from->fp_live = 0;
        a64_fp_trap();
    }
}

/* Called with the lock held: prev's process may end, and its tables may be freed, as soon as the
 * lock is released. */
static inline void arch_switch_space(struct thread *prev, struct thread *next)
{
    (void)prev;
    a64_space_switch(((const struct arch_context *)next)->ttbr0);
}

static inline void arch_switch_load(struct thread *next)
{
    a64_write_sysreg(tpidr_el0, ((const struct arch_context *)next)->tls);
}

/* The eret that follows synchronises the writes; the kernel itself uses neither TTBR0 nor FP. */
static inline void arch_switch(struct thread *prev, struct thread *next)
{
    const struct arch_context *to = (const struct arch_context *)next;

    if (prev) {
        arch_switch_save(prev);
    }
    if (to) {
        arch_switch_load(next);
    }
    a64_space_switch(to ? to->ttbr0 : a64_empty_ttbr0);
}

/* Puts the address in a register: computed once, where otherwise each use would have to. */
static inline volatile uint32_t *arch_address(volatile uint32_t *word)
{
    __asm__("" : "+r"(word));
    return word;
}

static inline bool arch_cas32(volatile uint32_t *p, uint32_t expected, uint32_t desired)
{
    uint32_t old, failed;
    __asm__ volatile("1: ldaxr %w0, %2\n"
                     "   cmp %w0, %w3\n"
                     "   b.ne 2f\n"
                     "   stlxr %w1, %w4, %2\n"
                     "   cbnz %w1, 1b\n"
                     "2:"
                     : "=&r"(old), "=&r"(failed), "+Q"(*p)
                     : "r"(expected), "r"(desired)
                     : "memory", "cc");
    return old == expected;
}

static inline void arch_context_set_result(struct thread *t, long value, int error)
{
    struct arch_context *ctx = (struct arch_context *)t;
    ctx->x[0] = (uint64_t)value;
    ctx->x[1] = (uint64_t)(int64_t)error;
}

/* Order of regs: x0, x30, x1, x2 … (probe/calls.S). */
/* Just after the slot's second instruction (kernel/arch/aarch64/probe/slot.c). */
static inline uintptr_t arch_probe_back(bool returns)
{
    (void)returns;
    return 8;
}

static inline uintptr_t arch_probe_argument(const uintptr_t *regs, unsigned n)
{
    return regs[n ? n + 1 : 0];
}

static inline uintptr_t arch_probe_result(const uintptr_t *regs)
{
    return arch_probe_argument(regs, 0);
}

/* Nothing has to be done: every entry into this kernel ends in kernel_exit(). */
static inline void arch_request_exit(void)
{
}

static inline uint64_t arch_multiply_high(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}

#endif
