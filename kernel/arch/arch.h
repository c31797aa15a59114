/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port seam: everything the portable kernel needs from a CPU and a board, each with its
 * contract.
 *
 * Functions are supplied by kernel/arch/<cpu>/ ("[cpu]") or by boards/ ("[board]", usually through
 * boards/drivers/). There are no weak symbols: what a port forgets is a link error. The small ones
 * are static inlines declared here and defined in the port's ops.h, which the makefile names.
 *
 * How the kernel runs, on every port:
 *  - One kernel stack per CPU. A thread never has kernel context of its own: when it is not
 * running, all there is of it is its struct arch_context. A blocked call is finished by whoever
 * wakes it.
 *  - The kernel is entered by a kernel call, a fault, or an interrupt, ends in kernel_exit(), and
 * the port then resumes the thread that kernel_exit() returned. It is never re-entered by a call or
 * a fault. Where the CPU allows it (Cortex-M) interrupts stay open and only their short first part
 *    (intr_entry) nests; elsewhere they are masked from entry to exit.
 *  - There is no idle context: with nothing to run, kernel_exit() waits in
 * arch_wait_for_interrupt().
 */
#ifndef KERNEL_ARCH_ARCH_H
#define KERNEL_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/config.h"

struct thread;
struct process;
struct cpu;
typedef uintptr_t paddr_t;

/*
 * The port's ops.h must define, before anything else:
 *   struct arch_context   registers of a thread that is not running; first member of struct thread
 *   struct arch_aspace    what the MPU or MMU needs for one process
 *   ARCH_CODE_HIGH        upper 32 bits of the kernel's code addresses; 0 on a 32-bit machine
 */
#include ARCH_OPS_H

/* ---- inlines of ops.h [cpu] -------------------------------------------------------- */

#define ARCH_PROBE_WORDS 6 /* of a function probe's slot */
#define ARCH_SITE_BYTES 4  /* of a trace site */

/* This CPU's struct cpu. */
static inline struct cpu *arch_cpu(void);
/* Masks interrupts on this CPU; returns what arch_irq_restore() needs. Nests. */
static inline uintptr_t arch_irq_save(void);
static inline void arch_irq_restore(uintptr_t state);
/* Spin lock for SMP; empty where ARCH_MAX_CPUS is 1. try returns true if taken (acquire). */
static inline bool arch_spin_try(volatile uint32_t *lock);
static inline void arch_spin_release(volatile uint32_t *lock);
/* In a spin loop: lets other CPUs run (also under emulators that run CPUs in turn). */
static inline void arch_spin_hint(void);
/* The trace clock: 64 bits, monotonic on each CPU. Units: cycles of arch_clock_hz().
 * Any context. */
static inline uint64_t arch_cycles(void);
/* High 64 bits of the product. */
static inline uint64_t arch_multiply_high(uint64_t a, uint64_t b);
/* Kernel pointer to RAM at a physical address (direct map), and back. */
static inline void *arch_phys_to_virt(paddr_t pa);
static inline paddr_t arch_virt_to_phys(const void *va);
/*
 * Called by the scheduler when `next` takes the CPU from `prev` (never the same; either may be
 * NULL: idle). Lock held. Switches the address space if the process differs, FP access, the TLS
 * register or library word. Integer registers are moved by the entry and exit code.
 */
static inline void arch_switch(struct thread *prev, struct thread *next);
/* Two threads: is there no FP state that arch_switch() would have to move? Then the second does all
 * of its work. */
static inline bool arch_fp_unused(const struct thread *prev, const struct thread *next);
static inline void arch_switch_integer(struct thread *prev, struct thread *next);
/* 32- or 64-bit compare-and-swap on user memory through its kernel pointer; returns true if
 * swapped. */
static inline bool arch_cas32(volatile uint32_t *p, uint32_t expected, uint32_t desired);

/* ---- contexts [cpu] ---------------------------------------------------------------- */

/*
 * Prepares a new thread: on resume it runs func(arg) at user level with the given stack (high is
 * the first byte above), returning to `ret` (0: none). Returns 0, or -EFAULT if the stack is no
 * memory of the process. tls: struct _thread_attr.tls.
 */
