/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each class of instruction that a probe may displace: unsigned long step_branches(unsigned long),
 * step_moved(unsigned long), step_atomic(unsigned long *). What they return depends on every one of
 * them. test/board/pid.py probes all.
 */
    .text
    .macro function name
    .balign 16
    .global \name
    .type \name, @function
\name:
    .endm

function step_branches
    push %rbp
    mov %rsp, %rbp
    push %rbx
    push %r12
    mov %rdi, %rbx
    xor %eax, %eax
    jmp 1f
    add $1, %rax
1:  add $2, %rax
    call 2f
    .byte 0xe9 /* the long form */
    .long 3f - . - 4
2:  add $4, %rax
    ret
3:  lea 2b(%rip), %rcx
    call *%rcx
    call *step_word(%rip)
    mov $step_word, %ecx
    call *(%rcx)
    mov $1, %edx
    call *-8(%rcx,%rdx,8)
    mov $2b, %r9d
    call *%r9
    lea 4f(%rip), %rdx
    jmp *%rdx
    add $8, %rax
4:  cmp $3, %rbx
    je 5f
    ja 6f
    add $16, %rax
5:  add $32, %rax
6:  test %rbx, %rbx
    jz 7f
    add $64, %rax
7:  .byte 0x0f, 0x85 /* JNZ, the long form */
    .long 8f - . - 4
    add $128, %rax
8:  shr $1, %rbx
    jnc 9f
    add $256, %rax
9:  shr $1, %rbx
    jb 10f
    add $512, %rax
10: cmp $-1, %rbx
    jl 11f
    jp 11f
    jg 12f
    js 12f
    jo 12f
11: add $1024, %rax
12: mov $5, %ecx
13: add $3, %rax
    loop 13b
    jrcxz 14f
    add $2048, %rax
14: mov $4, %ecx
    cmp %ecx, %ecx
15: lea 7(%rax), %rax
    loope 15b
    mov $6, %ecx
    test %rsp, %rsp
16: lea 9(%rax), %rax
    loopne 16b
    stc
    pushfq
    pop %r12
    and $0x8d5, %r12d
    add %r12, %rax
    push $77
    push $99
    call 17f
    add step_long(%rip), %rax
    cmpl $0x1003, step_near(%rip)
    sete %dl
    movzbl %dl, %edx
    add %rdx, %rax
    jmp *step_end(%rip)
    add $4096, %rax
17: add 16(%rsp), %rax
    ret $16
18: pop %r12
    pop %rbx
    leave
    rep ret
    .size step_branches, . - step_branches

function step_moved
    push %rbx
    sub $64, %rsp
    mov %rdi, (%rsp)
    lea 5(%rdi), %rsi
    mov %rsi, %rax
    mul %rdi
    mov %rdx, %r8
    imul $0x1234567, %rsi, %r9
    adc $0, %r9
    bswap %r9
    shld $7, %r9, %r8
    ror $11, %r8
    setc %cl
    movzbl %cl, %ecx
    xchg %rcx, %r10
    cmovne %r8, %r10
    bts $5, %r10
    mov $0x123456789abcdef, %r11
    xor %r11, %r10
    xor %edx, %edx
    lea 3(%rdi), %rbx
    div %rbx
    add %rdx, %r10
    cqto
    mov %r10, 8(%rsp)
    movzbl 9(%rsp), %ebx
    movswq 10(%rsp), %rdx
    add %rbx, %r10
    add %rdx, %r10
    cvtsi2sd %rdi, %xmm0
    addsd step_double(%rip), %xmm0
    mulsd %xmm0, %xmm0
    cvttsd2si %xmm0, %rdx
    ucomisd step_double(%rip), %xmm0
    seta %bl
    add %rbx, %rdx
    movaps %xmm0, 16(%rsp)
    pshufd $0x1b, 16(%rsp), %xmm1
    paddd %xmm0, %xmm1
    movq %xmm1, %r8
    add %r8, %rdx
    fldl step_double(%rip)
    fadd %st(0), %st(0)
    fistpl 32(%rsp)
    add 32(%rsp), %edx
    lea 40(%rsp), %rdi
    cld
    mov %r10, %rax
    stosq
    lea 40(%rsp), %rsi
    lodsb
    cmpsb
    lahf
    sahf
    movzbl %ah, %eax
    add %rax, %rdx
    mov %fs:0, %rax
    sub %fs:0, %rax
    cmpxchg %rdx, 8(%rsp)
    xadd %rdx, 8(%rsp)
    push 8(%rsp)
    pop %rbx
    enter $16, $0
    leave
    mfence
    pause
    nopl 8(%rax)
    movabs step_long, %rax
    add %rbx, %rax
    add %r10, %rax
    xor %rdx, %rax
    add $64, %rsp
    pop %rbx
    ret
    .size step_moved, . - step_moved

function step_atomic
    mov $1, %eax
    lock xadd %rax, (%rdi)
    .byte 0x0f, 0x1f, 0x44, 0, 0 /* a static probe's NOP */
    cld
    xor %ecx, %ecx
    rep movsb
    ret
    .size step_atomic, . - step_atomic

/* A loop of `turns`, a kernel call and a load from `at`, while each register that a function keeps,
 * but the frame pointer, has the value 0xa00 + its index in D's uregs[], from
 * step_registers_set on. */
function step_registers
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    push %rsi
    sub $8, %rsp
    mov $0xa03, %ebx
    .irp n, 12, 13, 14, 15
    mov $0xa00 + \n, %r\n
    .endr
step_registers_set:
    add $1, %rdi
1:  sub $1, %rdi
    jnz 1b
    call SchedYield
    mov 8(%rsp), %rsi
    mov (%rsi), %rsi
    mov $0x77, %eax
    add $16, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    ret
    .size step_registers, . - step_registers

/* Its first instruction faults. */
function step_faults
    mov (%rdi), %rdi
    add $1, %rdi
    ret
    .size step_faults, . - step_faults

    .data
    .balign 8
step_word:
    .quad 2b
step_end:
    .quad 18b
step_long:
    .quad 0x1001
step_near:
    .long 0x1003
    .balign 8
step_double:
    .double 2.5
    .section .note.GNU-stack, "", @progbits
