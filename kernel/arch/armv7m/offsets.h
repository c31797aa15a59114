/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constants shared by assembler and C: offsets in struct arch_context (asserted in ops.h) and the
 * exception priorities.
 */
#ifndef ARMV7M_OFFSETS_H
#define ARMV7M_OFFSETS_H

#define CTX_RESULT 76 /* result, error: in this order, then the registers saved at entry */
#define CTX_SAVED 84  /* kind, psp, r4-r11, exc_return: in this order */
#define CTX_BYTES 128

/* ctx.kind */
#define CTX_KIND_INTERRUPTED 0 /* resumes unchanged */
#define CTX_KIND_CALL 1        /* resume loads result and error into r0 and r1 */
#define CTX_KIND_BAD_FRAME 2   /* the exception frame is unusable: resume kills the process */

/*
 * Four levels; only the top three bits count, as on silicon. The kernel runs with interrupts
 * enabled. The kernel masks them with BASEPRI, which leaves the sampling interrupt enabled
 * (sample.c). PRIMASK is for code that not even sampling may interrupt: the log's writer, idle
 * waiting, and sample.c itself.
 *
 * Faults of threads run the kernel like calls do and exclude them: a thread can't call and fault at
 * once, and whatever else the faulting instruction pended is cleared. Faults have a higher priority
 * than calls so that a stacking error of a call is handled before the call reads the frame.
 */
#define PRIORITY_SAMPLE 0x40
#define PRIORITY_IRQ 0x80
#define PRIORITY_FAULT 0xc0
#define PRIORITY_KERNEL 0xe0

#define EXC_RETURN_THREAD 0xfffffffd /* return to thread mode, process stack, no FP frame */
#define EXC_RETURN_TO_THREAD 0x8
#define EXC_RETURN_NO_FP 0x10
#define EXC_RETURN_LEAST 0xffffffe0 /* no code lies at or above this address */

#define FRAME_PC 24
#define FRAME_BYTES 32 /* r0-r3, r12, lr, pc, xPSR */
#define PORT_IDLE 8    /* offset in struct armv7m_port */
#define KERNEL_STACK 8192

#endif