int arch_context_init(struct thread *t, uintptr_t func, uintptr_t arg, uintptr_t stack_low,
                      uintptr_t stack_high, uintptr_t ret, uintptr_t tls);
/* Makes a thread that is not running continue at func instead (ThreadCancel). */
void arch_context_redirect(struct thread *t, uintptr_t func);
/* Result of the call that this thread is in; seen by it when it resumes. error 0 or an errno. */
static inline void arch_context_set_result(struct thread *t, long value, int error);
/* LibWord(): the running thread's tls from now on. */
void arch_context_set_tls(struct thread *t, uintptr_t tls);
/* Saved user instruction pointer and stack pointer; for reports and state listings. */
uintptr_t arch_context_ip(const struct thread *t);
uintptr_t arch_context_sp(const struct thread *t);
/* Frees what the context holds outside the struct (FP state owned by a CPU). Lock held. */
void arch_context_drop(struct thread *t);
/* Prints the registers by kprintf. */
void arch_context_print(const struct thread *t);

/* ---- address spaces [cpu] ---------------------------------------------------------- */

/* A piece of a process's address space: contiguous in physical memory, too. See kernel/mem/vm.h. */
struct mapping {
    uintptr_t vaddr; /* 0: free entry */
    size_t len;      /* bytes, multiple of the granule */
    paddr_t phys;
    uint32_t flags; /* KYMO_PROT_* | KYMO_MAP_* | MAPPING_* */
    uint32_t arch;  /* for the port (region number, …) */
};
#define MAPPING_OWNED 0x1000 /* RAM to be freed with the mapping */

/* Sizes that arch_aspace_map() accepts: rounds len and gives the alignment phys must have (and, on
 * an MPU, the virtual address is the physical one). Returns 0, or -ENOMEM if no such mapping can
 * be. */
int arch_map_shape(size_t len, unsigned flags, size_t *rounded, size_t *align);
int arch_aspace_create(struct arch_aspace *as);   /* 0, -EAGAIN, -ENOMEM */
void arch_aspace_destroy(struct arch_aspace *as); /* nothing is mapped any more */
/* Chooses m->vaddr (if 0) and maps m. Returns 0, -ENOMEM (no region or table memory). */
int arch_aspace_map(struct arch_aspace *as, struct mapping *m);
/* Removes m everywhere before it returns (TLBs of all CPUs). Lock held. */
void arch_aspace_unmap(struct arch_aspace *as, struct mapping *m);
/* m->flags has other rights: from the return on they hold on all CPUs, and until then each CPU has
 * the old ones or the new ones. Lock held. */
void arch_aspace_protect(struct arch_aspace *as, const struct mapping *m);
/* The process that runs on this CPU got or lost mappings: reload. Lock held. */
void arch_aspace_refresh(struct process *proc);
/* Text was written: make it visible to instruction fetch on every CPU. */
void arch_text_sync(const void *start, size_t len);

/* ---- ELF [cpu] --------------------------------------------------------------------- */

#define ELF_RELOCATE_WORD 1      /* add the segment's displacement to the 32-bit word */
uint16_t arch_elf_machine(void); /* e_machine accepted */
uint8_t arch_elf_class(void);    /* 1: 32-bit, 2: 64-bit */
/* True if programs are relocated at spawn (MPU); then relocation type r: 0 ignore,
 * ELF_RELOCATE_WORD, or negative: can't be. */
bool arch_elf_relocates(void);
int arch_elf_reloc_kind(unsigned r_type);

/* ---- interrupts and timer ---------------------------------------------------------- */

/* External interrupt lines: 0..arch_irq_count()-1, the controller's own numbers. [board] */
unsigned arch_irq_count(void);
/* Any context. Ordered with memory accesses before and after them as by a full barrier. ops.h may
 * make them inline. */
void arch_irq_mask(unsigned irq);
void arch_irq_unmask(unsigned irq);
/* True if the line is one the kernel itself uses (timer, IPI): never given to a program. */
bool arch_irq_reserved(unsigned irq);
/* Name for listings, or NULL. [board] */
const char *arch_irq_name(unsigned irq);
/*
 * Asks that this CPU's timer interrupt comes at `cycles` (trace clock), or as early as the timer
 * can before that if it can't reach so far; UINT64_MAX: not needed. Past: at once. [cpu or board]
 * The interrupt calls intr_timer().
 */
