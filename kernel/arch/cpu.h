/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port interface, first page: the CPU. kernel/arch/ has a header for each topic of the
 * interface between the portable kernel and a CPU or a board, each function with its contract:
 *
 *   cpu.h         inlines, locks, contexts of threads, other CPUs
 *   aspace.h      address spaces, physical memory, caches
 *   elf.h         which programs the CPU runs
 *   irq.h         interrupts, the clock, timers
 *   board.h       console, RAM, boot image, reset, watchdog
 *   host.h        semihosting
 *   stack.h       memory that may be absent, stacks of threads and of the kernel
 *   probe.h       trace sites and function probes
 *   step.h        probes of programs
 *   count.h       counters of the CPU's events
 *   coroutine.h   a second kernel stack, for long calls
 *   entry.h       what a port or a board calls in the kernel
 *   panic.h       kernel_panic() and kprintf()
 *   assert.h      assertions of a port
 *
 * masked.h, trace_masked.h, trace_thread.h and turns.h are not topics: the ports' own trace.h and
 * ops.h share them.
 *
 * A mark ends a contract, and applies to the declarations that follow up to the next mark: [who,
 * for]. `who` supplies the function:
 *   inline   a static inline in the port's ops.h, which the makefile names
 *   cpu      kernel/arch/<cpu>/
 *   board    boards/<board>/, usually through boards/drivers/
 * and `for` is the feature or time from which on it must work:
 *   boot     before the first program runs, on one CPU
 *   trace    the event log
 *   step     probes of programs, of ports with a folder step/
 *   count    counters of events, of ports with a folder count/
 *   d        the D machine and stack traces; before that a stub returns false
 *   smp      more than one CPU; with one, a stub returns 0, or true if it takes a lock
 *   stub     may stay a stub: the contract says what a machine without it returns
 * There are no weak symbols: a function missing from a port is a link error. scripts/check-seam
 * checks the marks.
 *
 * Execution model, on every port:
 *   - There is one kernel stack per CPU. A thread has no kernel context of its own: while it is
 *     not running, its whole state is its struct arch_context. A blocked call is completed by the
 *     thread or interrupt that wakes the caller.
 *   - The kernel is entered by a kernel call, a fault, or an interrupt and is left through
 *     kernel_exit(); the port then resumes the thread that kernel_exit() returned. A call or a
 *     fault never re-enters it. Where the CPU allows it (Cortex-M), interrupts stay enabled and
 *     only their short first part (intr_entry) nests; elsewhere they are masked from entry to exit.
 *   - There is no idle context: if no thread is ready, kernel_exit() waits in
 *     arch_wait_for_interrupt().
 */
#ifndef KERNEL_ARCH_CPU_H
#define KERNEL_ARCH_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/config.h"

struct thread;
struct process;
struct cpu;

#define ARCH_TURN (16 * sizeof(uintptr_t)) /* bytes that arch_copy_turns() moves per iteration */

/*
 * The port's ops.h must define, before anything else:
 *   struct arch_context   registers of a thread that is not running; first member of struct thread
 *   struct arch_aspace    MPU or MMU state of one process
 *   ARCH_CODE_HIGH        upper 32 bits of the kernel's code addresses; 0 on a 32-bit machine
 *   ARCH_SITE_BYTES       size of a trace site
 *   ARCH_SITE_LIVE        1: a site may be executed while it is replaced by another instruction
 */
#include ARCH_OPS_H

/* ---- inlines ----------------------------------------------------------------------- */

/* Returns this CPU's struct cpu. [inline, boot] */
static inline struct cpu *arch_cpu(void);
/* Copy, or fill with a word, by the CPU's widest instructions: a positive multiple of ARCH_TURN
 * bytes from addresses that are multiples of a word. Normal memory, which may not overlap. [inline,
 * boot] */
static inline void arch_copy_turns(uint8_t *restrict to, const uint8_t *restrict from, size_t len);
static inline void arch_fill_turns(uint8_t *to, uintptr_t word, size_t len);
/* Masks interrupts on this CPU; returns the state for arch_irq_restore(). Nests. [inline, boot] */
static inline uintptr_t arch_irq_save(void);
static inline void arch_irq_restore(uintptr_t state);
/* For assertions: returns whether interrupts are as when the kernel was entered, outside of all
 * pairs of the two calls above. Not in an interrupt. [inline, boot] */
static inline bool arch_irq_as_entered(void);
/*
 * The word of the kernel lock; empty where there is one CPU. Its low byte (the first in memory) is
 * 1 while a CPU has the lock; the rest belongs to the CPUs that wait (kernel/base/cpu.c).
 * arch_spin_try() stores 1 if the whole word is 0, so it never takes a lock that others wait for,
 * and returns whether it did (acquire). arch_spin_release() clears the low byte and leaves the
 * rest, even if others change it meanwhile (release). [inline, smp]
 */
static inline bool arch_spin_try(volatile uint32_t *lock);
static inline void arch_spin_release(volatile uint32_t *lock);
/* Spin-loop hint: lets other CPUs run, also under emulators that run CPUs in turn. [inline, smp] */
static inline void arch_spin_hint(void);
/* Returns the high 64 bits of the product. [inline, boot] */
static inline uint64_t arch_multiply_high(uint64_t a, uint64_t b);
/* Compare-and-swap of 32 bits of user memory through its kernel pointer; returns true if
 * swapped. [inline, boot] */
