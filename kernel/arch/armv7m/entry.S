/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARMv7-M: every entry into the kernel and the one exit.
 *
 * SVC (kernel calls) and PendSV (kernel exit after interrupts) have the lowest priority, faults are
 * one above, interrupts above those: so the kernel is not re-entered, and interrupts stay enabled
 * in it. The kernel stack is empty whenever a thread runs. Offsets: offsets.c. Tested by
 * test/board/armv7m; counted by `make bench`.
 */
#include ARCH_OFFSETS_H
#include "kernel/arch/armv7m/shared.h"

    .syntax unified
    .thumb

/* An instruction that may fault, and the address at which the fault handler then continues the
 * kernel. */
.macro fixup insn, target
    .pushsection fixups, "a", %progbits
    .balign 4
    .word \insn, \target
    .popsection
.endm

/* Saves the running thread; leaves r12 after its context and r2 = its stack pointer. */
.macro save_thread kind
    ldr     r12, =armv7m_port
    movs    r1, #\kind
    ldr     r12, [r12]
    mrs     r2, psp
    stmia   r12!, {r1, r2, r4-r11, lr}
.endm

.macro entry name
    .section .text.\name, "ax", %progbits
    .balign 4
    .global \name
    .type   \name, %function
    .thumb_func
\name:
.endm

/* A kernel call: number in r12, arguments in r0-r5, of which all but r4 and r5 are taken from the
 * frame. */
entry armv7m_svc
    save_thread CTX_KIND_CALL
svc_arguments:
    ldmia   r2, {r0-r3, r6}
    stmia   r12, {r0-r5}
    sub     r0, r12, #CTX_BYTES
    mov     r1, r6
    bl      kernel_call
    /* falls into armv7m_resume */

/* r0: the thread to resume. Its frame is its own memory, so it is written with the thread's own
 * rights. */
    .global armv7m_resume
    .type   armv7m_resume, %function
    .thumb_func
armv7m_resume:
    adds    r0, #CTX_RESULT
    ldmia   r0!, {r1-r4}
    cbz     r3, 1f
    cmp     r3, #CTX_KIND_CALL
    bne     bad_frame
result_value:
    strt    r1, [r4]
