/* SPDX-License-Identifier: BSD-2-Clause */
/* Declarations shared by the files of this port and its assembler. */
#ifndef KERNEL_ARCH_X86_64_PORT_H
#define KERNEL_ARCH_X86_64_PORT_H

#include "abi/sys/panic.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/mmu/mmu.h"
#include "kernel/arch/x86_64/board.h"

/* start.c: guard, stack, guard, stack …; CPU n's stack is the upper end of entry n; the last one is
 * that of long calls */
extern char x86_stacks[CONFIG_CPUS + 1][KERNEL_STACK_GUARD + KERNEL_STACK_SIZE];
/* Stacks for exceptions that must not use the stack that they interrupt: double fault and machine
 * check, whose panic never returns; NMI, which may interrupt that panic. One of each per CPU, each
 * with a guard below it, too. */
enum { EMERGENCY_FATAL, EMERGENCY_NMI, EMERGENCY_STACKS };
extern char x86_emergency_stacks[EMERGENCY_STACKS * CONFIG_CPUS]
                                [KERNEL_STACK_GUARD + EMERGENCY_STACK_SIZE];
struct thread *x86_start(uint64_t start_info);

/* The parts of struct thread and struct process that a port may know: see
 * kernel_thread_process(). */
static inline struct arch_context *x86_context(const struct thread *t)
{
    return (struct arch_context *)(uintptr_t)t;
}

static inline struct arch_aspace *x86_aspace(const struct thread *t)
{
    return (struct arch_aspace *)kernel_thread_process(t);
}

/* For assertions: interrupts are masked, and no program's AC flag suspends SMAP. */
static inline uint64_t x86_flags(void)
{
    uint64_t flags;

    __asm__ volatile("pushfq\n\tpop %0" : "=r"(flags)::"memory");
    return flags;
}

static inline bool x86_irq_masked(void)
{
    return !(x86_flags() & RFLAGS_IF);
}

static inline struct x86_cpu *x86_this_cpu(void)
{
    struct x86_cpu *cpu;

    __asm__("mov %%gs:%c1, %0" : "=r"(cpu) : "i"(offsetof(struct x86_cpu, own)));
    return cpu;
}

static inline uint32_t x86_this_bit(void)
{
    return x86_this_cpu()->bit;
}

static inline uint64_t x86_rdmsr(uint32_t msr)
{
    uint32_t low, high;

    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
    return (uint64_t)high << 32 | low;
}

static inline void x86_wrmsr(uint32_t msr, uint64_t value)
{
    __asm__ volatile("wrmsr" ::"c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
                     : "memory");
}

static inline void x86_cpuid(uint32_t leaf, uint32_t out[4])
{
    __asm__ volatile("cpuid"
                     : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3])
                     : "a"(leaf), "c"(0));
}

/* Builds the kernel's final map after its image and switches to it (mmu.c). CPU 0, once. */
void x86_map_kernel(void);
bool x86_is_stack_guard(uintptr_t va);

/* start.c */
void x86_protection_on(void);  /* SMEP, SMAP, global pages, where the CPU has them */
void x86_cpu_load(unsigned n); /* this CPU's segments and system registers */

/* apic.c */
void x86_apic_cpu_init(void);
void x86_timer_calibrate(void); /* CPU 0, once */

extern char x86_idle_halt[]; /* the HLT of arch_wait_for_interrupt() */

/* sample.c */
void x86_sample_init(void); /* CPU 0, once: when the clock runs */

/* TLBs (tlb.c). With the lock, or at boot. */
void x86_pcid_begin(bool there); /* CPU 0, once: whether the CPUs have PCIDs */
bool x86_pcid_used(void);
/* Returns the PCID and X86_CR3_KEEP for a new space, to be or-ed into its CR3; 0 without PCIDs. */
uint64_t x86_pcid_take(void);
/* Called when the space has ended: no CPU has it any more. */
void x86_pcid_give(uint64_t space);
/* Drops [va, end) of this space from all TLBs. */
void x86_tlb_drop(uint64_t space, uintptr_t va, uintptr_t end);

/* cpus.c */
struct x86_starting {
    uintptr_t stack;
    uint32_t number;
};
extern struct x86_starting x86_starting;
extern volatile uint32_t x86_cpu_ticket;
struct thread *x86_start_secondary(unsigned n);
void x86_ipi(uint32_t cpus, unsigned vector);
void x86_call_serve(void);
/* Makes these CPUs execute fn(a, b, c), and waits. Lock held. */
void x86_call(uint32_t cpus, void (*fn)(uint64_t a, uint64_t b, uint64_t c), uint64_t a, uint64_t b,
              uint64_t c);
uint32_t x86_cpus_started(void); /* CPUs that execute C, this one included */
/* Returns when no CPU executes an instruction that was fetched before the call. Lock held. */
void x86_serialise_all(void);
bool x86_cpus_others(void); /* whether another CPU executes the kernel */

/* ---- called by entry.S ------------------------------------------------------------- */

struct x86_panic_frame {
    uint64_t r[16];
    uint64_t rip, rflags, vector, error;
};
struct thread *x86_irq_from_user(struct thread *self, unsigned vector); /* apic.c */
struct thread *x86_trap_from_user(struct thread *self, unsigned vector, uint64_t error);
void x86_irq_in_kernel(unsigned vector); /* apic.c */
/* Handles a breakpoint in the kernel (text.c). `frame` has the address after it, and the registers
 * as entry.S pushes them. Returns whether to continue at the address that it stores. */
bool x86_breakpoint(uintptr_t *frame);
/* Handles an NMI (sample.c); the frame as for a breakpoint. Returns false if it is unexpected. */
bool x86_nmi(uintptr_t *frame);
/* Fires a function probe if the breakpoint at `site` is one (probe/), and sets the address where
 * execution continues. */
bool x86_probe(uintptr_t site, const uintptr_t *regs, uint64_t *rip);
/* Handles a breakpoint in a program, whose saved address is after it (step/). Returns the thread to
 * run, or NULL if the breakpoint is the program's own. */
struct thread *x86_step_break(struct thread *self);
/* Called for another exception in a program: an instruction that was displaced has caused it at its
 * original address. */
void x86_step_faulted(struct thread *self);
/* Returns the original address of the instruction that a program executes at ip: ip, or the address
 * that a slot's instruction is from. */
uintptr_t x86_step_origin(uintptr_t ip);
/* Returns the byte of the program that a breakpoint at this address has displaced, if `byte` is a
 * probe's breakpoint. Any context. */
uint8_t x86_step_byte(const struct thread *user, uintptr_t address, uint8_t byte);
extern char x86_step_slots[X86_STEP_SLOTS_BYTES]; /* mmu.c */
void x86_fatal(const struct x86_panic_frame *frame) __attribute__((noreturn));
extern char x86_vectors[], x86_syscall[];
/* return addresses of the calls of the two above */
extern char x86_irq_back[], x86_breakpoint_back[];

#endif
