/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interface between this CPU port and its boards, in addition to kernel/arch/board.h and
 * kernel/arch/irq.h.
 *
 * The sampling interrupt needs a timer that counts cycles of the trace clock, and two lines of the
 * NVIC (board.mk): CONFIG_SAMPLE_IRQ is the timer's, CONFIG_SAMPLED_IRQ one that no device raises.
 */
#ifndef KERNEL_ARCH_ARMV7M_BOARD_H
#define KERNEL_ARCH_ARMV7M_BOARD_H

#include <stdint.h>

/* Raises the timer's line once, after `cycles` cycles (at least 1); 0 disables it. Cancels an
 * interrupt that is already pending. */
void armv7m_board_sample_after(uint32_t cycles);

#endif
