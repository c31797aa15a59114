/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers that assembler and C share: kinds of a context and the exception priorities. Offsets in
 * structs are generated from offsets.c.
 */
#ifndef ARMV7M_SHARED_H
#define ARMV7M_SHARED_H

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
 * once, and any other exception that the faulting instruction pended is cleared. Faults have a
 * higher priority than calls so that a stacking error of a call is handled before the call reads
 * the frame.
 */
#define PRIORITY_SAMPLE 0x40
#define PRIORITY_IRQ 0x80
#define PRIORITY_FAULT 0xc0
#define PRIORITY_KERNEL 0xe0

#define EXC_RETURN_THREAD 0xfffffffd /* return to thread mode, process stack, no FP frame */
#define EXC_RETURN_TO_THREAD 0x8
#define EXC_RETURN_NO_FP 0x10
#define EXC_RETURN_LEAST 0xffffffe0 /* there is no code at or above this address */

#define KERNEL_STACK 8192
#define LONG_STACK 4096            /* of long calls */
#define KERNEL_STACK_GUARD_LOG2 10 /* below the stack: mpu.c */
#define EMERGENCY_STACK 2048       /* for the panic of a stack overflow */

#endif
