/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every entry into the kernel and the one exit. Interrupts are masked from entry to resume, except
 * for two windows of the kernel's own (apic.c).
 *
 * While a program runs, the GS base that SWAPGS exchanges is this CPU's struct x86_cpu, which
 * refers to the running thread. A kernel call saves only the registers that it must preserve for
 * the caller: rbx, rbp, r12-r15, rsp, rip and flags; rax and rdx return value and errno, and the
 * rest is 0, so that nothing of the kernel's leaks. Everything else that interrupts a program saves
 * all registers.
 *
 * The registers that a call preserves are in the context before C begins, and are restored from
 * there: kernel_call(), those of MsgSendv and MsgReceivev, and functions that they only jump to may
 * change any register (board.mk: FLAGS_ of the fast path). MsgReplyv's may not, because the same
 * thread continues after it.
 */
#include ARCH_OFFSETS_H
#include "kernel/arch/x86_64/shared.h"

/* The registers that C does not preserve, as they are in the frames of an interrupted kernel:
 * X86_FRAME_RIP. pop_called also pops rbp, which is pushed last. */
    .macro push_called
    .irp register, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
    push %\register
    .endr
    .endm
    .macro pop_called
    .irp register, rbp, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
    pop %\register
    .endr
    .endm

    .text
/* The registers that a C function preserves: saved only for code that doesn't. */
    .macro save_kept
    mov %rbx, CTX_R(RBX)(%r9)
    mov %rbp, CTX_R(RBP)(%r9)
    mov %r12, CTX_R(12)(%r9)
    mov %r13, CTX_R(13)(%r9)
    mov %r14, CTX_R(14)(%r9)
    mov %r15, CTX_R(15)(%r9)
    .endm
    .macro load_kept
    mov CTX_R(RBX)(%rax), %rbx
    mov CTX_R(RBP)(%rax), %rbp
    mov CTX_R(12)(%rax), %r12
    mov CTX_R(13)(%rax), %r13
    mov CTX_R(14)(%rax), %r14
    mov CTX_R(15)(%rax), %r15
    .endm

/* Loads the registers that SYSRET needs, of the thread in rax. Other registers that the kernel has
 * used are set to 0, so that nothing leaks: rax, rdx and rsi are left to do. */
    .macro load_return
    mov CTX_RIP(%rax), %rcx
    mov CTX_RFLAGS(%rax), %r11
    mov CTX_R(RSP)(%rax), %rsp
    xor %edi, %edi
    xor %r8d, %r8d
    xor %r9d, %r9d
    xor %r10d, %r10d
    .endm

    .text
/* SYSCALL: rcx has rip, r11 the flags; the words of the call are in rdi, rsi, rdx, r10, r8 and rbx,
 * and r9 is unused. The stack pointer is the program's for three instructions. An NMI or a machine
 * check, which may occur meanwhile, has a stack of its own. */
    .balign 16
    .global x86_syscall
    .type x86_syscall, @function
x86_syscall:
    swapgs
    mov %gs:CPU_THREAD, %r9
    mov %rsp, CTX_R(RSP)(%r9)
    mov %gs:CPU_STACK, %rsp
    mov %rcx, CTX_RIP(%r9)
    mov %r11, CTX_RFLAGS(%r9)
    cmp $X86_CALLS, %rax
    jae x86_call_any
    jmp *x86_calls(, %rax, 8)

    .balign 16
    .global x86_call_any
x86_call_any:
    mov %rdi, THREAD_ARGS(%r9)
    mov %rsi, THREAD_ARGS+8(%r9)
    mov %rdx, THREAD_ARGS+16(%r9)
    mov %r10, THREAD_ARGS+24(%r9)
    mov %r8, THREAD_ARGS+32(%r9)
    mov %rbx, THREAD_ARGS+40(%r9)
    mov %eax, %esi
.Lcall_stored: /* a part of x86_call_any: no symbol of its own */
    save_kept
    mov %r9, %rdi
    xor %ebp, %ebp
    call kernel_call
    jmp x86_resume

    .balign 16
    .global x86_call_receive
x86_call_receive:
    save_kept
    mov %r10, %rcx
    call kernel_call_receive
    /* falls through */

/* rax: the thread to run; its address space is set. */
    .global x86_resume
x86_resume:
    mov %rax, %gs:CPU_THREAD
    cmpl $CTX_KIND_CALL, CTX_KIND(%rax)
    jne x86_resume_full
    load_kept
    load_return
    mov CTX_R(RDX)(%rax), %rdx
    mov CTX_R(RAX)(%rax), %rax
    xor %esi, %esi
    swapgs
    sysretq

    .balign 16
    .global x86_call_reply
