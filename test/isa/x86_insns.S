/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For x86_test.c: x86-64's instructions by class, each with what isa/x86_64/step.h has to make of
 * it: moved, emulated, refused. Registers: rbx, rsi, rdi and rbp point to data, rsp to a stack, r11
 * to code; an operand that counts from the instruction's end is 0x900 to 0x1700 after it, in data.
 */
    .macro insn kind, text:vararg
    .pushsection .rodata.texts, "a", @progbits
3:  .asciz "\text"
    .popsection
1:  \text
2:  .pushsection .data.rel.ro, "aw", @progbits
    .quad 1b, 3b
    .long 2b - 1b, \kind
    .popsection
    .endm
    .macro moved text:vararg
    insn 2, \text
    .endm
    .macro emulated text:vararg
    insn 3, \text
    .endm
    .macro refused text:vararg
    insn 1, \text
    .endm

    .pushsection .data.rel.ro, "aw", @progbits
    .balign 8
    .global x86_insns
x86_insns:
    .popsection

    .text
    /* branches */
    emulated jmp . + 0x40
    emulated jmp . - 0x40
    emulated .byte 0xe9, 0x10, 1, 0, 0
    emulated .byte 0xe9, 0xf0, 0xfe, 0xff, 0xff
    emulated call . + 0x100
    emulated call . - 0x100
    emulated .byte 0x66, 0x48, 0xe8, 0x10, 1, 0, 0
    emulated .byte 0x67, 0xe8, 0x10, 1, 0, 0
    .irp cc, o, no, b, ae, e, ne, be, a, s, ns, p, np, l, ge, le, g
    emulated j\cc . + 0x20
    emulated j\cc . - 0x20
    emulated j\cc . + 0x200
    emulated j\cc . - 0x200
    .endr
    emulated notrack jmp *%r11
    emulated jmp *%rax
    emulated jmp *%r11
    emulated jmp *%rsp
    emulated jmp *(%rbx)
    emulated jmp *8(%rsi)
    emulated jmp *(%rbp)
    emulated jmp *0x120(%rdi)
    emulated jmp *(%rbx,%rcx,8)
    emulated jmp *-8(%rbx,%rcx,4)
    emulated jmp *0x10001000(,%rcx,8)
    emulated jmp *0x10001000
    emulated jmp *0x900(%rip)
    emulated jmp *(%rsp)
    emulated jmp *(%rax)
    emulated jmp *(%r15)
    emulated jmp *8(%r12)
    emulated jmp *(%r13)
    emulated jmp *16(%r12,%r14,2)
    emulated call *%r11
    emulated call *%rsp
    emulated call *%rdx
    emulated call *(%rbx)
    emulated call *16(%rsp)
    emulated call *0xa00(%rip)
    emulated call *0x10001008(,%rcx,8)
    emulated call *(%rax)
    emulated ret
    emulated ret $8
    emulated ret $0xfff8
    emulated rep ret
    emulated repne ret
    emulated loop . + 0x30
    emulated loop . - 0x30
    emulated loope . + 0x30
    emulated loopne . + 0x30
    emulated jrcxz . + 0x30
    emulated pushfq
    /* counting from the end */
    moved lea 0x900(%rip), %rax
    moved lea -0x900(%rip), %r9
    moved mov 0x900(%rip), %rax
    moved mov %r10, 0x908(%rip)
    moved movl $0x12345678, 0x910(%rip)
    moved movb $3, 0x918(%rip)
    moved movw $0x1234, 0x918(%rip)
    moved addq $-5, 0x920(%rip)
    moved addl $0x1234567, 0x920(%rip)
    moved cmpb $7, 0x928(%rip)
    moved testl $0x7ffff, 0x928(%rip)
    moved notq 0x930(%rip)
    moved incw 0x930(%rip)
    moved pushq 0x938(%rip)
    moved popq 0x938(%rip)
    moved imul $3, 0x940(%rip), %rcx
    moved imul $0x12345, 0x940(%rip), %ecx
    moved shlq $3, 0x948(%rip)
    moved lock xaddq %rax, 0x948(%rip)
    moved lock cmpxchg %r8, 0x950(%rip)
    moved movzbl 0x951(%rip), %edx
    moved movslq 0x954(%rip), %rdx
    moved cvtsi2sdq 0x958(%rip), %xmm3
    moved movups 0x961(%rip), %xmm4
    moved movups %xmm5, 0x971(%rip)
    moved pinsrw $3, 0x980(%rip), %xmm1
    moved cmpss $1, 0x980(%rip), %xmm1
    moved fldl 0x988(%rip)
    moved fstpt 0x988(%rip)
    moved btsl $4, 0x990(%rip)
    moved setne 0x998(%rip)
    moved cmovg 0x9a0(%rip), %r15
    moved prefetcht0 0x9a0(%rip)
    /* general registers */
    moved add %al, %bh
    moved add %r8, %r9
    moved adc (%rbx), %rax
    moved sbb %ecx, 4(%rsi)
    moved sub $1, %al
    moved sub $0x12345678, %rax
    moved sub $0x1234, %ax
    moved and $-16, %rsp
    moved xor %esp, %esp
    moved cmp %rsp, %rbp
    moved push %rsp
    moved push %r12
    moved pushw %ax
    moved pop %rsp
    moved pop %r13
    moved push $5
    moved push $0x12345678
    moved pushw $0x1234
    moved pushq 8(%rsp)
    moved popq 8(%rsp)
    moved push %fs
    moved movabs $0x123456789abcdef0, %r10
    moved mov $0x12345678, %ecx
    moved mov $0x1234, %cx
    moved mov $7, %ch
    moved mov $-1, %rdx
    moved movabs 0x10001010, %rax
    moved movabs %al, 0x10001018
    moved .byte 0x67, 0xa1, 0x10, 0x10, 0, 0x10
    moved movslq %ecx, %rdx
    moved mov %ds, %eax
    moved imul %rcx, %rdx
    moved imul $100, %rcx, %rdx
    moved imul $0x1234, %cx, %dx
    moved mul %rcx
    moved div %rcx
    moved idivl (%rbx)
    moved neg %rax
    moved testb $3, (%rbx)
    moved test $0x1234, %cx
    moved xchg %rax, %rcx
    moved xchg %rcx, (%rbx)
    moved cqto
    moved cwtl
    moved lahf
    moved sahf
    moved cld
    moved std
    moved stc
    moved cmc
    moved clc
    moved nop
    moved pause
    moved endbr64
    moved .byte 0x66, 0x90
    moved nopl (%rax)
    moved nopw 0x200(%rax,%rax,1)
    moved .byte 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
    moved leave
    moved enter $32, $0
    moved enter $16, $2
    moved xlat
    moved rol $3, %rax
    moved rcr %cl, %rdx
    moved sarq (%rbx)
    moved shld $5, %rax, %rdx
    moved shrd %cl, %rax, (%rbx)
    moved bt %rcx, %rdx
    moved bsf %rcx, %rdx
    moved bsr (%rbx), %rdx
    moved popcnt %rcx, %rdx
    moved bswap %r12
    moved cmpxchg8b (%rbx)
    moved cmpxchg16b (%rbx)
    moved lock incl (%rbx)
    moved .byte 0xf0, 0x01, 0xc1
    moved movbe (%rbx), %rax
    moved crc32q %rax, %rcx
    moved cmovae %rax, %rcx
    moved seta %cl
    moved movnti %rax, (%rbx)
    moved lea 3(%rax,%rcx,4), %rdx
    moved .byte 0x67, 0x8d, 0x04, 0x88
    moved movsb
    moved stosq
    moved lodsl
    moved scasb
    moved cmpsw
    moved lfence
    moved mfence
    moved clflush (%rbx)
    moved in %dx, %al
    moved out %al, $0x80
    moved mov %fs:0, %rax
    moved mov (%rax), %rcx
    moved mov %rcx, (%rax)
    moved mov 8(%r14,%rdx,2), %r13
    /* FP and SSE */
    moved fld1
    moved fldpi
    moved flds (%rbx)
    moved fildll (%rsi)
    moved faddp
    moved fsqrt
    moved fnstcw (%rbx)
    moved fldcw (%rbx)
    moved fnstsw %ax
    moved fxch
    moved fcomi
    moved fstpl (%rdi)
    moved fninit
    moved fwait
    moved emms
    moved ldmxcsr (%rbx)
    moved stmxcsr (%rbx)
    moved movaps %xmm1, %xmm2
    moved movdqa (%rbx), %xmm2
    moved movdqu 1(%rbx), %xmm15
    moved movq %xmm3, %rax
    moved movd %ecx, %xmm9
    moved movsd %xmm1, (%rdi)
    moved addps %xmm1, %xmm2
    moved divsd (%rbx), %xmm2
    moved sqrtss %xmm1, %xmm2
    moved pxor %xmm1, %xmm1
    moved pshufd $0x1b, %xmm1, %xmm2
    moved shufps $0x4e, (%rbx), %xmm2
    moved psrldq $3, %xmm2
    moved psllw $2, %mm1
    moved pmovmskb %xmm1, %eax
    moved pextrw $2, %xmm1, %eax
    moved cvttsd2si %xmm1, %rax
    moved cvtps2pd (%rbx), %xmm1
    moved ucomisd %xmm1, %xmm2
    moved cmpltpd %xmm1, %xmm2
    moved pshufb %xmm1, %xmm2
    moved palignr $5, %xmm1, %xmm2
    moved pinsrd $1, %ecx, %xmm2
    moved roundsd $1, %xmm1, %xmm2
    moved pcmpistri $0x1a, %xmm1, %xmm2
    moved aesenc %xmm1, %xmm2
    moved ptest %xmm1, %xmm2
    moved movntdq %xmm1, (%rbx)
    moved maskmovdqu %xmm1, %xmm2
    /* refused */
    refused syscall
    refused sysenter
    refused int3
    refused int $3
    refused int $0x80
    refused .byte 0xf1
    refused ud2
    refused iretq
    refused hlt
    refused cli
    refused sti
    refused popfq
    refused pushfw
    refused popfw
    refused lretl
    refused lretl $8
    refused ljmp *(%rbx)
    refused lcall *(%rbx)
    refused rep stosq
    refused rep movsb
    refused repe cmpsb
    refused repne scasb
    refused rep lodsb
    refused insb
    refused rep outsb
    refused mov %eax, %ds
    refused pop %fs
    refused lss (%rbx), %eax
    refused .byte 0x0f, 0x1f, 0x44, 0, 0
    refused mov %cr0, %rax
    refused mov %rax, %db7
    refused rdmsr
    refused wrmsr
    refused rdpmc
    refused clts
    refused invd
    refused sgdt (%rbx)
    refused lgdt (%rbx)
    refused swapgs
    refused xgetbv
    refused monitor
    refused mwait
    refused sldt %eax
    refused lar %eax, %ecx
    refused rdfsbase %rax
    refused wrgsbase %rax
    refused umonitor %rax
    refused xbegin . + 6
    refused xabort $3
    refused retw
    refused .byte 0x66, 0xff, 0xd0
    refused .byte 0x67, 0xff, 0x23
    refused jmp *%fs:(%rbx)
    refused call *%gs:8
    refused jecxz . + 0x20
    refused .byte 0x67, 0xe2, 0x20
    refused mov 0x900(%eip), %rax
    refused .byte 0xf0, 0xeb, 0x20
    refused .byte 0xf0, 0xc3
    refused .byte 0xff, 0xfb
    refused .byte 0xfe, 0xd0
    refused .byte 0x0f, 0xba, 0xc0, 1
    refused .byte 0x0f, 0xb8, 0xc1
    refused vaddps %ymm1, %ymm2, %ymm3
    refused vzeroupper
    refused vpshufd $3, 8(%rip), %xmm1
    refused andn %rax, %rbx, %rcx
    refused vpalignr $5, %xmm1, %xmm2, %xmm3
    insn 0, .byte 0x06
    insn 0, .byte 0x60
    insn 0, .byte 0xea, 0, 0, 0, 0, 0, 0
    insn 0, .byte 0x82, 0xc0, 1
    insn 0, .byte 0x66, 0xe9, 0, 0
    insn 0, .byte 0x8f, 0xe8, 0x78, 0xc0
    insn 0, .byte 0x48, 0x66, 0x90
    insn 0, .byte 0x62, 0xf1, 0x74, 0x48, 0x58, 0xc2

    .pushsection .data.rel.ro, "aw", @progbits
    .quad 0, 0, 0
    .popsection

    /* What x86_test.c looks for places in. */
    .global x86_returns, x86_returns_end, x86_unknown, x86_unknown_end
x86_returns:
    push %rbp
    je 1f
    ret
1:  .byte 0xe9 /* 0x1000: a function begins there */
    .long 0x1000 - (2f - x86_returns)
2:  .byte 0xe9 /* nothing begins there */
    .long 0x1001 - (3f - x86_returns)
3:  jmp 1b
    jmp *%rax
    add %rdx, %rax
    nop
    jmp *%rax
    movslq (%rdx,%rcx,4), %r9
    add %rdx, %r9
    notrack jmp *%r9
    jmp *8(%rax)
    jmp *0x1000(,%rax,8)
    mov 0x1000(,%rax,8), %rcx
    jmp *%rcx
    syscall
    rep stosq
    ret $16
x86_returns_end:
x86_unknown:
    push %rbp
    .byte 0x06
    ret
x86_unknown_end:
    .section .note.GNU-stack, "", @progbits