static inline bool arch_cas32(volatile uint32_t *p, uint32_t expected, uint32_t desired);
/*
 * Called by the scheduler when `next` takes the CPU from `prev`. prev NULL: it has ended, or the
 * CPU was idle; next NULL: the CPU becomes idle. The two differ, unless both are NULL. Lock held.
 * Switches the address space if the process differs, FP access, and the TLS register or library
 * word. The entry and exit code moves the integer registers. [inline, boot]
 */
static inline void arch_switch(struct thread *prev, struct thread *next);
/*
 * arch_switch() in three parts, for a switch from one thread to another, so that the lock is held
 * for the second part only. arch_switch_save() may precede the lock: it stores the running thread's
 * registers that are in this CPU, even if no switch follows. arch_switch_space() is called when
 * next has become cpu->current, arch_switch_load() as soon as the lock is released: next runs on
 * this CPU, so no other CPU changes its context. Each may be empty. [inline, boot]
 */
static inline void arch_switch_save(struct thread *prev);
static inline void arch_switch_space(struct thread *prev, struct thread *next);
static inline void arch_switch_load(struct thread *next);
/* From an interrupt or the trace path: makes this CPU pass kernel_exit() soon, even if it is only
 * inside an interrupt handler (Cortex-M pends PendSV). The caller has set cpu->trace.exit_work.
 * Empty where every interrupt ends in kernel_exit(). [inline, boot] */
static inline void arch_request_exit(void);
/* Returns the address. Where an instruction can't address the word directly, the result is kept in
 * a register, so that it is computed once for several uses. [inline, smp] */
static inline volatile uint32_t *arch_address(volatile uint32_t *word);
/* Sets whether calls may begin in kernel_call_send(), …_receive() and …_reply(), as they do
 * initially, or must all begin in kernel_call(). Empty where they always begin there. Lock held.
 * [inline, boot] */
static inline void arch_calls_direct(bool on);

/* ---- contexts ---------------------------------------------------------------------- */

/*
 * Prepares a new thread: on resume it runs func(arg) at user level on the given stack (stack_high
 * is the first byte above it), with `ret` as its return address (0: none). Returns 0, or -EFAULT if
 * the stack is not memory of the process. tls: struct _thread_attr.tls. [cpu, boot]
 */
int arch_context_init(struct thread *t, uintptr_t func, uintptr_t arg, uintptr_t stack_low,
                      uintptr_t stack_high, uintptr_t ret, uintptr_t tls);
/* Prepares a thread of the kernel's process, which never runs at user level: after arch_switch() to
 * it this CPU can access no process's memory. [cpu, boot] */
void arch_context_init_kernel(struct thread *t);
/* Makes a thread that is not running continue at func (ThreadCancel). [cpu, boot] */
void arch_context_redirect(struct thread *t, uintptr_t func);
/* Sets the result of the thread's pending kernel call; the thread sees it when it resumes. error: 0
 * or an errno. [inline, boot] */
static inline void arch_context_set_result(struct thread *t, long value, int error);
/* Implements LibWord(): sets the running thread's tls. [cpu, boot] */
void arch_context_set_tls(struct thread *t, uintptr_t tls);
/* Implements ThreadCtl(_NTO_TCTL_IO): lets the running thread access the I/O ports that the board
 * gives to drivers, on CPUs that have ports. Threads that it creates later may not. A stub does
 * nothing. [cpu, stub] */
void arch_context_allow_ports(struct thread *t);
/* Releases what the context holds outside the struct (FP state in a CPU's registers). Lock held.
 * [cpu, boot] */
void arch_context_drop(struct thread *t);
/* Return the saved user instruction pointer and stack pointer, for reports and state listings. A
 * stub returns 0. [cpu, stub] */
uintptr_t arch_context_ip(const struct thread *t);
uintptr_t arch_context_sp(const struct thread *t);
/* Stores the registers of a thread as they are in its program, in the order of abi/sys/panic.h; for
 * the running thread, as they were when it entered the kernel. Returns a mask of those that are
 * known. Any context, interrupts masked. A stub returns 0. [cpu, stub] */
uintptr_t arch_context_registers(const struct thread *t, uintptr_t *registers);

/* ---- CPUs -------------------------------------------------------------------------- */

/* Returns the CPU's name for the system page and reports. [cpu, boot] */
const char *arch_cpu_name(void);
/* Returns the number of CPUs present, 1..CONFIG_CPUS. [cpu or board, boot] */
unsigned arch_cpu_count(void);
/* How long a CPU that is started may take to come, by the clock: an emulator's thread may have to
 * wait for one of the host's CPUs. One that has not come by then is left out for good. */
#define CPU_START_SECONDS 5
/* Starts CPU n, which then calls kernel_cpu_main(n). A port whose CPUs share what they start with
 * waits here, CPU_START_SECONDS at most; all others return at once, and the kernel waits. Returns 0
 * or a negative errno: CPU n never calls kernel_cpu_main(). [cpu or board, smp] */
int arch_cpu_start(unsigned n);
/* Returns the bounds of CPU n's kernel stack. An access below it is a fault, unless the port calls
 * kernel_stack_check() periodically. Any context. [cpu, boot] */
void arch_kernel_stack(unsigned n, uintptr_t *low, uintptr_t *high);
/* Interrupts the CPUs in the mask, which excludes this CPU; each calls cpu_ipi().
 * [cpu or board, smp] */
void arch_ipi(uint32_t cpus);

#endif