x86_call_reply:
    mov %r10, %rcx
    call kernel_call_reply
    test %rax, %rax
    jz 1f
    load_return
    xor %eax, %eax
    xor %edx, %edx
    xor %esi, %esi
    swapgs
    sysretq
1:  mov %gs:CPU_THREAD, %r9
    mov $X86_CALL_REPLY, %esi
    jmp .Lcall_stored

    .balign 16
    .global x86_call_send
x86_call_send:
    save_kept
    mov %r10, %rcx
    call kernel_call_send
    test %rdx, %rdx
    jz x86_resume
    mov %rax, %gs:CPU_THREAD
    load_kept
    load_return
    mov %rdx, %rax
    xor %edx, %edx
    xor %esi, %esi
    swapgs
    sysretq

x86_resume_full:
    movq $CTX_KIND_CALL, CTX_KIND(%rax) /* until it is interrupted again: calls don't set it */
    mov %gs:CPU_STACK, %rsp
    pushq $SEL_USER_DATA
    pushq CTX_R(RSP)(%rax)
    pushq CTX_RFLAGS(%rax)
    pushq $SEL_USER_CODE
    pushq CTX_RIP(%rax)
    mov CTX_R(RCX)(%rax), %rcx
    mov CTX_R(RDX)(%rax), %rdx
    mov CTX_R(RBX)(%rax), %rbx
    mov CTX_R(RBP)(%rax), %rbp
    mov CTX_R(RSI)(%rax), %rsi
    mov CTX_R(RDI)(%rax), %rdi
    mov CTX_R(8)(%rax), %r8
    mov CTX_R(9)(%rax), %r9
    mov CTX_R(10)(%rax), %r10
    mov CTX_R(11)(%rax), %r11
    mov CTX_R(12)(%rax), %r12
    mov CTX_R(13)(%rax), %r13
    mov CTX_R(14)(%rax), %r14
    mov CTX_R(15)(%rax), %r15
    mov CTX_R(RAX)(%rax), %rax
    swapgs
    iretq
    .size x86_syscall, . - x86_syscall

/* An exception or interrupt. On the stack: vector, error code (or 0), then the words that the CPU
 * pushed. */
    .type x86_entry, @function
x86_entry:
    cld
    testb $3, 24(%rsp)
    jz x86_entry_in_kernel
    testl $RFLAGS_AC, 32(%rsp)
    jz 1f
    pushfq /* only SYSCALL clears AC, which would lift SMAP; CLAC is not in every CPU */
    andl $~RFLAGS_AC, (%rsp)
    popfq
1:  swapgs
    mov %rax, %gs:CPU_SCRATCH
    mov %gs:CPU_THREAD, %rax
    mov %rcx, CTX_R(RCX)(%rax)
    mov %rdx, CTX_R(RDX)(%rax)
    mov %rbx, CTX_R(RBX)(%rax)
    mov %rbp, CTX_R(RBP)(%rax)
    mov %rsi, CTX_R(RSI)(%rax)
    mov %rdi, CTX_R(RDI)(%rax)
    mov %r8, CTX_R(8)(%rax)
    mov %r9, CTX_R(9)(%rax)
    mov %r10, CTX_R(10)(%rax)
    mov %r11, CTX_R(11)(%rax)
    mov %r12, CTX_R(12)(%rax)
    mov %r13, CTX_R(13)(%rax)
    mov %r14, CTX_R(14)(%rax)
    mov %r15, CTX_R(15)(%rax)
    mov %gs:CPU_SCRATCH, %rcx
    mov %rcx, CTX_R(RAX)(%rax)
    mov 16(%rsp), %rcx
    mov %rcx, CTX_RIP(%rax)
    mov 32(%rsp), %rcx
    mov %rcx, CTX_RFLAGS(%rax)
    mov 40(%rsp), %rcx
    mov %rcx, CTX_R(RSP)(%rax)
    movq $CTX_KIND_FULL, CTX_KIND(%rax)
    mov (%rsp), %esi
    mov 8(%rsp), %rdx
    mov %rax, %rdi
    mov %gs:CPU_STACK, %rsp
    xor %ebp, %ebp
    call x86_trap_from_user
    jmp x86_resume

x86_entry_in_kernel:
    cmpl $VECTOR_EXCEPTIONS, (%rsp)
    jae 1f
    cmpl $VECTOR_BREAKPOINT, (%rsp)
    jne x86_entry_fatal
1:  push_called
    mov 72(%rsp), %edi
    push %rbp
    mov %rsp, %rbp /* the frame: X86_FRAME_RIP */
    and $-16, %rsp /* it was aligned when the CPU pushed */
    cmp $VECTOR_BREAKPOINT, %edi
    je 2f
    call x86_irq_in_kernel
    .global x86_irq_back
x86_irq_back:
    mov $1, %al
    jmp 3f
