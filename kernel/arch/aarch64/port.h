/* SPDX-License-Identifier: BSD-2-Clause */
/* Declarations shared by the files of this port and its assembler. */
#ifndef KERNEL_ARCH_AARCH64_PORT_H
#define KERNEL_ARCH_AARCH64_PORT_H

#include "abi/sys/panic.h"
#include "kernel/arch/aarch64/board.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/mmu/mmu.h"

/* ---- boot.S, from the linker script and back --------------------------------------- */

extern uint64_t a64_kernel_l1; /* [I] final map, physical */
extern char a64_vectors[];
/* start.c: guard, stack, guard, stack …; CPU n's stack is the upper end of entry n; the last one is
 * that of long calls */
extern char a64_stacks[CONFIG_CPUS + 1][KERNEL_STACK_GUARD + KERNEL_STACK_SIZE];
void a64_map_switch(uint64_t l1);
struct thread *a64_start(void);
struct thread *a64_start_secondary(unsigned n);

/* The parts of struct thread and struct process that a port may know: see
 * kernel_thread_process(). */
static inline struct arch_context *a64_context(const struct thread *t)
{
    return (struct arch_context *)(uintptr_t)t;
}

static inline struct arch_aspace *a64_aspace(const struct thread *t)
{
    return (struct arch_aspace *)kernel_thread_process(t);
}

/* For assertions. */
static inline bool a64_irq_masked(void)
{
    return a64_read_sysreg(daif) >> 7 & 1;
}

/* boot.S has set this bit according to the CPUs' capability. */
static inline bool a64_asids_of_16_bits(void)
{
    return a64_read_sysreg(tcr_el1) >> 36 & 1;
}

/* ---- mmu.c, aspace.c --------------------------------------------------------------- */

/* Builds the kernel's final map after its image and switches to it. CPU 0, once. */
void a64_map_kernel(void);
bool a64_is_stack_guard(uintptr_t va);

/* ---- interrupts and faults: called by vectors.S ------------------------------------ */

struct a64_fatal_frame {
    uint64_t x[31];
    uint64_t sp;
};
struct thread *a64_irq_from_user(struct thread *self);
struct thread *a64_fault_from_user(struct thread *self, uint64_t esr, uint64_t far);
struct thread *a64_other_from_user(struct thread *self, uint64_t esr);
/* Implemented by step/step.c. The first is called when the thread has executed BRK #number: returns
 * the thread to resume, or NULL if the BRK is not a probe's. The second is called for any other
 * exception of a thread. */
struct thread *a64_step_break(struct thread *self, unsigned number);
void a64_step_faulted(struct thread *self);
/* Returns the program's instruction at an address where `insn` was read. */
uint32_t a64_step_insn(const struct thread *user, uintptr_t address, uint32_t insn);
/* Slots of displaced instructions (mmu.c), which programs execute at + KERNEL_TEXT_ALIAS. */
extern char a64_step_slots[A64_STEP_SLOTS_BYTES];
/* Fills registers in the order of abi/sys/panic.h, with esr and far 0 (registers.c). */
void a64_registers(uint64_t *registers, const struct a64_fatal_frame *frame, uint64_t pc,
                   uint64_t psr);
void a64_fatal(const struct a64_fatal_frame *frame, unsigned vector) __attribute__((noreturn));
void a64_fp_load(struct arch_context *ctx);
/* The FIQ's handlers (sample.c). stack: the stack pointer at the FIQ's entry. */
struct thread *a64_fiq_from_user(struct thread *self);
void a64_fiq_from_kernel(uintptr_t ip, const uintptr_t *stack);
/* Called for the FIQ of this number, after it was acknowledged at the controller. stack NULL: a
 * program was interrupted. */
void arch_sample_taken(unsigned irq, uintptr_t ip, uintptr_t lr, const uintptr_t *stack);
/* Likewise for the counters' overflow, with `words` words of stack: count/count.c, none/count.c. */
void a64_count_taken(uintptr_t ip, uintptr_t lr, const uintptr_t *stack, unsigned words);
void a64_count_cpu_init(void);  /* each CPU: all counters are off */
void a64_sample_cpu_init(void); /* each CPU */
void a64_irq_init(void);        /* CPU 0, once */
void a64_timer_quiet(void);     /* deasserts the timer's level interrupt until arch_timer_set() */

/* ---- stacks and debugger ----------------------------------------------------------- */

extern char a64_emergency_stacks[A64_MAX_CPUS][EMERGENCY_STACK_SIZE];

struct a64_semihost_result {
    long value;
    long absent;
};
struct a64_semihost_result a64_semihost_call(long op, const void *block);

#endif
