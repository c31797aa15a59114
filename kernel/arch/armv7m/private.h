/* SPDX-License-Identifier: BSD-2-Clause */
/* ARMv7-M: declarations shared by the files of this folder. Contexts as in kernel/arch/. */
#ifndef ARMV7M_PRIVATE_H
#define ARMV7M_PRIVATE_H

#include "abi/errno.h"
#include "abi/sys/panic.h"
#include "abi/sys/kymo.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/stack.h"

/* Exceptions that are not NVIC lines get the number after the last line. */
#define IRQ_SYSTICK CONFIG_IRQ_LINES

/* The exception frame that the CPU stacks. */
struct frame {
    uint32_t r0, r1, r2, r3, r12, lr, pc, xpsr;
};
#define XPSR_THUMB (1u << 24)
#define XPSR_IT_ICI 0x0600fc00u /* a restarted multiple transfer, or an IT block */
#define XPSR_ALIGNED (1u << 9)  /* the CPU left a word free above the frame */
#define PROBE_CALL_BYTES 6      /* of a function probe's slot: push, bl */
#define FP_FRAME_BYTES 72       /* s0-s15, FPSCR and a word, above the frame */

static inline struct arch_context *context_of(const struct thread *t)
{
    return (struct arch_context *)(uintptr_t)t;
}

/* For assertions: returns whether interrupts are masked, or one is being served: they don't
 * nest. */
static inline bool armv7m_irq_masked(void)
{
    uint32_t primask, basepri, ipsr;
    __asm__ volatile("mrs %0, primask\n\tmrs %1, basepri\n\tmrs %2, ipsr"
                     : "=r"(primask), "=r"(basepri), "=r"(ipsr));
    return primask || basepri || (ipsr & 0x1ff) >= 15;
}

static inline uint32_t armv7m_process_sp(void)
{
    uint32_t psp;
    __asm__ volatile("mrs %0, psp" : "=r"(psp));
    return psp;
}

/* The location of a thread's registers, for backtrace.c. */
enum armv7m_frame {
    ARMV7M_FRAME_SAVED, /* in its context */
    /* the context is older: they are in the frame at PSP, f->lr is EXC_RETURN */
    ARMV7M_FRAME_STACKED,
    ARMV7M_FRAME_UNKNOWN
};
enum armv7m_frame armv7m_frame_of(const struct thread *t, struct unwind_frame *f);

/* An address space that maps nothing. */
extern struct arch_aspace armv7m_no_memory;

/* Returns the registers of the context that an exception interrupted (registers.c). frame: the
 * stacked frame, or NULL. */
void armv7m_exception_registers(uint64_t *registers, const struct frame *frame,
                                const uint32_t *r4_r11);

/* The kernel stack, starting with its guard, in ascending order (entry.S). */
extern const char kernel_stack_guard[], kernel_stack_low[], kernel_stack_top[];
/* The stack of long calls (core.c). */
extern char armv7m_long_stack[LONG_STACK];

/* self NULL: the registers of the boot code are discarded. */
struct thread *armv7m_boot(struct thread *self);
void armv7m_mpu_init(void);
void armv7m_systick_init(void);
void armv7m_sample_init(void);
/* Called by entry.S; in sample.c. */
void arch_sample_taken(uintptr_t ip, const uintptr_t *stack, uint32_t exc_return);
int armv7m_fp_save(uint32_t fp[16]); /* returns 1 if the lazy frame could not be written */
void armv7m_fp_load(const uint32_t fp[16]);
void armv7m_fp_clear(const uint32_t zeros[32]);

/* Called when a thread has faulted (step/, or none/). Returns the thread to resume, or NULL if it
 * hit no trap of kernel/arch/step.h. */
struct thread *armv7m_step_break(struct thread *self, uint32_t status);
/* Called for a HardFault of a thread: returns whether it has executed an instruction that a trap
 * had displaced. */
bool armv7m_step_left(void);
/* Replaces a trap that was read at this address of the thread's program. */
void armv7m_step_half(const struct thread *user, uintptr_t at, uint16_t *half);

#endif