void arch_timer_set(uint64_t cycles);
/*
 * The sampling interrupt, for D's provider profile: it comes where all other interrupts are masked,
 * too, but for a few instructions of the port. It calls kernel_sample(), and raises an ordinary
 * interrupt of the same CPU, which calls intr_sample() as soon as the kernel lets interrupts in.
 */
bool arch_sample_able(void); /* whether there is one. After boot */
/* As arch_timer_set(), for this CPU's sampling interrupt. It comes once. */
void arch_sample_set(uint64_t cycles);
uint64_t arch_clock_hz(void);
uint64_t arch_clock_skew(void); /* bound across CPUs, in cycles */

/* ---- CPUs -------------------------------------------------------------------------- */

/* Starts CPU n; it ends in kernel_cpu_main(n). 0 or a negative errno. [cpu] */
int arch_cpu_start(unsigned n);
unsigned arch_cpu_count(void); /* present, 1..CONFIG_CPUS */
/* Interrupts the CPUs in the mask (not oneself); each calls cpu_ipi(). */
void arch_ipi(uint32_t cpus);
/*
 * Nothing to run. Interrupts are masked or will be handled before it returns; waits until one is
 * pending, has intr_entry()/intr_timer()/cpu_ipi() called for all that are, and returns. Lock NOT
 * held. Returns at once if cpu->trace.exit_work became nonzero (no lost wake-up).
 */
void arch_wait_for_interrupt(struct cpu *cpu);
/* Preemption point inside a long kernel operation, lock held: serves pending interrupts' first
 * part, if the port masks them in the kernel; nothing where they are open. */
void arch_irq_window(void);
/* From an interrupt or the trace path: makes this CPU pass kernel_exit() soon, even if it is only
 * in an interrupt (Cortex-M pends PendSV). The caller has set cpu->trace.exit_work. */
static inline void arch_request_exit(void);

/* ---- board ------------------------------------------------------------------------- */

/* First of all at boot, called by the port's start-up code: console and clock. [board] */
void arch_board_init(void);
void arch_console_putc(char c); /* polled, works from any context [board] */
int arch_console_getc(void);    /* -1: none; used by the panic prompt only [board] */
/* Seconds since 1970 by the board's clock of the day, read at boot; 0: the board has
 * none. [board] */
uint64_t arch_wall_clock(void);
const char *arch_board_name(void);
const char *arch_cpu_name(void);
/* RAM the kernel may hand out, and the boot image (cpio) in memory. */
void arch_ram(paddr_t *start, size_t *len);
void arch_boot_image(const void **start, size_t *len);
void arch_shutdown(int status) __attribute__((noreturn)); /* emulator: exits with status */
/* The machine begins anew, RAM as it is: written back from the caches before, by whoever wants it.
 * Any context. */
void arch_reset(void) __attribute__((noreturn));
/*
 * A watchdog: unless it is set again within so many ms it panics (kernel_panic_at()), and if that
 * does not help, resets the machine after as much again. 0: it is off. 0, -EINVAL: it can't run so
 * long, -ENOSYS: there is none. Any context. [board]
 */
int arch_watchdog_set(unsigned ms);
/* Writes back what the caches have of this memory: a reset finds it in RAM. Any context. */
void arch_cache_clean(const void *start, size_t len);
/* Semihosting; buf is kernel-accessible and contiguous. -errno, or as HostCall(). -ENOSYS: none
 * here. */
long arch_host_open(const char *path, size_t len, int mode);
long arch_host_write(int handle, const void *buf, size_t len); /* bytes written, 0: none */
long arch_host_close(int handle);
long arch_host_time(void); /* seconds since 1970 on the host */
/* Is it RAM or device memory a driver process may map? false: refuse (kernel RAM, kernel's
 * devices). */
bool arch_device_allowed(paddr_t pa, size_t len);
/*
 * Memory that may not be there, for D: false if the access would fault, reach a device, or memory
 * of another process than the running one. user: the running thread, whose process's memory it is,
 * or with the kernel lock held any thread; NULL: the kernel's. Any context, interrupts masked.
 */
