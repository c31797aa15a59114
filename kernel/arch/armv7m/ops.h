/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: the inlines and types that kernel/arch/ requires of a port ("[inline]"). Included by
 * kernel/arch/cpu.h only.
 *
 * A thread that is not running has r0-r3, r12, lr, pc and xPSR in the exception frame on its own
 * stack, and the other registers in struct arch_context. The frame is the thread's own memory, so
 * the kernel never trusts it. The kernel keeps EXC_RETURN, which selects the return to user level.
 */
#ifndef ARMV7M_OPS_H
#define ARMV7M_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/compiler.h"
#include "kernel/arch/armv7m/shared.h"

#define ARMV7M_REGIONS 8
#define ARCH_CODE_HIGH 0
#define ARCH_PROBE_BYTES 4
#define ARCH_CODE_SHIFT 1
#define ARCH_CALL_PUSHES 0
#define ARCH_SITE_BYTES 4
#define ARCH_SITE_LIVE 1
#define ARCH_STEP_AFTER 2

/* Lock legend: see kernel/base/cpu.h. */
struct arch_context {
    /* [k] s16-s31, valid if exc_return says that there is an FP frame */
    uint32_t fp[16];
    struct arch_aspace *aspace; /* [I] the process's */
    uint32_t tls;               /* [k] stored in the library word while the thread runs */
    /* [I] location of the library word's address in the process, which may be NULL */
    uint32_t **lib_word;
    uint32_t result, error; /* [k] of the thread's pending call */
    uint32_t kind;          /* [k] CTX_KIND_*: how the thread entered the kernel */
    uint32_t psp;           /* [k] stack pointer, at the exception frame */
    uint32_t r4_r11[8];     /* [k] */
    uint32_t exc_return;    /* [k] */
};

/* Images of the MPU registers: address (with region number) and attributes. */
struct arch_aspace {
    struct {
        uint32_t rbar, rasr;
    } region[ARMV7M_REGIONS]; /* [k] which are free: mpu.c */
};

/* State of the CPU, kernel/arch/armv7m/switch.c. */
struct armv7m_port {
    uint32_t *saved;            /* [c] &context.kind of the running thread; NULL: idle */
    struct arch_aspace *loaded; /* [c] the one that is loaded in the MPU */
    uint32_t idle;              /* [c] 1: waiting for an interrupt */
    uint32_t clock_half; /* [c] written by SysTick's handler: half wraps of the trace clock */
};
extern struct armv7m_port armv7m_port;
void armv7m_fp_switch(struct arch_context *prev, struct arch_context *next);

