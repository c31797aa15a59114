/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Included before each file whose functions have pads (FBT_PADDED in scripts/board.mk). The
 * compiler writes the NOPs before a file's first function ahead of its own .syntax: without this
 * line the assembler would take them for those of the old syntax, which are moves.
 */
#ifndef KERNEL_ARCH_ARMV7M_PADS_H
#define KERNEL_ARCH_ARMV7M_PADS_H

__asm__(".syntax unified");

#endif
