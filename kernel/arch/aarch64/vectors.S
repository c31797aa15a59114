/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every entry into the kernel and the one exit. Interrupts are masked from entry to resume; FIQ,
 * which is the sampling interrupt (sample.c), only while the registers of an exception are in use:
 * from entry until they are saved, and from where ELR is loaded until eret.
 *
 * While a program runs, SP_EL1 is the top of this CPU's stack less 16 bytes, and [sp] is the
 * running thread. A kernel call saves only the registers that it must preserve for the caller:
 * x19-x30, sp, pc and flags; x0 and x1 return value and errno. Everything else that interrupts a
 * program saves all registers. The exit loads them all.
 *
 * eret clears the local exclusive monitor (Arm DDI 0487, B2.9): a program's ldxr is never paired
 * with a stxr after the kernel, or another thread, has run in between. No clrex is needed.
 */
#include ARCH_OFFSETS_H
#include "kernel/arch/aarch64/shared.h"

    .section .text.vectors, "ax", %progbits

/* EL1's own exceptions: they never return, except for the probe for a missing debugger. */
    .macro from_el1 kind
    .balign 128
    msr tpidrro_el0, x0
    mov x0, #\kind
    b a64_el1_exception
    .endm

    .macro from_el0_full handler
    .balign 128
    stp x16, x17, [sp, #-16]
    ldr x16, [sp]
    b \handler
    .endm

    .balign 2048
    .global a64_vectors
a64_vectors:
    from_el1 0
    from_el1 1
    from_el1 2
    from_el1 3
    from_el1 4
    from_el1 5
    .balign 128 /* FIQ */
    sub sp, sp, #A64_FIQ_FRAME
    b a64_fiq_in_kernel
    from_el1 7

    .balign 128 /* EL0, synchronous */
    stp x16, x17, [sp, #-16]
    mrs x17, esr_el1
    mov w16, #ESR_SVC0
    cmp x17, x16
    ldr x16, [sp]
    b.ne a64_entry_fault
    /* x16: thread. The arguments are stored first, because they are beyond the reach of stp from
     * x16. */
    add x17, x16, #THREAD_ARGS
    stp x0, x1, [x17]
    stp x2, x3, [x17, #16]
    stp x4, x5, [x17, #32]
    stp x19, x20, [x16, #CTX_X(19)]
    stp x21, x22, [x16, #CTX_X(21)]
    stp x23, x24, [x16, #CTX_X(23)]
    stp x25, x26, [x16, #CTX_X(25)]
    stp x27, x28, [x16, #CTX_X(27)]
    stp x29, x30, [x16, #CTX_X(29)]
    mrs x9, sp_el0
    mrs x10, elr_el1
    mrs x11, spsr_el1
    stp x9, xzr, [x16, #CTX_SP] /* and CTX_KIND_CALL */
    stp x10, x11, [x16, #CTX_ELR]
    msr daifclr, #DAIF_F
    mov x0, x16
    mov w1, w8
    bl kernel_call
    b a64_resume

    from_el0_full a64_entry_irq
    from_el0_full a64_entry_fiq
    from_el0_full a64_entry_other /* SError */
    .rept 4 /* AArch32 programs: impossible */
    from_el0_full a64_entry_other
    .endr
    .balign 128

/* x16: thread; x16, x17 below the stack pointer. Saves the rest, leaves x0 = x19 = thread. */
    .macro save_full
    stp x0, x1, [x16, #CTX_X(0)]
    ldp x0, x1, [sp, #-16]
    stp x2, x3, [x16, #CTX_X(2)]
    stp x4, x5, [x16, #CTX_X(4)]
    stp x6, x7, [x16, #CTX_X(6)]
    stp x8, x9, [x16, #CTX_X(8)]
    stp x10, x11, [x16, #CTX_X(10)]
    stp x12, x13, [x16, #CTX_X(12)]
    stp x14, x15, [x16, #CTX_X(14)]
    stp x0, x1, [x16, #CTX_X(16)]
    stp x18, x19, [x16, #CTX_X(18)]
    stp x20, x21, [x16, #CTX_X(20)]
    stp x22, x23, [x16, #CTX_X(22)]
    stp x24, x25, [x16, #CTX_X(24)]
    stp x26, x27, [x16, #CTX_X(26)]
    stp x28, x29, [x16, #CTX_X(28)]
    mrs x9, sp_el0
    mrs x10, elr_el1
    mrs x11, spsr_el1
    mov x12, #CTX_KIND_FULL
    str x30, [x16, #CTX_X(30)]
    stp x9, x12, [x16, #CTX_SP]
    stp x10, x11, [x16, #CTX_ELR]
    mov x0, x16
    .endm

a64_entry_irq:
    save_full
    msr daifclr, #DAIF_F
    bl a64_irq_from_user
    b a64_resume

a64_entry_fiq:
    save_full
    bl a64_fiq_from_user /* FIQ stays masked until it has been acknowledged at the controller */
    b a64_resume

a64_entry_fault:
    save_full
    msr daifclr, #DAIF_F
    mrs x1, esr_el1
    mrs x2, far_el1
    bl a64_fault_from_user
    b a64_resume

a64_entry_other:
    save_full
    msr daifclr, #DAIF_F
    mrs x1, esr_el1
    bl a64_other_from_user
    /* falls through */

/*
 * x0: the thread to run; its address space is set. After a kernel call x2-x18 have the values of
 * the thread's previous interruption: its own, so nothing of the kernel's leaks.
 */
    .global a64_resume
a64_resume:
    ldp x30, x18, [x0, #CTX_X(30)] /* and CTX_SP */
    str x0, [sp]
    msr sp_el0, x18
    ldp x2, x3, [x0, #CTX_X(2)]
    ldp x4, x5, [x0, #CTX_X(4)]
    ldp x6, x7, [x0, #CTX_X(6)]
    ldp x8, x9, [x0, #CTX_X(8)]
    ldp x10, x11, [x0, #CTX_X(10)]
    ldp x12, x13, [x0, #CTX_X(12)]
    ldp x14, x15, [x0, #CTX_X(14)]
    ldp x16, x17, [x0, #CTX_X(16)]
    ldp x18, x19, [x0, #CTX_X(18)]
    ldp x20, x21, [x0, #CTX_X(20)]
    ldp x22, x23, [x0, #CTX_X(22)]
    ldp x24, x25, [x0, #CTX_X(24)]
    ldp x26, x27, [x0, #CTX_X(26)]
    ldp x28, x29, [x0, #CTX_X(28)]
    /* as late as possible: a sample that waits here is attributed to the program */
    msr daifset, #DAIF_F
    ldr x1, [x0, #CTX_ELR]
    msr elr_el1, x1
    ldr x1, [x0, #CTX_SPSR]
    msr spsr_el1, x1
    ldp x0, x1, [x0, #CTX_X(0)]
    eret

/*
 * An FIQ in the kernel, at any point; its stack pointer is already A64_FIQ_FRAME lower. Saves all
 * registers that a C function may change, and ELR and SPSR, which the exception has already
 * changed.
 */
a64_fiq_in_kernel:
    stp x0, x1, [sp]
    stp x2, x3, [sp, #16]
    stp x4, x5, [sp, #32]
    stp x6, x7, [sp, #48]
    stp x8, x9, [sp, #64]
    stp x10, x11, [sp, #80]
    stp x12, x13, [sp, #96]
    stp x14, x15, [sp, #112]
    stp x16, x17, [sp, #128]
    stp x18, x30, [sp, #144]
    mrs x0, elr_el1
    mrs x1, spsr_el1
    stp x0, x1, [sp, #160]
    add x1, sp, #A64_FIQ_FRAME
    bl a64_fiq_from_kernel
    ldp x0, x1, [sp, #160]
    msr elr_el1, x0
    msr spsr_el1, x1
    ldp x18, x30, [sp, #144]
    ldp x16, x17, [sp, #128]
    ldp x14, x15, [sp, #112]
    ldp x12, x13, [sp, #96]
    ldp x10, x11, [sp, #80]
    ldp x8, x9, [sp, #64]
    ldp x6, x7, [sp, #48]
    ldp x4, x5, [sp, #32]
    ldp x2, x3, [sp, #16]
    ldp x0, x1, [sp]
    add sp, sp, #A64_FIQ_FRAME
    eret

/*
 * An exception of the kernel itself. x0: the vector; the old x0 is in TPIDRRO_EL0, and SP_EL0 is
 * free, because the program's is saved. The stack itself may have failed, so the report runs on
 * another. One such exception is expected: the semihosting trap where no debugger or emulator takes
 * it; it continues at a64_semihost_absent.
 */
a64_el1_exception:
    msr sp_el0, x1
    cmp x0, #4
    b.ne 1f
    mrs x0, elr_el1
    adrp x1, a64_semihost_trap
    add x1, x1, :lo12:a64_semihost_trap
    cmp x0, x1
    mov x0, #4
    b.ne 1f
    adrp x1, a64_semihost_absent
    add x1, x1, :lo12:a64_semihost_absent
    msr elr_el1, x1
    msr tpidrro_el0, xzr
    eret
1:  msr tpidr_el0, x2
    mrs x2, mpidr_el1
    and x2, x2, #(A64_MAX_CPUS - 1)
    add x2, x2, #1
    adrp x1, a64_emergency_stacks
    add x1, x1, :lo12:a64_emergency_stacks
    add x1, x1, x2, lsl #EMERGENCY_STACK_SHIFT
    mrs x2, tpidr_el0
    sub x1, x1, #FATAL_SIZE
    stp x2, x3, [x1, #CTX_X(2)]
    stp x4, x5, [x1, #CTX_X(4)]
    stp x6, x7, [x1, #CTX_X(6)]
    stp x8, x9, [x1, #CTX_X(8)]
    stp x10, x11, [x1, #CTX_X(10)]
    stp x12, x13, [x1, #CTX_X(12)]
    stp x14, x15, [x1, #CTX_X(14)]
    stp x16, x17, [x1, #CTX_X(16)]
    stp x18, x19, [x1, #CTX_X(18)]
    stp x20, x21, [x1, #CTX_X(20)]
    stp x22, x23, [x1, #CTX_X(22)]
    stp x24, x25, [x1, #CTX_X(24)]
    stp x26, x27, [x1, #CTX_X(26)]
    stp x28, x29, [x1, #CTX_X(28)]
    mov x2, sp
    stp x30, x2, [x1, #CTX_X(30)]
    mrs x2, tpidrro_el0
    mrs x3, sp_el0
    stp x2, x3, [x1, #CTX_X(0)]
    mov sp, x1
    mov x29, xzr
    mov x1, x0
    mov x0, sp
    bl a64_fatal

/* kernel_panic(format, ...): saves all registers unchanged, for arch_panic_registers(). Two CPUs
 * may panic at once: each has a record of its own. */
    .global kernel_panic
    .type kernel_panic, %function
kernel_panic:
    mrs x17, mpidr_el1
    and x17, x17, #(A64_MAX_CPUS - 1)
    adrp x16, a64_panicked
    add x16, x16, :lo12:a64_panicked
    add x16, x16, x17, lsl #8
    .if FATAL_SIZE != 1 << 8
    .error "the size of a64_panicked's elements"
    .endif
    stp x0, x1, [x16]
    stp x2, x3, [x16, #CTX_X(2)]
    stp x4, x5, [x16, #CTX_X(4)]
    stp x6, x7, [x16, #CTX_X(6)]
    stp x8, x9, [x16, #CTX_X(8)]
    stp x10, x11, [x16, #CTX_X(10)]
    stp x12, x13, [x16, #CTX_X(12)]
    stp x14, x15, [x16, #CTX_X(14)]
    stp x18, x19, [x16, #CTX_X(18)]
    stp x20, x21, [x16, #CTX_X(20)]
    stp x22, x23, [x16, #CTX_X(22)]
    stp x24, x25, [x16, #CTX_X(24)]
    stp x26, x27, [x16, #CTX_X(26)]
    stp x28, x29, [x16, #CTX_X(28)]
    mov x17, sp
    stp x30, x17, [x16, #CTX_X(30)]
    b kernel_panicked
    .size kernel_panic, . - kernel_panic

    .section .note.GNU-stack, "", %progbits
