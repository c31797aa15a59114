/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86-64: the structs and inlines that kernel/arch/ requires of a port ("[inline]"). Included by
 * kernel/arch/cpu.h only, before its prototypes.
 *
 * Interrupts are masked in the kernel except for two windows (apic.c), so arch_irq_save() does
 * nothing. The GS base points to this CPU's struct x86_cpu. This file knows only one thing about
 * struct thread: its first member is struct arch_context.
 */
#ifndef KERNEL_ARCH_X86_64_OPS_H
#define KERNEL_ARCH_X86_64_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/compiler.h"
#include "kernel/arch/masked.h"
#include "kernel/arch/turns.h"
#include "kernel/arch/x86_64/shared.h"

#define ARCH_CODE_HIGH (KERNEL_VIRT >> 32)
#define ARCH_SITE_BYTES 5
#define ARCH_SITE_LIVE 0
#define ARCH_PROBE_BYTES 1 /* a breakpoint */
#define ARCH_CODE_SHIFT 0
#define ARCH_CALL_PUSHES 8
#define ARCH_STEP_MOST 15

struct arch_context {
    /* [k] in a CTX_KIND_CALL context the registers that a call doesn't preserve are older */
    uint64_t r[16];
    uint64_t rip;    /* [k] always canonical: IRET and SYSRET would fault in the kernel */
    uint64_t rflags; /* [k] */
    uint64_t kind;   /* [k] CTX_KIND_* */
    uint64_t cr3;    /* [I] belongs to the process: see struct arch_aspace */
    uint64_t tls;    /* [k] FS base: LibWord() */
    uint64_t iomap;  /* [k] X86_PORTS_NONE, or X86_PORTS_BOARD: ThreadCtl(_NTO_TCTL_IO) */
    uint8_t fp[512] __attribute__((aligned(16))); /* [k] in FXSAVE's format */
};

struct arch_aspace {
    /* [I] the value loaded into CR3: the top table's address and, with PCIDs, the space's PCID and
     * X86_CR3_KEEP; 0: none. Must be first, also in struct process */
    uint64_t cr3;
    /* [k] the search for free addresses begins here, downwards: above there is little or no room */
    uintptr_t search_from;
};

/* Task state segment: only used fields have names. */
struct x86_tss {
    uint32_t : 32;
    uint64_t rsp[3]; /* [I] rsp[0]: the kernel stack */
    uint64_t : 64;
    uint64_t ist[7]; /* [I] the emergency stacks: port.h */
    uint64_t : 64;
    uint16_t : 16;
    uint16_t iomap; /* [c] offset of the map of ports */
    uint8_t ports[8192 + 1];
} __attribute__((packed));
_Static_assert(offsetof(struct x86_tss, ist) == 0x24 && offsetof(struct x86_tss, ports) == 0x68,
               "the CPU's layout");
#define X86_PORTS_BOARD offsetof(struct x86_tss, ports)
#define X86_PORTS_NONE sizeof(struct x86_tss) /* after the segment's end: no port */

/* The struct at the GS base in the kernel. */
struct x86_cpu {
    struct cpu *self;      /* [I] must be first: arch_cpu() */
    struct thread *thread; /* [c] the entry code saves to this thread */
    uint64_t stack_top;    /* [I] */
    uint64_t scratch;      /* [c] used by the entry code */
    uint64_t tls;          /* [c] value of the FS base, if the present process has not changed it */
    uint64_t space;        /* [k] the value loaded into CR3, X86_CR3_KEEP included */
    struct x86_cpu *own;   /* [I] address of this struct */
    uintptr_t window_ip;   /* [c] address of the open interrupt window; 0: idle */
    uint32_t bit;          /* [I] 1 << the CPU's number */
    uint32_t called;       /* [a] a call to this CPU is pending: cpus.c */
    uint64_t slot; /* [c] slot in which its program executes a displaced instruction: step/ */
    struct x86_tss tss;
    uint64_t gdt[8]; /* [I] */
    /* [k] by PCID: this CPU may have old translations, and drops all of that PCID before it uses
     * it: tlb.c */
    uint8_t stale[X86_PCIDS];
};
extern struct x86_cpu x86_cpus[];

