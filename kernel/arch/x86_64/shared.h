/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers that the assembler and the C of this port share. Included from .S files, so preprocessor
 * only. Offsets in structs are generated from offsets.c.
 */
#ifndef KERNEL_ARCH_X86_64_SHARED_H
#define KERNEL_ARCH_X86_64_SHARED_H

/* Kernel address of physical 0: RAM is mapped there linearly. */
#define KERNEL_VIRT 0xffffffff80000000
/* RAM above this is not used: the kernel's addresses above belong to devices. */
#define KERNEL_RAM_MOST 0x70000000
/* Kernel address of a device in the fourth GB, minus its physical one. */
#define KERNEL_DEVICES 0xffffffff00000000
/* Kernel address of the firmware's tables, minus their physical one: the first 4 GB. */
#define KERNEL_FIRMWARE 0xfffffffd00000000
/* Kernel address of the first byte of PCI's configuration space, minus its physical one. */
#define KERNEL_CONFIG 0xfffffffe00000000
/* Kernel address of the 2 MB block in which the screen's pixels begin, and the most bytes of it. */
#define KERNEL_SCREEN 0xffffffff00000000
#define KERNEL_SCREEN_MOST 0x10000000
/* Offset of a second, writable mapping of the kernel's text from the first. */
#define KERNEL_TEXT_ALIAS (-0x40000000l)

/* Kernel address of the slots of displaced instructions (step/step.c), which programs execute: far
 * enough below the end that 32-bit displacements reach operands in the lower 2 GB. */
#define X86_STEP_SLOTS_AT 0xfffffffffa000000
#define X86_STEP_SLOTS_BYTES 32768

/* Bits of CR3: the identifier of the space, by which the TLB tags translations (tlb.c), 0 for the
 * kernel and on CPUs without identifiers; and the flag not to drop the space's translations. There
 * are as many identifiers as a board has processes, and 0. */
#define X86_PCID_MASK 0xffful
#define X86_PCIDS 2048
#define X86_CR3_KEEP (1ul << 63)

/* Segment selectors, in the order that SYSRET requires. */
#define SEL_KERNEL_CODE 0x08
#define SEL_KERNEL_DATA 0x10
#define SEL_USER_BASE 0x18 /* SYSRET: data at +8, code at +16 */
#define SEL_USER_DATA 0x23
#define SEL_USER_CODE 0x2b
#define SEL_TSS 0x30

/* Kernel calls with an entry of their own: MsgSendv, MsgReceivev, MsgReplyv. All numbers are below
 * X86_CALLS. */
#define X86_CALLS 128
#define X86_CALL_SEND 11
#define X86_CALL_RECEIVE 14
#define X86_CALL_REPLY 15

/* struct arch_context: r[] in the order of the instructions' register numbers */
#define CTX_R(n) (CTX_R0 + (n)*8)
#define RAX 0
#define RCX 1
#define RDX 2
#define RBX 3
#define RSP 4
#define RBP 5
#define RSI 6
#define RDI 7
/* Only the registers that a function preserves are valid. The exit path sets this kind, so that a
 * call need not. */
#define CTX_KIND_CALL 0
#define CTX_KIND_FULL 1 /* from the interruption of a program until it continues */

/* INT3, and offset of the displaced instruction in a function probe's slot (probe/slot.c). */
#define X86_BREAKPOINT 0xcc
#define X86_JUMP 0xe9 /* of 32 bits */
#define X86_SLOT_CODE 8
/* Offsets in words: of rip after the registers that entry.S pushes, the first of them rbp; and of
 * the rsp that the CPU has pushed. */
#define X86_FRAME_RIP 12
#define X86_FRAME_RSP 15

/* Vectors: below, the CPU's exceptions; the interrupt lines; the kernel's own. */
#define VECTOR_NMI 2
#define VECTOR_BREAKPOINT 3
#define VECTOR_EXCEPTIONS 32
#define VECTOR_LINES 0x30
#define VECTOR_MESSAGES 0xb0 /* lines from here on are messages of devices (MSI) */
#define VECTOR_TIMER 0xf0
#define VECTOR_IPI 0xf1
#define VECTOR_CALL 0xf2 /* the port's own calls to other CPUs: not traced, as this is not a line */
#define VECTOR_SAMPLE 0xf3
#define VECTOR_SPURIOUS 0xff

/* First word of the information that a PVH loader leaves. Otherwise it is Multiboot2's, of which
 * this many bytes are kept; the maps of large PCs take 10 KB. */
#define LOADER_PVH_MAGIC 0x336ec578
#define LOADER_INFO_MOST 16384

#define X86_MAX_CPUS 8
/* The start address of another CPU: a page below 1 MB. x86_cpu_ticket names the CPU that may
 * start. */
#define X86_TRAMPOLINE 0x8000
#define X86_CPU_ID_MOST 0x3fffffff
#define X86_CPU_WANTED 0x40000000
#define X86_CPU_TAKEN 0x80000000

/* Values that boot.S and secondary.S load for long mode. */
#define BOOT_CR4 0x620      /* PAE, OSFXSR, OSXMMEXCPT */
#define BOOT_CR0 0x80010033 /* PG, WP, NE, ET, MP, PE */
#define MSR_EFER 0xc0000080
#define MSR_GS_BASE 0xc0000101
#define BOOT_EFER 0x901         /* NXE, LME, SCE */
#define KERNEL_STACK_SIZE 16384 /* per CPU */
#define KERNEL_STACK_GUARD 4096 /* unmapped, below each stack */
#define EMERGENCY_STACK_SIZE 4096

#define RFLAGS_IF 0x200
#define RFLAGS_AC 0x40000
#define RFLAGS_USER 0x202 /* a new thread's */

#endif