/* Stores RBAR, RASR and their three aliases, twice. */
static inline void armv7m_mpu_load(const struct arch_aspace *as)
{
    _Static_assert(ARMV7M_REGIONS == 8, "two times four");
    __asm__ volatile("ldmia   %0!, {r3-r10}\n\t"
                     "stmia   %1, {r3-r10}\n\t"
                     "ldmia   %0, {r3-r10}\n\t"
                     "stmia   %1, {r3-r10}\n\t"
                     "dsb\n\t"
                     "isb"
                     : "+r"(as)
                     : "r"(0xe000ed9c)
                     : "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "memory");
}

static inline struct cpu *arch_cpu(void)
{
    extern struct cpu armv7m_cpu __asm__("cpus");
    return &armv7m_cpu;
}

/* The copy loops: memory.c. */
void armv7m_copy_turns(uint8_t *restrict to, const uint8_t *restrict from, size_t len);
void armv7m_fill_turns(uint8_t *to, uint32_t word, size_t len);

static ALWAYS_INLINE void arch_copy_turns(uint8_t *restrict to, const uint8_t *restrict from,
                                          size_t len)
{
    armv7m_copy_turns(to, from, len);
}

static ALWAYS_INLINE void arch_fill_turns(uint8_t *to, uintptr_t word, size_t len)
{
    armv7m_fill_turns(to, word, len);
}

/* Nothing has to be done: all calls begin in kernel_call(). */
static inline void arch_calls_direct(bool on)
{
    (void)on;
}

static inline uintptr_t arch_irq_save(void)
{
    uintptr_t state;
    __asm__ volatile("mrs %0, basepri\n\tmsr basepri_max, %1"
                     : "=&r"(state)
                     : "r"(PRIORITY_IRQ)
                     : "memory");
    return state;
}

static inline void arch_irq_restore(uintptr_t state)
{
    __asm__ volatile("msr basepri, %0" ::"r"(state) : "memory");
}

static inline bool arch_irq_as_entered(void)
{
    uint32_t primask, basepri;
    __asm__ volatile("mrs %0, primask\n\tmrs %1, basepri" : "=r"(primask), "=r"(basepri));
    return (primask | basepri) == 0;
}

static inline bool arch_spin_try(volatile uint32_t *lock)
{
    (void)lock;
    return true;
}

static inline void arch_spin_release(volatile uint32_t *lock)
{
    (void)lock;
}

static inline void arch_spin_hint(void)
{
    __asm__ volatile("yield");
}

/*
 * Extends a 32-bit counter without a lock. clock_half is the number of half wraps that had passed
 * when SysTick's handler last read the counter, at most one of them ago (systick.c). If clock_half
 * is even and the counter in its upper half, or odd and the counter in its lower half, one more
 * half has passed; only the latter case is a wrap. clock_half is read before the counter, so that
 * it is never the newer of the two.
 */
static inline uint64_t arch_cycles(void)
{
    uint32_t half = *(volatile uint32_t *)&armv7m_port.clock_half;
    uint32_t low = *(volatile uint32_t *)TRACE_CLOCK_REG ^ TRACE_CLOCK_INVERT;
    uint32_t high = (half + (~low >> 31)) >> 1;
    return (uint64_t)high << 32 | low;
}

/* Reading pc yields the instruction's address + 4, which is still inside the function. */
static inline __attribute__((always_inline)) void arch_frame_here(uintptr_t *pc, uintptr_t *sp,
                                                                  uintptr_t *fp)
{
    __asm__ volatile("mov %0, pc\n\tmov %1, sp\n\tmov %2, r7" : "=&r"(*pc), "=&r"(*sp), "=r"(*fp));
}

static inline void *arch_phys_to_virt(uintptr_t pa)
{
    return (void *)pa;
}

static inline uintptr_t arch_virt_to_phys(const void *va)
{
    return (uintptr_t)va;
}

/* Returns zero if the thread has used FP. */
static inline uint32_t armv7m_no_fp(const struct arch_context *ctx)
{
    return (ctx ? ctx->exc_return : EXC_RETURN_NO_FP) & EXC_RETURN_NO_FP;
}

/* Switches the running thread: FP registers, library word, MPU. entry.S moves the integer
 * registers. struct thread begins with its context (asserted in kernel/observe/port.c). */
static inline void arch_switch(struct thread *prev, struct thread *next)
{
    struct arch_context *from = (struct arch_context *)prev;
    struct arch_context *to = (struct arch_context *)next;

    if (unlikely((armv7m_no_fp(from) & armv7m_no_fp(to)) == 0)) {
        armv7m_fp_switch(from, to);
    }
    if (!to) {
        armv7m_port.saved = NULL;
        return;
    }
    armv7m_port.saved = &to->kind;
    uint32_t *word = *to->lib_word;
    if (word) {
        *word = to->tls;
    }
    if (armv7m_port.loaded != to->aspace) {
        armv7m_port.loaded = to->aspace;
        armv7m_mpu_load(to->aspace);
    }
}

/* There is one CPU, so the lock needn't be released early. */
static inline void arch_switch_save(struct thread *prev)
{
    (void)prev;
}

static inline void arch_switch_space(struct thread *prev, struct thread *next)
{
    arch_switch(prev, next);
}

static inline void arch_switch_load(struct thread *next)
{
    (void)next;
}

/* There is no lock, so this is never called. */
static inline volatile uint32_t *arch_address(volatile uint32_t *word)
{
    return word;
}

static inline bool arch_cas32(volatile uint32_t *p, uint32_t expected, uint32_t desired)
{
    return __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

static inline void arch_context_set_result(struct thread *t, long value, int error)
{
    struct arch_context *ctx = (struct arch_context *)t;
    ctx->result = (uint32_t)value;
    ctx->error = (uint32_t)error;
}

/* Writes NVIC_ICER. Avoids the word's index where there is only one word, because every interrupt
 * runs this. */
static inline void arch_irq_mask(unsigned irq)
{
    unsigned word = CONFIG_IRQ_LINES > 32 ? irq / 32 : 0;
    unsigned bit = CONFIG_IRQ_LINES > 32 ? irq % 32 : irq;
    *(volatile uint32_t *)(0xe000e180 + 4 * word) = 1u << bit;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}

/* Order of regs: r1, r2, r3, r12, return address, r0, lr, then the caller's stack
 * (probe/calls.S). */
/* Just after PUSH and BL, in Thumb state; before a return there may be other instructions
 * (kernel/arch/armv7m/probe/slot.c). */
static inline uintptr_t arch_probe_back(bool returns)
{
    return returns ? 0 : 7;
}

static inline uintptr_t arch_probe_argument(const uintptr_t *regs, unsigned n)
{
    return n == 0 ? regs[5] : n < 4 ? regs[n - 1] : regs[n + 3];
}

static inline uintptr_t arch_probe_result(const uintptr_t *regs)
{
    return arch_probe_argument(regs, 0);
}

/* Pends PendSV, which runs after the last interrupt handler and the kernel have ended. */
static inline void arch_request_exit(void)
{
    *(volatile uint32_t *)0xe000ed04 = 1u << 28;
}

/* Computes the high 64 bits of the product from 32-bit pieces. */
static inline uint64_t arch_multiply_high(uint64_t a, uint64_t b)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    uint64_t carry = (uint32_t)middle + a0 * b1;
    return a1 * b1 + (middle >> 32) + (carry >> 32);
}

#endif