extern uint64_t x86_kernel_cr3; /* [I] tables without any program's mappings, for idle CPUs */

static inline struct cpu *arch_cpu(void)
{
    struct cpu *cpu;
    /* Not volatile: it never changes on a CPU, and the kernel never migrates between CPUs. */
    __asm__("mov %%gs:0, %0" : "=r"(cpu));
    return cpu;
}

/* One instruction, LOCK BTS, and shorter than a comparison with 0. */
static inline bool arch_spin_try(volatile uint32_t *lock)
{
    return !(__atomic_fetch_or(lock, 1, __ATOMIC_ACQUIRE) & 1);
}

static inline void arch_spin_release(volatile uint32_t *lock)
{
    __atomic_store_n((volatile uint8_t *)lock, 0, __ATOMIC_RELEASE);
}

static inline void arch_spin_hint(void)
{
    __asm__ volatile("pause" ::: "memory");
}

/* No fence: reading the counter a few instructions early does not put events of one CPU out of
 * order, because the trace log makes each stamp later than the one before. */
static inline uint64_t arch_cycles(void)
{
    return __builtin_ia32_rdtsc();
}

static ALWAYS_INLINE void arch_frame_here(uintptr_t *pc, uintptr_t *sp, uintptr_t *fp)
{
    __asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
                     : "=&r"(*pc), "=&r"(*sp), "=r"(*fp));
}

static inline void *arch_phys_to_virt(uintptr_t pa)
{
    return (void *)(pa + KERNEL_VIRT);
}

static inline uintptr_t arch_virt_to_phys(const void *va)
{
    return (uintptr_t)va - KERNEL_VIRT;
}

static inline uint64_t x86_cr3(void)
{
    uint64_t cr3;

    __asm__ volatile("mov %%cr3, %0" : "=r"(cr3)::"memory");
    return cr3;
}

static inline void x86_tls_forget(void)
{
    __asm__ volatile("movq $-1, %%gs:%c0" ::"i"(offsetof(struct x86_cpu, tls)) : "memory");
}

/* Returns the value that was loaded into this CPU's CR3. */
static inline uint64_t x86_space(void)
{
    uint64_t space;

    __asm__ volatile("mov %%gs:%c1, %0" : "=r"(space) : "i"(offsetof(struct x86_cpu, space)));
    return space;
}

/* Loads CR3. Translations of a space with a PCID are kept, except those that are known to be old;
 * of a space without one, none is kept. */
static inline void x86_space_load(uint64_t space)
{
    bool stale;

    __asm__ volatile("cmpb $0, %%gs:%c[at](%[pcid])"
                     : "=@ccne"(stale)
                     : [at] "i"(offsetof(struct x86_cpu, stale)), [pcid] "r"(space & X86_PCID_MASK)
                     : "memory");
    if (unlikely(stale)) {
        __asm__ volatile(
            "movb $0, %%gs:%c[at](%[pcid])" ::[at] "i"(offsetof(struct x86_cpu, stale)),
            [pcid] "r"(space & X86_PCID_MASK)
            : "memory");
        space &= ~X86_CR3_KEEP;
    }
    __asm__ volatile("mov %0, %%cr3" ::"r"(space) : "memory");
}

/* Returns whether this value was loaded into this CPU's CR3. */
static inline bool x86_space_is(uint64_t space)
{
    bool is;

    __asm__ volatile("cmp %%gs:%c[at], %[space]"
                     : "=@cce"(is)
                     : [at] "i"(offsetof(struct x86_cpu, space)), [space] "r"(space));
    return is;
}

static inline void x86_space_enter(uint64_t space)
{
    __asm__ volatile("mov %0, %%gs:%c1" ::"r"(space), "i"(offsetof(struct x86_cpu, space))
                     : "memory");
    x86_space_load(space);
}

/* A program that loads a selector into FS changes its base unnoticed: the register's value is known
 * only while the process that has set it runs. */
static inline void x86_space_switch(uint64_t space)
{
    if (!x86_space_is(space)) {
        x86_tls_forget();
        x86_space_enter(space);
    }
}