bool arch_peek(void *to, uintptr_t address, size_t bytes, const struct thread *user);
bool arch_poke(uintptr_t address, const void *from, size_t bytes, const struct thread *user);
/* A place in a stack, for kernel/observe/unwind.c. Any context, interrupts masked. */
struct unwind_frame {
    uintptr_t pc, sp, fp, lr;
    bool live;    /* pc is executed next and lr is what is in the link register; else pc is a return
                     address, and lr is not known */
    bool to_user; /* an exception returns to user level here: fp is the thread's, lr EXC_RETURN */
};
/* Where a thread is that has entered the kernel on this CPU, or faulted there. False: not known,
 * e.g. because its frame is lost with an overflow of its stack. */
bool arch_user_frame(const struct thread *t, struct unwind_frame *f);
/* The registers of the function that this is inlined in. */
static inline void arch_frame_here(uintptr_t *pc, uintptr_t *sp, uintptr_t *fp);
/* Makes a word that a stack holds an address of code; false: no call stands before that. user: it
 * is in the program of this thread, which runs; NULL: in the kernel. */
bool arch_return_address(uintptr_t *word, const struct thread *user);
/* Does f->pc, a return address as it was stored, mean that an exception returns? Then f becomes
 * what was interrupted (live), or to_user is set. */
bool arch_exception_frame(struct unwind_frame *f);
/* f->pc is so many bytes behind the start of a function probe's slot: f becomes what was probed,
 * at `site`. */
bool arch_probe_frame(struct unwind_frame *f, uintptr_t site, unsigned behind);
/* After an overflow, a fault has lost the registers: calls `found` for what looks like a return
 * address on the stack. Stale words can add some that are not callers. */
void arch_backtrace_lost(const struct thread *t, int max, void (*found)(uintptr_t ip, void *arg),
                         void *arg);
/*
 * Function probes (kernel/dtrace/fbt.c), lock held; where the port has them (its folder probe/).
 * ARCH_PROBE_WORDS of code that calls kernel_probe_entry or _return, does what the `length` bytes
 * at `site` do (the last instruction of them is the return, if `returns`) and goes on behind them.
 * They will be at `slot`. false: that can't be done.
 */
bool arch_probe_slot(uint32_t code[ARCH_PROBE_WORDS], uintptr_t slot, uintptr_t site,
                     unsigned length, bool returns);
/* A branch of so many bytes, as it is in memory; false: it doesn't reach, or the CPU has none. */
bool arch_probe_branch(uint32_t *insn, uintptr_t from, uintptr_t to, unsigned bytes);
uintptr_t arch_probe_target(uintptr_t site); /* of a branch; 0: there is none */
/* Writes to the kernel's text and makes it seen. No other CPU executes it now, or it is the same
 * that is there. */
void arch_text_write(uintptr_t at, const void *from, size_t bytes);
/* Patches a trace site: on != 0 makes it jump. Lock held or before SMP start; after a batch the
 * caller does arch_text_sync(), and calls all other CPUs if they are to find it there at once. */
void arch_site_patch(uintptr_t site, uintptr_t target, bool on);

/* ---- what the port calls ----------------------------------------------------------- */

/*
 * Each takes the interrupted thread, whose context is saved (NULL: the CPU was idle or booting),
 * and returns the thread to resume, whose address space is set. Interrupts as described above.
 * kernel_call: self->args[] hold the six arguments, copied once.
 */
struct thread *kernel_call(struct thread *self, unsigned number);
struct thread *kernel_exit(struct thread *self);
struct arch_fault {
    int signo;         /* KYMO_SIG* */
    uintptr_t address; /* accessed, if known */
    uintptr_t ip;
    const char *what; /* "write to", "read from", "jump to", "undefined instruction", … */
};
struct thread *kernel_fault(struct thread *self, const struct arch_fault *fault);
/* From an interrupt handler to where it will return to user level: what its functions have saved of
 * the thread's registers. False: the stack can't be followed so far. */