2:  mov %rbp, %rdi
    call x86_breakpoint /* false: it can't be handled */
    .global x86_breakpoint_back
x86_breakpoint_back:
3:  mov %rbp, %rsp
    test %al, %al
    pop_called
    jz x86_entry_fatal /* the flags are still those of the test */
    add $16, %rsp
    iretq

/* An exception of the kernel itself, or in the entry code, where the GS base is still the
 * program's: a kernel address is negative. */
x86_entry_fatal:
    sub $PANIC_FRAME, %rsp
    mov %rax, RAX*8(%rsp)
    mov %rcx, RCX*8(%rsp)
    mov %rdx, RDX*8(%rsp)
    mov %rbx, RBX*8(%rsp)
    mov %rbp, RBP*8(%rsp)
    mov %rsi, RSI*8(%rsp)
    mov %rdi, RDI*8(%rsp)
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    mov %r\n, \n*8(%rsp)
    .endr
    mov PANIC_FRAME+40(%rsp), %rax
    mov %rax, RSP*8(%rsp)
    mov PANIC_FRAME+16(%rsp), %rax
    mov %rax, 128(%rsp)
    mov PANIC_FRAME+32(%rsp), %rax
    mov %rax, 136(%rsp)
    mov PANIC_FRAME(%rsp), %rax
    mov %rax, 144(%rsp)
    mov PANIC_FRAME+8(%rsp), %rax
    mov %rax, 152(%rsp)
    mov $MSR_GS_BASE, %ecx
    rdmsr
    test %edx, %edx
    js 1f
    swapgs
1:  mov %rsp, %rdi
    and $-16, %rsp
    xor %ebp, %ebp
    call x86_fatal
    .size x86_entry, . - x86_entry

/* An NMI: it may interrupt even the entry code, where the GS base is the program's, and has a stack
 * of its own. Its frame is like that of a breakpoint. */
    .type x86_nmi_entry, @function
x86_nmi_entry:
    push_called
    push %rbp
    mov %rsp, %rbp
    push %rbx
    cld
    xor %ebx, %ebx
    mov $MSR_GS_BASE, %ecx
    rdmsr
    test %edx, %edx
    js 1f
    swapgs
    inc %ebx
1:  mov %rbp, %rdi
    and $-16, %rsp
    call x86_nmi /* false: it is unexpected */
    test %ebx, %ebx
    jz 2f
    swapgs
2:  mov -8(%rbp), %rbx
    mov %rbp, %rsp
    test %al, %al
    pop_called
    jz x86_entry_fatal
    add $16, %rsp
    iretq
    .size x86_nmi_entry, . - x86_nmi_entry

/* The entries of all vectors, 16 bytes each. For exceptions with an error code the CPU pushes it:
 * 8, 10-14, 17, 21, 29, 30. */
    .balign 16
    .global x86_vectors
    .type x86_vectors, @object
x86_vectors:
    .set vector, 0
    .rept 256
    .balign 16
    .if (0x60227d00 >> (vector & 31)) & (vector < 32) & 1
    .else
    pushq $0
    .endif
    pushq $vector
    .if vector == VECTOR_NMI
    jmp x86_nmi_entry
    .else
    jmp x86_entry
    .endif
    .set vector, vector + 1
    .endr

/* kernel_panic(format, ...): saves all registers unchanged, for arch_panic_registers(). */
    .global kernel_panic
    .type kernel_panic, @function
kernel_panic:
    mov %rax, x86_panicked+RAX*8
    mov %rcx, x86_panicked+RCX*8
    mov %rdx, x86_panicked+RDX*8
    mov %rbx, x86_panicked+RBX*8
    mov %rbp, x86_panicked+RBP*8
    mov %rsi, x86_panicked+RSI*8
    mov %rdi, x86_panicked+RDI*8
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    mov %r\n, x86_panicked+\n*8
    .endr
    lea 8(%rsp), %rax
    mov %rax, x86_panicked+RSP*8
    mov (%rsp), %rax
    mov %rax, x86_panicked+128
    xor %eax, %eax
    jmp kernel_panicked
    .size kernel_panic, . - kernel_panic

/* The addresses where calls begin, by number, as arch_calls_direct(true) sets them. */
    .data
    .balign 8
    .global x86_calls
    .type x86_calls, @object
x86_calls:
    .set number, 0
    .rept X86_CALLS
    .if number == X86_CALL_SEND
    .quad x86_call_send
    .elseif number == X86_CALL_RECEIVE
    .quad x86_call_receive
    .elseif number == X86_CALL_REPLY
    .quad x86_call_reply
    .else
    .quad x86_call_any
    .endif
    .set number, number + 1
    .endr
    .size x86_calls, . - x86_calls

    .section .note.GNU-stack, "", @progbits
