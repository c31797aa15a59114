/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers that assembler and C share: kinds of a context and the exception priorities. Offsets in
 * structs are generated from offsets.c.
 */
#ifndef ARMV7M_SHARED_H
#define ARMV7M_SHARED_H

/* ctx.kind */
#define CTX_KIND_INTERRUPTED 0 /* it goes on as it was */
#define CTX_KIND_CALL 1        /* result and error go to r0 and r1 at resume */
#define CTX_KIND_BAD_FRAME 2   /* its exception frame can't be used: the process dies at resume */

/*
 * Four levels; only the top three bits count, as on silicon. Interrupts are open in the kernel.
 * The kernel masks them by BASEPRI, which leaves the sampling interrupt open (sample.c); PRIMASK is
 * for what even that must not interrupt: the log's writer, waiting, and sample.c itself.
 * Faults of threads run the kernel like calls do and exclude them: a thread can't call and fault at
 * once, and what it had pended is cleared. They are above calls so that a stacking error of a call
 * is handled before the call reads the frame.
 */
#define PRIORITY_SAMPLE 0x40
#define PRIORITY_IRQ 0x80
#define PRIORITY_FAULT 0xc0
#define PRIORITY_KERNEL 0xe0

#define EXC_RETURN_THREAD 0xfffffffd /* to thread mode, process stack, no FP frame */
#define EXC_RETURN_TO_THREAD 0x8
#define EXC_RETURN_NO_FP 0x10
#define EXC_RETURN_LEAST 0xffffffe0 /* no code is there */

#define KERNEL_STACK 8192

#endif