/* WRMSR IA32_FS_BASE, from the word's two halves. */
static inline void x86_tls_load(const uint64_t *tls)
{
    __asm__ volatile("mov %[tls], %%rax\n\t"
                     "mov 4+%[tls], %%edx\n\t"
                     "mov %%rax, %%gs:%c[at]\n\t"
                     "mov $0xc0000100, %%ecx\n\t"
                     "wrmsr"
                     :
                     : [tls] "m"(*tls), [at] "i"(offsetof(struct x86_cpu, tls))
                     : "rax", "rcx", "rdx", "memory");
}

/* Loading takes long: within a process it is done only when the value differs. */
static inline bool x86_tls_is(uint64_t tls)
{
    bool is;

    __asm__ volatile("cmp %%gs:%c[at], %[tls]"
                     : "=@cce"(is)
                     : [at] "i"(offsetof(struct x86_cpu, tls)), [tls] "r"(tls));
    return is;
}

static inline void x86_ports_load(uint64_t iomap)
{
    __asm__ volatile("movw %w0, %%gs:%c1" ::"r"(iomap), "i"(offsetof(struct x86_cpu, tss.iomap))
                     : "memory");
}

static inline void arch_switch_save(struct thread *prev)
{
    struct arch_context *from = (struct arch_context *)prev;

    __asm__ volatile("fxsave64 %0" : "=m"(from->fp));
}

/* Called with the lock held: prev's process may end, and its tables may be freed, as soon as the
 * lock is released. */
static inline void arch_switch_space(struct thread *prev, struct thread *next)
{
    const struct arch_context *to = (const struct arch_context *)next;

    (void)prev;
    if (!x86_space_is(to->cr3)) {
        x86_space_enter(to->cr3);
    } else if (x86_tls_is(to->tls)) {
        return;
    }
    x86_tls_load(&to->tls);
}

static inline void arch_switch_load(struct thread *next)
{
    const struct arch_context *to = (const struct arch_context *)next;

    __asm__ volatile("fxrstor64 %0" ::"m"(to->fp));
    x86_ports_load(to->iomap);
}

static inline void arch_switch(struct thread *prev, struct thread *next)
{
    if (prev) {
        arch_switch_save(prev);
    }
    if (next) {
        arch_switch_space(prev, next);
        arch_switch_load(next);
    } else {
        x86_space_switch(x86_kernel_cr3);
    }
}

/* An instruction may address a word directly. */
static inline volatile uint32_t *arch_address(volatile uint32_t *word)
{
    return word;
}

static inline bool arch_cas32(volatile uint32_t *p, uint32_t expected, uint32_t desired)
{
    return __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

static inline void arch_context_set_result(struct thread *t, long value, int error)
{
    struct arch_context *ctx = (struct arch_context *)t;

    ctx->r[RAX] = (uint64_t)value;
    ctx->r[RDX] = (uint64_t)(int64_t)error;
}

static inline uintptr_t arch_probe_back(bool returns)
{
    (void)returns;
    return X86_SLOT_CODE;
}

/* Order of regs: as entry.S pushes them, rbp, r11 … r8, rdi, rsi, rdx, rcx, rax. */
static inline uintptr_t arch_probe_argument(const uintptr_t *regs, unsigned n)
{
    static const uint8_t at[] = {5, 6, 7, 8, 4};

    return regs[at[n]];
}

static inline uintptr_t arch_probe_result(const uintptr_t *regs)
{
    return regs[9];
}

/* The code where a call begins, by number: entry.S. */
extern char x86_call_any[], x86_call_send[], x86_call_receive[], x86_call_reply[];
extern char *x86_calls[X86_CALLS]; /* [k] read by calls of all CPUs */

static inline void arch_calls_direct(bool on)
{
    __atomic_store_n(&x86_calls[X86_CALL_SEND], on ? x86_call_send : x86_call_any,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&x86_calls[X86_CALL_RECEIVE], on ? x86_call_receive : x86_call_any,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&x86_calls[X86_CALL_REPLY], on ? x86_call_reply : x86_call_any,
                     __ATOMIC_RELAXED);
}

/* Nothing has to be done: every entry into this kernel ends in kernel_exit(). */
static inline void arch_request_exit(void)
{
}

static inline uint64_t arch_multiply_high(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}

#endif
