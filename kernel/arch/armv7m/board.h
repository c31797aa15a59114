/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this CPU port needs of a board beside kernel/arch/arch.h. Boards get it through
 * kernel/arch/arch.h.
 *
 * A timer for the sampling interrupt, and two lines of the NVIC (board.mk): CONFIG_SAMPLE_IRQ is
 * the timer's, CONFIG_SAMPLED_IRQ one that no device raises. The timer counts cycles of the trace
 * clock.
 */
#ifndef KERNEL_ARCH_ARMV7M_BOARD_H
#define KERNEL_ARCH_ARMV7M_BOARD_H

#include <stdint.h>

/* Raises its line once, after so many cycles (at least 1). 0: not at all. What it had raised is
 * taken back. */
void armv7m_board_sample_after(uint32_t cycles);

#endif
