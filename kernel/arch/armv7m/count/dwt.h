/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The counter of cycles in ARMv7-M's data watchpoint and trace unit (Arm DDI 0403, C1.8).
 * Privileged code only. test/kernel/arch/armv7m/fake_dwt.h replaces this header in a test.
 */
#ifndef ARMV7M_DWT_H
#define ARMV7M_DWT_H

#include "kernel/arch/armv7m/scb.h"

#define DEMCR 0xe000edfcu
#define DEMCR_TRCENA (1u << 24) /* the unit is enabled; reads 0 where there is none */
#define DWT_CTRL 0xe0001000u
#define DWT_CTRL_CYCCNTENA (1u << 0)
#define DWT_CTRL_NOCYCCNT (1u << 25)
#define DWT_CYCCNT 0xe0001004u

static inline uint32_t dwt_read(uint32_t address)
{
    return SCB(address);
}

static inline void dwt_write(uint32_t address, uint32_t value)
{
    SCB(address) = value;
}

#endif
