/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers that the assembler and the C of this port share. Included from .S files, so preprocessor
 * only. Offsets in structs are generated from offsets.c.
 */
#ifndef KERNEL_ARCH_AARCH64_SHARED_H
#define KERNEL_ARCH_AARCH64_SHARED_H

/* Kernel address of physical 0: RAM and the board's devices are mapped there linearly. */
#define KERNEL_VIRT 0xffffff8000000000
/* Offset of a second, writable mapping of the kernel's text from the first. */
#define KERNEL_TEXT_ALIAS 0x4000000000

/* struct arch_context */
#define CTX_X(n) (CTX_X0 + (n)*8)
#define CTX_KIND_CALL 0 /* x2-x18 are older than the other registers */
#define CTX_KIND_FULL 1

#define A64_MAX_CPUS 8
#define KERNEL_STACK_SIZE 16384 /* per CPU */
#define KERNEL_STACK_GUARD 4096 /* unmapped, below each stack */
#define EMERGENCY_STACK_SHIFT 12
#define EMERGENCY_STACK_SIZE (1 << EMERGENCY_STACK_SHIFT)

#define A64_PROBE_FRAME 176 /* bytes saved by a function probe: probe/calls.S */

#define A64_STEP_SLOTS_BYTES 16384 /* of displaced instructions: step/step.c */

#define A64_FIQ_FRAME 176 /* bytes saved by FIQ in the kernel: vectors.S */
#define A64_FIQ_X30 152   /* offset of x30 in it */
#define DAIF_F 1          /* F bit of daifset and daifclr */

#define SPSR_EL0 0x0 /* EL0t, no exception masked */
#define ESR_SVC0 0x56000000

/* Memory types: MAIR_EL1 index */
#define MAIR_DEVICE 0
#define MAIR_NORMAL 1
#define MAIR_VALUE 0xff00 /* 0: device nGnRnE, 1: normal write-back */

#endif
