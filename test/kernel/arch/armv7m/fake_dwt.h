/* SPDX-License-Identifier: BSD-2-Clause */
/* Stands for kernel/arch/armv7m/count/dwt.h: registers that are
 * test/kernel/arch/armv7m/dwt_test.c's. */
#ifndef ARMV7M_DWT_H
#define ARMV7M_DWT_H

#include <stdint.h>

enum fake_dwt { DEMCR, DWT_CTRL, DWT_CYCCNT, DWT_REGISTERS };
#define DEMCR_TRCENA (1u << 24)
#define DWT_CTRL_CYCCNTENA (1u << 0)
#define DWT_CTRL_NOCYCCNT (1u << 25)

uint32_t dwt_read(enum fake_dwt reg);
void dwt_write(enum fake_dwt reg, uint32_t value);

#endif