result_error:
    strt    r2, [r4, #4]
1:  msr     psp, r4
    ldmia   r0, {r4-r11, lr}
    bx      lr

    /* The thread at r0 - (CTX_SAVED + 8) has no usable frame: its process ends. */
bad_frame:
    subs    r0, #CTX_SAVED + 8
    bl      armv7m_bad_frame
    b       armv7m_resume

    /* The frame was stacked to memory that can't be read back. */
bad_arguments:
    sub     r0, r12, #CTX_BYTES
    bl      armv7m_bad_frame
    b       armv7m_resume

    fixup   svc_arguments, bad_arguments
    fixup   result_value, bad_frame
    fixup   result_error, bad_frame

entry armv7m_pendsv
    save_thread CTX_KIND_INTERRUPTED
    sub     r0, r12, #CTX_BYTES
    bl      kernel_exit
    b       armv7m_resume

/* Memory, bus and usage faults; and boot, which pends one to enter the kernel. */
entry armv7m_fault
    tst     lr, #EXC_RETURN_TO_THREAD
    beq     armv7m_fault_in_kernel
    save_thread CTX_KIND_INTERRUPTED
    sub     r0, r12, #CTX_BYTES
    bl      armv7m_thread_fault
    b       armv7m_resume

/* HardFault, also for a fault that the CPU can't take, and for a breakpoint without a debugger. */
entry armv7m_hardfault
    tst     lr, #EXC_RETURN_TO_THREAD
    beq     armv7m_fault_in_kernel
    b       armv7m_thread_hardfault

/* armv7m_kernel_fault(frame, r4-r11). After a stack overflow, which leaves no frame,
 * armv7m_stack_overflow(sp, r4-r11), on a stack of its own. */
entry armv7m_fault_in_kernel
    mov     r0, sp
    ldr     r1, =kernel_stack_low
    cmp     r0, r1
    blo     stack_overflow
    push    {r3-r11, lr}
    add     r1, sp, #4
    bl      armv7m_kernel_fault
    pop     {r3-r11, pc}
stack_overflow:
    ldr     r1, =emergency_stack_top
    mov     sp, r1
    push    {r3-r11, lr}
    add     r1, sp, #4
    bl      armv7m_stack_overflow
    .ltorg

/* armv7m_watchdog(frame, r4-r11, of a thread): never returns. */
entry armv7m_nmi
    ands    r2, lr, #EXC_RETURN_TO_THREAD
    ite     eq
    moveq   r0, sp
    mrsne   r0, psp
    push    {r3-r11, lr}
    add     r1, sp, #4
    bl      armv7m_watchdog

/* kernel_panic(format, ...): saves all registers unchanged, for arch_panic_registers(). */
entry kernel_panic
    ldr     r12, =armv7m_panicked
    stmia   r12!, {r0-r11}
    str     sp, [r12, #4]
    str     lr, [r12, #8]
    b       kernel_panicked
    .ltorg

/*
 * handler(irq, ip, in_kernel), from interrupt level: ip is 0 if the CPU was idle. A thread's pc is
 * read with the thread's rights: its stack may be wild.
 */
.macro interrupt handler
    mrs     r0, ipsr
    subs    r0, #16
    tst     lr, #EXC_RETURN_TO_THREAD
    beq     2f
    mrs     r1, psp
    movs    r2, #0
0:  ldrt    r1, [r1, #FRAME_PC]
    b       \handler
1:  movs    r1, #0
    b       \handler
2:  ldr     r3, =armv7m_port
    movs    r1, #0
    ldr     r3, [r3, #PORT_IDLE]
    eors    r2, r3, #1
    it      ne
    ldrne   r1, [sp, #FRAME_PC]
    b       \handler
    fixup   0b, 1b
    .ltorg
.endm

entry armv7m_irq
    interrupt intr_entry

entry armv7m_systick
    interrupt armv7m_systick_entered

/* The interrupt that the sampling interrupt raises: sample.c. */
entry armv7m_sampled_irq
    interrupt intr_sample

/*
 * The sampling interrupt: arch_sample_taken(ip, stack, EXC_RETURN), not blocked by any mask. stack:
 * the kernel's, above the frame's eight words; NULL: a thread was interrupted. Its pc is 0 if its
 * stack can't be read.
 */
entry armv7m_sample
    tst     lr, #EXC_RETURN_TO_THREAD
    beq     2f
    mrs     r0, psp
    movs    r1, #0
0:  ldrt    r0, [r0, #FRAME_PC]
    b       arch_sample_taken
1:  movs    r0, #0
    b       arch_sample_taken
2:  ldr     r0, [sp, #FRAME_PC]
    add     r1, sp, #FRAME_BYTES
    mov     r2, lr
    b       arch_sample_taken
    fixup   0b, 1b

/*
 * int armv7m_fp_save(uint32_t fp[16]): s16-s31. The first FP instruction in the kernel also stores
 * s0-s15 in the thread's frame (lazy stacking): this may fault. Returns 1 if it did.
 */
    .fpu fpv4-sp-d16
entry armv7m_fp_save
fp_store:
    vstmia  r0, {s16-s31}
    movs    r0, #0
    bx      lr
fp_failed:
    movs    r0, #1
    bx      lr
    fixup   fp_store, fp_failed

/* void armv7m_fp_load(const uint32_t fp[16]) */
entry armv7m_fp_load
    vldmia  r0, {s16-s31}
    bx      lr

/* void armv7m_fp_clear(const uint32_t zeros[32]): so that one process's values don't leak to the
 * next. */
entry armv7m_fp_clear
    vldmia  r0, {s0-s31}
    bx      lr

/* long armv7m_semihost(long operation, const void *parameter); NOT_HERE (host.c) without a host. */
entry armv7m_semihost
semihosting:
    bkpt    0xab
    bx      lr
no_host:
    movw    r0, #0x8001
    movt    r0, #0xffff
    bx      lr
    fixup   semihosting, no_host

/* Reset: sets up memory for C, then calls C. */
entry _start
    cpsid   i
    ldr     r0, =__data_start
    ldr     r1, =__data_end
    ldr     r2, =__data_load
1:  cmp     r0, r1
    bhs     2f
    ldr     r3, [r2], #4
    str     r3, [r0], #4
    b       1b
2:  ldr     r0, =__bss_start
    ldr     r1, =__bss_end
    movs    r2, #0
3:  cmp     r0, r1
    bhs     4f
    str     r2, [r0], #4
    b       3b
4:  bl      armv7m_start
    b       .

    .section .vectors, "a", %progbits
    .balign 512
    .global armv7m_vectors
armv7m_vectors:
    .word   kernel_stack_top, _start, armv7m_nmi, armv7m_hardfault
    .word   armv7m_fault, armv7m_fault, armv7m_fault, 0, 0, 0, 0
    .word   armv7m_svc, armv7m_hardfault, 0, armv7m_pendsv, armv7m_systick
    .set    line, 0 /* lines of the board; two are the sampling interrupt's */
    .rept   CONFIG_IRQ_LINES
    .if     line == CONFIG_SAMPLE_IRQ
    .word   armv7m_sample
    .elseif line == CONFIG_SAMPLED_IRQ
    .word   armv7m_sampled_irq
    .else
    .word   armv7m_irq
    .endif
    .set    line, line + 1
    .endr

    .section .stack, "aw", %nobits
    .balign 1 << KERNEL_STACK_GUARD_LOG2
    .global kernel_stack_guard
kernel_stack_guard:
    .space  1 << KERNEL_STACK_GUARD_LOG2
    .global kernel_stack_low
kernel_stack_low:
    .space  KERNEL_STACK
    .global kernel_stack_top
kernel_stack_top:

    .section .bss.emergency_stack, "aw", %nobits
    .balign 8
    .space  EMERGENCY_STACK
emergency_stack_top:

    .section .note.GNU-stack, "", %progbits
