/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts of boards with a GIC v2: see gicv2_a64.h; contexts as in kernel/arch/. Tested by every
 * boot of such a board.
 */
#include "boards/drivers/gicv2_a64.h"
#include "boards/drivers/gicv2.h"
#include "kernel/arch/aarch64/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"

#define IRQ_LINES_MAX 256
#define FIQS (1u << GIC_IRQ_SAMPLE | 1u << GIC_IRQ_COUNT)

const char *gic_irq_name(unsigned irq)
{
    static const char *const names[GIC_FIRST_EXTERNAL] = {
        [GIC_IRQ_IPI] = "ipi",     [GIC_IRQ_SAMPLED] = "sampled", [GIC_IRQ_COUNT] = "count",
        [GIC_IRQ_TIMER] = "timer", [GIC_IRQ_SAMPLE] = "sample",
    };
    return irq < GIC_FIRST_EXTERNAL ? names[irq] : NULL;
}

static unsigned external_lines; /* [I] */
static bool samples;            /* [I] the same on all CPUs */

void gic_board_init(uintptr_t dist, uintptr_t cpu)
{
    unsigned lines = gic_init(dist, cpu);

    external_lines = (lines < IRQ_LINES_MAX ? lines : IRQ_LINES_MAX) - GIC_FIRST_EXTERNAL;
}

void a64_board_irq_cpu_init(unsigned n)
{
    samples = gic_cpu_init(
        n, 1u << GIC_IRQ_TIMER | 1u << GIC_IRQ_IPI | 1u << GIC_IRQ_SAMPLED | FIQS, FIQS);
}

struct a64_irq a64_board_irq_take(void)
{
    uint32_t token = gic_take();
    uint32_t number = gic_number(token);
    return (struct a64_irq){number < GIC_SPECIAL ? number : A64_IRQ_NONE, token};
}

void a64_board_irq_end(uint32_t token)
{
    gic_end(token);
}

bool a64_board_irq_taken(void)
{
    return gic_taken();
}

unsigned a64_board_irq_timer(void)
{
    return GIC_IRQ_TIMER;
}

unsigned a64_board_irq_ipi(void)
{
    return GIC_IRQ_IPI;
}

unsigned a64_board_irq_sample(void)
{
    return samples ? GIC_IRQ_SAMPLE : A64_IRQ_NONE;
}

bool a64_board_irq_is_fiq(unsigned number)
{
    return number < GIC_FIRST_EXTERNAL && FIQS >> number & 1;
}

unsigned a64_board_irq_count(void)
{
    return samples ? GIC_IRQ_COUNT : A64_IRQ_NONE;
}

bool a64_board_count_pending(void)
{
    return gic_private_pending(GIC_IRQ_COUNT);
}

unsigned a64_board_fiq_take(uint32_t *token)
{
    return gic_take_these(FIQS, token) ? gic_number(*token) : A64_IRQ_NONE;
}

unsigned a64_board_irq_sampled(void)
{
    return GIC_IRQ_SAMPLED;
}

void a64_board_sampled_raise(void)
{
    gic_send_self(GIC_IRQ_SAMPLED);
}

void arch_ipi(uint32_t cpus)
{
    gic_send(cpus, GIC_IRQ_IPI);
}

unsigned arch_irq_count(void)
{
    return external_lines + GIC_FIRST_EXTERNAL;
}

/* Private lines, including the timer's and the IPI's, belong to the kernel. */
static inline bool board_external(unsigned irq)
{
    return irq - GIC_FIRST_EXTERNAL < external_lines;
}

bool arch_irq_reserved(unsigned irq)
{
    return !board_external(irq);
}

void arch_irq_mask(unsigned irq)
{
    if (board_external(irq)) {
        gic_mask(irq);
    }
}

void arch_irq_unmask(unsigned irq)
{
    if (board_external(irq)) {
        gic_unmask(irq);
    }
}
