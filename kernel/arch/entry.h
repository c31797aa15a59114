/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port interface: the functions of the kernel that a port or a board calls. kernel/arch/cpu.h
 * has the execution model; kernel/arch/panic.h has kernel_panic_at() and kprintf(),
 * kernel/arch/aspace.h phys_alloc().
 */
#ifndef KERNEL_ARCH_ENTRY_H
#define KERNEL_ARCH_ENTRY_H

#include "kernel/arch/aspace.h"

struct unwind_frame; /* kernel/arch/stack.h */

/* ---- entries ----------------------------------------------------------------------- */

/*
 * Each takes the interrupted thread, whose context is saved (NULL: the CPU was idle or booting),
 * and returns the thread to resume, with its address space set. Interrupts: the execution model in
 * kernel/arch/cpu.h. kernel_call: self->args[] hold the six arguments, copied once.
 */
struct thread *kernel_call(struct thread *self, unsigned number);
/*
 * For ports that have a call's words in registers: called instead of kernel_call() while
 * arch_calls_direct() allows it; self->args[] are not set yet. MsgReplyv returns NULL if nothing
 * has been done, except that args[] now hold the words, and kernel_call() must follow; otherwise
 * self, whose result is 0 and whose registers are unchanged. MsgSendv: if rcvid is not 0, next is
 * in a MsgReceivev call of this kind, which returns rcvid; 0: as for kernel_call().
 */
struct kernel_sent {
    struct thread *next;
    uintptr_t rcvid;
};
struct kernel_sent kernel_call_send(uintptr_t coid, uintptr_t smsg, uintptr_t sparts,
                                    uintptr_t rmsg, uintptr_t rparts, struct thread *self);
struct thread *kernel_call_receive(uintptr_t chid, uintptr_t rmsg, uintptr_t rparts, uintptr_t info,
                                   uintptr_t unused, struct thread *self);
struct thread *kernel_call_reply(uintptr_t rcvid, uintptr_t status, uintptr_t smsg,
                                 uintptr_t sparts, uintptr_t unused, struct thread *self);
struct thread *kernel_exit(struct thread *self);
struct arch_fault {
    int signo;         /* KYMO_SIG* */
    uintptr_t address; /* the accessed address, if known */
    uintptr_t ip;
    const char *what; /* "write to", "read from", "jump to", "undefined instruction", … */
};
struct thread *kernel_fault(struct thread *self, const struct arch_fault *fault);
/* Called at boot on CPU 0: the first C function after .bss is cleared. Keeps an earlier boot's
 * retained recording, counts boots, and clears the CPUs' data, which is in memory that start-up
 * code does not clear. */
void retain_boot(void);
/* Called at boot on CPU 0 before retain_boot(): fills the unused part of all CPUs' kernel stacks
 * with a pattern, from which kernel_stack_used() (kernel/observe/observe.h) determines how deep
 * each has been. */
void kernel_stack_fill(void);
/* For ports whose stack is not always guarded: panics if this CPU's kernel stack is used up. Any
 * context. */
void kernel_stack_check(void);
/* Called at boot: kernel_main() on CPU 0 after its low-level set-up, on its kernel stack;
 * kernel_cpu_main() on each other CPU. Return the first thread to resume. */
struct thread *kernel_main(void);
struct thread *kernel_cpu_main(unsigned n);

/* ---- interrupts and probes --------------------------------------------------------- */

/* First part of an interrupt: traces it, masks attached lines, queues the work. No lock. ip: the
 * interrupted instruction, 0 if idle. in_kernel: the kernel was interrupted (Cortex-M). */
void intr_entry(unsigned irq, uintptr_t ip, bool in_kernel);
void intr_timer(unsigned irq, uintptr_t ip, bool in_kernel);
/* The sampling interrupt, taken at ip. stack: `words` words of the interrupted kernel stack, with
 * lr the link register; NULL: a program was interrupted. On its own CPU; no mask blocks it. */
void kernel_sample(uintptr_t ip, uintptr_t lr, const uintptr_t *stack, unsigned words);
/* Likewise for the overflow of a counter: kernel/arch/count.h. */
void kernel_counted(uintptr_t ip, uintptr_t lr, const uintptr_t *stack, unsigned words);
void intr_sample(unsigned irq, uintptr_t ip, bool in_kernel);
/*
 * Implements TraceEvent() for drivers and hooks: INSERT*, START, STARTNOSTATE, STOP and
 * FLUSHBUFFER, from any context including interrupts; other commands return -EPERM. args: the
 * arguments after cmd; data replaces the argument that is a pointer. START, STOP and FLUSHBUFFER
 * take effect when this CPU leaves the kernel. Returns 0 or -errno. See trace/interrupt.c.
 */
long kernel_trace_event(uint32_t cmd, const uint32_t args[4], const void *data);
/* Handles the interrupt that arch_ipi() raised: traces it and serves cross-calls. No lock. */
void intr_ipi(unsigned irq, uintptr_t ip, bool in_kernel);
void cpu_ipi(void); /* serves cross-calls; no lock */
/* Called when a function probe fires. back: the address in the probe's slot where execution
 * continues; regs: as arch_probe_argument() reads them. Any context. */
void kernel_probe_entry(const void *back, const uintptr_t *regs);
void kernel_probe_return(const void *back, const uintptr_t *regs);
/* Called when the thread has executed a trap of kernel/arch/step.h at ip, or an instruction that
 * looks like it: fires the probes at ip and stores the displaced instruction. Returns false if the
 * trap is the program's own. Interrupts masked; no lock. */
struct arch_step;
bool kernel_user_probe(struct thread *self, uintptr_t ip, struct arch_step *step);
/* Replaces the trap, which was read at ip of the thread's program, by the instruction that it has
 * displaced, if it is a probe's. Any context. */
void kernel_user_displaced(const struct thread *t, uintptr_t ip, uint32_t *insn);

/* ---- queries ----------------------------------------------------------------------- */

/*
 * Accessors that let a port query a thread without another kernel header (kernel/observe/port.c).
 * struct thread begins with its struct arch_context, directly followed by args[]; struct process
 * begins with its struct arch_aspace. Lock held.
 */
struct process *kernel_thread_process(const struct thread *t);
/* Calls vm_user_ptr() for the thread's process: returns NULL if the range is not its memory with
 * these rights. */
void *kernel_user_ptr(const struct thread *t, uintptr_t addr, size_t len, unsigned prot);
/* Returns true if some of this RAM belongs to a process other than the running one. Any context,
 * interrupts masked. The result is unreliable for memory that changes owner meanwhile. */
bool kernel_ram_of_others(paddr_t pa, size_t bytes);
void kernel_thread_stack(const struct thread *t, uintptr_t *low, uintptr_t *high);
/* Returns the location where the thread's process stores the kernel address of its library word
 * (LibWord()); the location holds NULL if there is none. */
uint32_t **kernel_lib_word(const struct thread *t);
bool kernel_work_pending(const struct cpu *cpu);
struct cpu *kernel_cpu_at(unsigned n);
/* Unwinds from an interrupt handler to the point of its return to user level: returns the thread's
 * registers as the kernel's functions saved them. Returns false if the stack can't be followed so
 * far. */
bool kernel_unwind_to_user(struct unwind_frame *out);
/* For ports that extend a 32-bit trace clock in software: must be called at least twice per wrap,
 * interrupts masked. */
void kernel_clock_extended(void);

#endif
