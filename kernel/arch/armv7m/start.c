/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: the path from reset to the first thread. Called once by entry.S with interrupts masked,
 * on the kernel stack, in thread mode; never returns: pends a fault exception, in which
 * kernel_main() then runs, because all of the kernel runs at that level.
 */
#include "kernel/arch/armv7m/private.h"
#include "kernel/arch/armv7m/scb.h"
#include "kernel/arch/board.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/panic.h"

extern const uint32_t armv7m_vectors[];

/* Receives the registers of the boot code, which never resumes. */
static struct arch_context boot_context;

static void priorities_init(void)
{
    VTOR = (uint32_t)armv7m_vectors;
    AIRCR = AIRCR_KEY; /* all priority bits preempt */
    SHPR1 = PRIORITY_FAULT * 0x010101u;
    SHPR2 = (uint32_t)PRIORITY_KERNEL << 24;
    SHPR3 = (uint32_t)PRIORITY_IRQ << 24 | (uint32_t)PRIORITY_KERNEL << 16;
    for (unsigned i = 0; i < (CONFIG_IRQ_LINES + 3) / 4; i++) {
        NVIC_IPR(i) = PRIORITY_IRQ * 0x01010101u;
    }
    SHCSR |= SHCSR_FAULTS_ENABLED;
}

static void core_init(void)
{
    CCR |= CCR_DIV_0_TRP | CCR_STKALIGN;
    ACTLR |= ACTLR_DISDEFWBUF;
    CPACR |= CPACR_FP;
    FPCCR |= FPCCR_LAZY;
    __asm__ volatile("dsb\n\tisb");
}

/* Threads are unprivileged from here on; the kernel runs in handler mode, which is always
 * privileged. */
struct thread *armv7m_boot(struct thread *self)
{
    if ((struct arch_context *)self != &boot_context) {
        return NULL;
    }
    armv7m_port.saved = NULL;
    __asm__ volatile("msr control, %0\n\tisb" ::"r"(1) : "memory");
    return kernel_main();
}

void armv7m_start(void)
{
    kernel_stack_fill();
    retain_boot();
    priorities_init();
    core_init();
    arch_board_init();
    armv7m_mpu_init();
    armv7m_systick_init();
    armv7m_sample_init();
    armv7m_port.saved = &boot_context.kind;
    SHCSR |= SHCSR_MEMFAULTPENDED;
    __asm__ volatile("dsb\n\tcpsie i\n\tisb" ::: "memory");
    kernel_panic("armv7m: no way into the kernel");
}