bool kernel_unwind_to_user(struct unwind_frame *out);
/* First part of an interrupt: traces it, masks attached lines, notes the work. No lock. ip: where
 * the CPU was, 0 if idle. in_kernel: the kernel was interrupted (Cortex-M). */
void intr_entry(unsigned irq, uintptr_t ip, bool in_kernel);
void intr_timer(unsigned irq, uintptr_t ip, bool in_kernel);
/* The sampling interrupt: the CPU was at ip. stack: it was in the kernel, with lr in the link
 * register, and so many words were on the kernel's stack from there on; NULL: it ran a program. Own
 * CPU, above every mask. */
void kernel_sample(uintptr_t ip, uintptr_t lr, const uintptr_t *stack, unsigned words);
void intr_sample(unsigned irq, uintptr_t ip, bool in_kernel);
/* TraceEvent() for drivers and hooks: INSERT*, START, STARTNOSTATE, STOP and FLUSHBUFFER, from any
 * context, also an interrupt's; others: -EPERM. args: what follows cmd; data stands for the one
 * that is a pointer. START, STOP and FLUSHBUFFER happen when this CPU leaves the kernel. Returns 0
 * or -errno: trace/interrupt.c. */
long kernel_trace_event(uint32_t cmd, const uint32_t args[4], const void *data);
/* The interrupt that arch_ipi() raised: traces it and serves cross-calls. No lock. */
void intr_ipi(unsigned irq, uintptr_t ip, bool in_kernel);
void cpu_ipi(void); /* cross-calls are served here, no lock */
/* A function probe fires: back is where in its slot the code goes on, regs as
 * arch_probe_argument() reads them. Any context. */
void kernel_probe_entry(const void *back, const uintptr_t *regs);
void kernel_probe_return(const void *back, const uintptr_t *regs);
/* Boot, CPU 0, before anything else in C, when .bss is cleared: the CPUs' data is in memory that
 * nobody has cleared. */
void retain_boot(void);
/* Boot: CPU 0 after its own low-level set-up, on its kernel stack; and each other CPU. Return the
 * first thread to resume. */
struct thread *kernel_main(void);
struct thread *kernel_cpu_main(unsigned n);
/*
 * Questions that a port may ask about a thread (kernel/observe/port.c), so that it needs no other
 * kernel header. struct thread begins with its struct arch_context, args[] follow it at once;
 * struct process begins with its struct arch_aspace. Lock held.
 */
struct process *kernel_thread_process(const struct thread *t);
/* vm_user_ptr() in the thread's process: NULL if the range is not its memory with these rights. */
void *kernel_user_ptr(const struct thread *t, uintptr_t addr, size_t len, unsigned prot);
/* Whether some of this RAM is a process's that is not the running one. Any context, interrupts
 * masked; about memory that changes hands meanwhile it may say either. */
bool kernel_ram_of_others(paddr_t pa, size_t bytes);
void kernel_thread_stack(const struct thread *t, uintptr_t *low, uintptr_t *high);
/* Where its process keeps the kernel address of its library word (LibWord()), or NULL there. */
uint32_t **kernel_lib_word(const struct thread *t);
bool kernel_work_pending(const struct cpu *cpu);
struct cpu *kernel_cpu_at(unsigned n);
/* Ports that extend a 32-bit trace clock in software: at least twice a wrap, interrupts masked. */
void kernel_clock_extended(void);
/* Memory for a port's tables (kernel/mem/phys.c): zeroed; 0: none. */
paddr_t phys_alloc(size_t len, size_t align);
void phys_free(paddr_t pa, size_t len);
/*
 * The kernel itself is wrong: kernel/observe/panic.c. Any context, any lock. kernel_panic() is the
 * port's
 * [cpu]: it saves the registers for arch_panic_registers(), all else as they were, and goes on in
 * kernel_panicked(). kernel_panic_at() is for exceptions and watchdogs: kind and the order of the
 * registers are abi/sys/panic.h's.
 */
void kernel_panic(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void kernel_panicked(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void kernel_panic_at(unsigned kind, const uint64_t *registers, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
void arch_panic_registers(uint64_t *registers);
int kprintf(const char *fmt, ...)
    __attribute__((format(printf, 1, 2))); /* %s %c %d %u %x %p %l* %% , width, 0 */

#endif
