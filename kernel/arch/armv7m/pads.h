/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Included before each file whose functions have pads (FBT_PADDED in scripts/board.mk). The
 * compiler emits the NOPs of a file's first function before its own .syntax directive: without this
 * line the assembler would assemble them in the old syntax, as moves.
 */
#ifndef KERNEL_ARCH_ARMV7M_PADS_H
#define KERNEL_ARCH_ARMV7M_PADS_H

__asm__(".syntax unified");

#endif
