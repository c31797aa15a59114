/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A 32-bit timer of the STM32F4 (TIM2, TIM5), as the trace clock and as the one-shot timer of the
 * sampling interrupt, whose caller (kernel/arch/armv7m/sample.c) is never interrupted. Tested by
 * every boot of stm32f4 that traces.
 */
#include "boards/board.h"
#include "boards/drivers/stm32.h"

#define TIM_CR1 0x00
#define TIM_DIER 0x0c
#define TIM_SR 0x10
#define TIM_EGR 0x14
#define TIM_CNT 0x24
#define TIM_PSC 0x28
#define TIM_ARR 0x2c
#define CR1_ENABLE (1u << 0)
#define CR1_URS (1u << 2) /* only an overflow raises the interrupt, not EGR */
#define CR1_ONE_PULSE (1u << 3)
#define DIER_UPDATE 1u
#define EGR_UPDATE 1u /* loads the prescaler, clears the counter */

static void timer_stop(uintptr_t base, unsigned divisor)
{
    mmio_write(base + TIM_CR1, CR1_URS);
    mmio_write(base + TIM_DIER, 0);
    mmio_write(base + TIM_SR, 0);
    mmio_write(base + TIM_PSC, divisor - 1);
}

void stm32_timer_free_run(uintptr_t base, unsigned divisor)
{
    timer_stop(base, divisor);
    mmio_write(base + TIM_ARR, UINT32_MAX);
    mmio_write(base + TIM_EGR, EGR_UPDATE);
    mmio_write(base + TIM_CR1, CR1_URS | CR1_ENABLE);
}

void stm32_timer_once(uintptr_t base, unsigned divisor, uint32_t counts)
{
    timer_stop(base, divisor);
    if (counts) {
        mmio_write(base + TIM_ARR, counts);
        mmio_write(base + TIM_EGR, EGR_UPDATE);
        mmio_write(base + TIM_SR, 0);
        mmio_write(base + TIM_DIER, DIER_UPDATE);
        mmio_write(base + TIM_CR1, CR1_URS | CR1_ONE_PULSE | CR1_ENABLE);
    }
}
