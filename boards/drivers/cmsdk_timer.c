/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CMSDK APB timer as a free-running 32-bit down counter: the trace clock of Cortex-M boards
 * that have it. It is read directly (TRACE_CLOCK_REG of board.mk); this only starts it, once, at
 * boot.
 */
#include "boards/drivers/cmsdk.h"
#include "boards/board.h"

#define TIMER_CTRL 0x00
#define TIMER_VALUE 0x04
#define TIMER_RELOAD 0x08
#define CTRL_ENABLE 1u

void cmsdk_timer_free_run(uintptr_t base)
{
    mmio_write(base + TIMER_CTRL, 0);
    mmio_write(base + TIMER_RELOAD, 0xffffffffu);
    mmio_write(base + TIMER_VALUE, 0xffffffffu);
    mmio_write(base + TIMER_CTRL, CTRL_ENABLE);
}
