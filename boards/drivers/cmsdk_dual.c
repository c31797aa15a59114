/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first timer of the CMSDK's dual timer as a one-shot timer of 32 bits: the sampling interrupt
 * of Cortex-M boards that have it. Source: Arm DDI 0479. Caller: kernel/arch/armv7m/sample.c, which
 * is never interrupted.
 */
#include "boards/board.h"
#include "boards/drivers/cmsdk.h"

#define DUAL_LOAD 0x00
#define DUAL_CONTROL 0x08
#define DUAL_INTCLR 0x0c
#define CONTROL_ONE_SHOT 1u
#define CONTROL_32_BITS 2u
#define CONTROL_INTERRUPT 0x20u
#define CONTROL_ENABLE 0x80u

void cmsdk_dual_once(uintptr_t base, uint32_t cycles)
{
    mmio_write(base + DUAL_CONTROL, 0);
    mmio_write(base + DUAL_INTCLR, 1);
    if (cycles) {
        mmio_write(base + DUAL_LOAD, cycles);
        mmio_write(base + DUAL_CONTROL,
                   CONTROL_ENABLE | CONTROL_INTERRUPT | CONTROL_32_BITS | CONTROL_ONE_SHOT);
    }
}
