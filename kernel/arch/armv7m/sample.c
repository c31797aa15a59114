/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: the sampling interrupt. Its priority is above BASEPRI's mask, so it interrupts the
 * kernel everywhere except where PRIMASK is set: in the log's writer (some 40 instructions, 200
 * where a buffer is opened), in waiting for interrupts, and in this file. In these places it is
 * taken as soon as PRIMASK is cleared.
 *
 * The handler must leave all kernel state unchanged: it records (kernel_sample()) and pends a line
 * with the priority of ordinary interrupts, whose handler, intr_sample(), requests the kernel's
 * exit. It sets no bit of a word that other code changes, and does not pend PendSV itself.
 * Exceptions clear the exclusive monitor, so an interrupted LDREX/STREX pair is retried. Tested by
 * test/board/samples.py.
 */
#include "kernel/arch/armv7m/board.h"
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/armv7m/scb.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"

#define LINE_BIT(irq) (1u << ((irq) % 32))

/* [c] accessed with PRIMASK set, or in the sampling interrupt */
static uint64_t sample_at = UINT64_MAX;

static void sample_arm(uint64_t now)
{
    uint64_t left = sample_at > now ? sample_at - now : 1;

    armv7m_board_sample_after(sample_at == UINT64_MAX ? 0
                              : left > UINT32_MAX     ? UINT32_MAX
                                                      : (uint32_t)left);
}

void arch_sample_taken(uintptr_t ip, const uintptr_t *stack, uint32_t exc_return)
{
    uint64_t now = arch_cycles();

    if (now < sample_at) {
        sample_arm(now); /* the time is beyond the timer's range, or was set again */
        return;
    }
    sample_at = UINT64_MAX;
    armv7m_board_sample_after(0);
    if (!stack) {
        kernel_sample(ip, 0, NULL, 0);
    } else {
        const struct frame *frame = (const struct frame *)(const void *)stack - 1;
        /* The kernel uses the FPU when it switches a thread's registers: then an FP frame is
         * stacked. */
        stack += exc_return & EXC_RETURN_NO_FP ? 0 : FP_FRAME_BYTES / sizeof(*stack);
        stack += frame->xpsr & XPSR_ALIGNED ? 1 : 0;
        const void *end = (const char *)stack - armv7m_long_stack < LONG_STACK &&
                                  (const char *)stack >= armv7m_long_stack
                              ? armv7m_long_stack + LONG_STACK
                              : kernel_stack_top;
        kernel_sample(ip, frame->lr, stack, (unsigned)((const uintptr_t *)end - stack));
    }
    NVIC_ISPR(CONFIG_SAMPLED_IRQ / 32) = LINE_BIT(CONFIG_SAMPLED_IRQ);
}

void arch_sample_set(uint64_t cycles)
{
    uintptr_t primask;

    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(primask)::"memory");
    sample_at = cycles;
    sample_arm(arch_cycles());
    __asm__ volatile("msr primask, %0" ::"r"(primask) : "memory");
}

bool arch_sample_able(void)
{
    return true;
}

void armv7m_sample_init(void)
{
    volatile uint8_t *priority = (volatile uint8_t *)&NVIC_IPR(0);

    priority[CONFIG_SAMPLE_IRQ] = PRIORITY_SAMPLE;
    armv7m_board_sample_after(0);
    NVIC_ISER(CONFIG_SAMPLE_IRQ / 32) = LINE_BIT(CONFIG_SAMPLE_IRQ);
    NVIC_ISER(CONFIG_SAMPLED_IRQ / 32) = LINE_BIT(CONFIG_SAMPLED_IRQ);
}
