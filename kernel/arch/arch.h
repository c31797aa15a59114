/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port interface: everything the portable kernel needs from a CPU and a board, each function
 * with its contract.
 *
 * Functions are supplied by kernel/arch/<cpu>/ ("[cpu]") or by boards/ ("[board]", usually through
 * boards/drivers/). There are no weak symbols: a function missing from a port is a link error.
 * Small functions are static inlines, declared here and defined in the port's ops.h, which the
 * makefile names.
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
 *   struct arch_aspace    MPU or MMU state of one process
 *   ARCH_CODE_HIGH        upper 32 bits of the kernel's code addresses; 0 on a 32-bit machine
 */
#include ARCH_OPS_H

/* ---- inlines of ops.h [cpu] -------------------------------------------------------- */

#define ARCH_PROBE_WORDS 6 /* size of a function probe's slot */
#define ARCH_SITE_BYTES 4  /* size of a trace site */

/* Returns this CPU's struct cpu. */
static inline struct cpu *arch_cpu(void);
/* Masks interrupts on this CPU; returns the state for arch_irq_restore(). Nests. */
static inline uintptr_t arch_irq_save(void);
static inline void arch_irq_restore(uintptr_t state);
/* Spin lock for SMP; empty where ARCH_MAX_CPUS is 1. arch_spin_try() returns true if it took the
 * lock (acquire). */
static inline bool arch_spin_try(volatile uint32_t *lock);
static inline void arch_spin_release(volatile uint32_t *lock);
/* Spin-loop hint: lets other CPUs run, also under emulators that run CPUs in turn. */
static inline void arch_spin_hint(void);
/* Reads the trace clock: 64 bits, monotonic on each CPU, in cycles of arch_clock_hz(). Any
 * context. */
static inline uint64_t arch_cycles(void);
/* Returns the high 64 bits of the product. */
static inline uint64_t arch_multiply_high(uint64_t a, uint64_t b);
/* Converts a physical RAM address to a kernel pointer (direct map), and back. */
static inline void *arch_phys_to_virt(paddr_t pa);
static inline paddr_t arch_virt_to_phys(const void *va);
/*
 * Called by the scheduler when `next` takes the CPU from `prev`. The two differ; either may be NULL
 * (idle). Lock held. Switches the address space if the process differs, FP access, and the TLS
 * register or library word. The entry and exit code moves the integer registers.
 */
static inline void arch_switch(struct thread *prev, struct thread *next);
/* arch_fp_unused() returns true if neither thread has live FP state; arch_switch_integer() is then
 * equivalent to arch_switch(). */
static inline bool arch_fp_unused(const struct thread *prev, const struct thread *next);
static inline void arch_switch_integer(struct thread *prev, struct thread *next);
/* Compare-and-swap of 32 bits of user memory through its kernel pointer; returns true if
 * swapped. */
static inline bool arch_cas32(volatile uint32_t *p, uint32_t expected, uint32_t desired);

/* ---- contexts [cpu] ---------------------------------------------------------------- */

/*
 * Prepares a new thread: on resume it runs func(arg) at user level on the given stack (stack_high
 * is the first byte above it), with `ret` as its return address (0: none). Returns 0, or -EFAULT if
 * the stack is not memory of the process. tls: struct _thread_attr.tls.
 */
int arch_context_init(struct thread *t, uintptr_t func, uintptr_t arg, uintptr_t stack_low,
                      uintptr_t stack_high, uintptr_t ret, uintptr_t tls);
/* Makes a thread that is not running continue at func (ThreadCancel). */
void arch_context_redirect(struct thread *t, uintptr_t func);
/* Sets the result of the thread's pending kernel call; the thread sees it when it resumes. error: 0
 * or an errno. */
static inline void arch_context_set_result(struct thread *t, long value, int error);
/* LibWord(): sets the running thread's tls. */
void arch_context_set_tls(struct thread *t, uintptr_t tls);
/* Return the saved user instruction pointer and stack pointer, for reports and state listings. */
uintptr_t arch_context_ip(const struct thread *t);
uintptr_t arch_context_sp(const struct thread *t);
/* Releases what the context holds outside the struct (FP state in a CPU's registers). Lock held. */
void arch_context_drop(struct thread *t);
/* Prints the registers with kprintf(). */
void arch_context_print(const struct thread *t);

/* ---- address spaces [cpu] ---------------------------------------------------------- */

/* A mapping of a process: contiguous in virtual and in physical memory. See kernel/mem/vm.h. */
struct mapping {
    uintptr_t vaddr; /* 0: free entry */
    size_t len;      /* bytes, multiple of the granule */
    paddr_t phys;
    uint32_t flags; /* KYMO_PROT_* | KYMO_MAP_* | MAPPING_* */
    uint32_t arch;  /* private to the port (region number, …) */
};
#define MAPPING_OWNED 0x1000 /* RAM that is freed with the mapping */

/* Computes the shape of a mapping that arch_aspace_map() accepts: the rounded length, and the
 * alignment of phys (on an MPU also of the virtual address, which equals it). Returns 0, or -ENOMEM
 * if no such mapping is possible. */
int arch_map_shape(size_t len, unsigned flags, size_t *rounded, size_t *align);
int arch_aspace_create(struct arch_aspace *as);   /* 0, -EAGAIN, -ENOMEM */
void arch_aspace_destroy(struct arch_aspace *as); /* precondition: no mappings left */
/* Chooses m->vaddr (if 0) and maps m. Returns 0, or -ENOMEM (no region or table memory). */
int arch_aspace_map(struct arch_aspace *as, struct mapping *m);
/* Unmaps m; when it returns, m is gone on all CPUs (TLBs included). Lock held. */
void arch_aspace_unmap(struct arch_aspace *as, struct mapping *m);
/* Applies changed rights in m->flags. When it returns, all CPUs use the new rights; until then each
 * uses either the old or the new ones. Lock held. */
void arch_aspace_protect(struct arch_aspace *as, const struct mapping *m);
/* Reloads the mappings of the process that runs on this CPU after they changed. Lock held. */
void arch_aspace_refresh(struct process *proc);
/* Makes newly written text visible to instruction fetch on every CPU. */
void arch_text_sync(const void *start, size_t len);

/* ---- ELF [cpu] --------------------------------------------------------------------- */

#define ELF_RELOCATE_WORD 1      /* adds the segment's displacement to the 32-bit word */
uint16_t arch_elf_machine(void); /* accepted e_machine */
uint8_t arch_elf_class(void);    /* 1: 32-bit, 2: 64-bit */
/* arch_elf_relocates() returns true if programs are relocated at spawn (MPU). Only then is
 * arch_elf_reloc_kind() used: it returns 0 (ignore), ELF_RELOCATE_WORD, or a negative value if the
 * relocation type is unsupported. */
bool arch_elf_relocates(void);
int arch_elf_reloc_kind(unsigned r_type);

/* ---- interrupts and timer ---------------------------------------------------------- */

/* External interrupt lines: 0..arch_irq_count()-1, the controller's own numbers. [board] */
unsigned arch_irq_count(void);
/* Mask and unmask a line. Ordered with earlier and later memory accesses like a full barrier. Any
 * context. ops.h may make them inline. */
void arch_irq_mask(unsigned irq);
void arch_irq_unmask(unsigned irq);
/* Returns true if the kernel itself uses the line (timer, IPI); such a line is never given to a
 * program. */
bool arch_irq_reserved(unsigned irq);
/* Returns the line's name for listings, or NULL. [board] */
const char *arch_irq_name(unsigned irq);
/*
 * Programs this CPU's timer interrupt for time `cycles` of the trace clock; for the longest time
 * the timer supports if that is earlier; at once if the time is past. UINT64_MAX: no interrupt
 * needed. The interrupt calls intr_timer(). [cpu or board]
 */
void arch_timer_set(uint64_t cycles);
/*
 * The sampling interrupt, for D's provider profile. It is taken even where all other interrupts are
 * masked, except in a few instructions of the port. It calls kernel_sample() and raises an ordinary
 * interrupt of the same CPU, which calls intr_sample() as soon as the kernel unmasks interrupts.
 */
bool arch_sample_able(void); /* whether the port has one; valid after boot */
/* Like arch_timer_set(), for this CPU's sampling interrupt. One-shot. */
void arch_sample_set(uint64_t cycles);
uint64_t arch_clock_hz(void);
uint64_t arch_clock_skew(void); /* upper bound across CPUs, in cycles */

/* ---- CPUs -------------------------------------------------------------------------- */

/* Starts CPU n, which then calls kernel_cpu_main(n). Returns 0 or a negative errno. [cpu] */
int arch_cpu_start(unsigned n);
unsigned arch_cpu_count(void); /* CPUs present, 1..CONFIG_CPUS */
/* Interrupts the CPUs in the mask, which excludes this CPU; each calls cpu_ipi(). */
void arch_ipi(uint32_t cpus);
/*
 * Waits in idle until an interrupt is pending, has intr_entry()/intr_timer()/cpu_ipi() called for
 * all pending ones, and returns. The port may mask interrupts meanwhile but handles them before it
 * returns. Lock NOT held. Returns at once if cpu->trace.exit_work became nonzero (no lost wake-up).
 */
void arch_wait_for_interrupt(struct cpu *cpu);
/* Preemption point inside a long kernel operation, lock held. If the port masks interrupts in the
 * kernel, serves the first part of the pending ones; else does nothing. */
void arch_irq_window(void);
/* From an interrupt or the trace path: makes this CPU pass kernel_exit() soon, even if it is only
 * inside an interrupt handler (Cortex-M pends PendSV). The caller has set cpu->trace.exit_work. */
static inline void arch_request_exit(void);

/* ---- board ------------------------------------------------------------------------- */

/* Called first at boot by the port's start-up code: sets up console and clock. [board] */
void arch_board_init(void);
void arch_console_putc(char c); /* polled; any context [board] */
int arch_console_getc(void);    /* -1: no input; used by the panic prompt only [board] */
/* Returns seconds since 1970 from the board's real-time clock, read at boot; 0: the board has no
 * such clock. [board] */
uint64_t arch_wall_clock(void);
const char *arch_board_name(void);
const char *arch_cpu_name(void);
/* Return the RAM that the kernel may allocate, and the boot image (cpio) in memory. */
void arch_ram(paddr_t *start, size_t *len);
void arch_boot_image(const void **start, size_t *len);
void arch_shutdown(int status) __attribute__((noreturn)); /* on an emulator: exits with status */
/* Resets the machine; RAM is preserved. The caller cleans the caches first if it needs the
 * contents. Any context. */
void arch_reset(void) __attribute__((noreturn));
/*
 * Arms the watchdog for `ms` milliseconds; 0 disarms it. Unless it is armed again in time it panics
 * (kernel_panic_at()), and if that hangs, resets the machine after the same time again. Returns 0,
 * -EINVAL (ms above the watchdog's range) or -ENOSYS (no watchdog). Any context. [board]
 */
int arch_watchdog_set(unsigned ms);
/* Writes dirty cache lines of this memory back to RAM, so that the contents survive a reset. Any
 * context. */
void arch_cache_clean(const void *start, size_t len);
/* Semihosting; buf is kernel-accessible and contiguous. Return -errno, or what HostCall() returns;
 * -ENOSYS: there is no host. */
long arch_host_open(const char *path, size_t len, int mode);
long arch_host_write(int handle, const void *buf, size_t len); /* returns bytes written; 0: none */
long arch_host_close(int handle);
long arch_host_time(void); /* seconds since 1970 on the host */
/* Returns true if a driver process may map this range: RAM or device memory, but not the kernel's
 * RAM or the kernel's devices. */
bool arch_device_allowed(paddr_t pa, size_t len);
/*
 * Fault-safe load and store for D. Return false if the access would fault, hit a device, or touch
 * memory of another process than the running one. user: the running thread (or, with the kernel
 * lock held, any thread) whose process's memory is accessed; NULL: kernel memory. Any context,
 * interrupts masked.
 */
bool arch_peek(void *to, uintptr_t address, size_t bytes, const struct thread *user);
bool arch_poke(uintptr_t address, const void *from, size_t bytes, const struct thread *user);
/* A stack frame, for kernel/observe/unwind.c. Any context, interrupts masked. */
struct unwind_frame {
    uintptr_t pc, sp, fp, lr;
    /* pc is the next instruction and lr the link register; else pc is a return address and lr is
     * unknown */
    bool live;
    /* an exception returns to user level here: fp is the thread's, lr is EXC_RETURN */
    bool to_user;
};
/* Returns the user-level frame of a thread that entered the kernel or faulted on this CPU. Returns
 * false if it is unknown, for example lost in a stack overflow. */
bool arch_user_frame(const struct thread *t, struct unwind_frame *f);
/* Returns the registers of the function this is inlined in. */
static inline void arch_frame_here(uintptr_t *pc, uintptr_t *sp, uintptr_t *fp);
/* Converts a stack word to a code address. Returns false if no call instruction precedes that
 * address. user: look in this running thread's program; NULL: in the kernel. */
bool arch_return_address(uintptr_t *word, const struct thread *user);
/* Returns true if f->pc, a stored return address, is an exception return. f is then the interrupted
 * frame (live), or f->to_user is set. */
bool arch_exception_frame(struct unwind_frame *f);
/* f->pc lies `behind` bytes after the start of a function probe's slot: replaces f with the frame
 * of the probed function at `site`. */
bool arch_probe_frame(struct unwind_frame *f, uintptr_t site, unsigned behind);
/* Recovers a backtrace when a stack overflow made a fault lose the registers: calls `found` for
 * each stack word that looks like a return address. Stale words may be reported as callers. */
void arch_backtrace_lost(const struct thread *t, int max, void (*found)(uintptr_t ip, void *arg),
                         void *arg);
/*
 * Builds the slot of a function probe (kernel/dtrace/fbt.c; only ports with a folder probe/). Lock
 * held. Writes ARCH_PROBE_WORDS of code that call kernel_probe_entry or _return, execute the
 * `length` displaced bytes of `site` (if `returns`, their last instruction is the return) and
 * continue behind them. The code will run at address `slot`. Returns false if the site can't be
 * probed.
 */
bool arch_probe_slot(uint32_t code[ARCH_PROBE_WORDS], uintptr_t slot, uintptr_t site,
                     unsigned length, bool returns);
/* Encodes a branch of this many bytes, in memory order. Returns false if the target is out of range
 * or the CPU has no such branch. */
bool arch_probe_branch(uint32_t *insn, uintptr_t from, uintptr_t to, unsigned bytes);
uintptr_t arch_probe_target(uintptr_t site); /* target of the branch at site; 0: not a branch */
/* Writes to the kernel's text and makes the change visible to instruction fetch. Precondition: no
 * other CPU executes that text, or the bytes don't change. */
void arch_text_write(uintptr_t at, const void *from, size_t bytes);
/* Patches a trace site; on: the site jumps to target. Lock held, or before SMP start. After a batch
 * the caller calls arch_text_sync(), and cross-calls all other CPUs if they must see the change at
 * once. */
void arch_site_patch(uintptr_t site, uintptr_t target, bool on);

/* ---- what the port calls ----------------------------------------------------------- */

/*
 * Each takes the interrupted thread, whose context is saved (NULL: the CPU was idle or booting),
 * and returns the thread to resume, with its address space set. Interrupts: see the execution model
 * above. kernel_call: self->args[] hold the six arguments, copied once.
 */
struct thread *kernel_call(struct thread *self, unsigned number);
struct thread *kernel_exit(struct thread *self);
struct arch_fault {
    int signo;         /* KYMO_SIG* */
    uintptr_t address; /* the accessed address, if known */
    uintptr_t ip;
    const char *what; /* "write to", "read from", "jump to", "undefined instruction", … */
};
struct thread *kernel_fault(struct thread *self, const struct arch_fault *fault);
/* Unwinds from an interrupt handler to the point of its return to user level: returns the thread's
 * registers as the kernel's functions saved them. Returns false if the stack can't be followed so
 * far. */
bool kernel_unwind_to_user(struct unwind_frame *out);
/* First part of an interrupt: traces it, masks attached lines, queues the work. No lock. ip: the
 * interrupted instruction, 0 if idle. in_kernel: the kernel was interrupted (Cortex-M). */
void intr_entry(unsigned irq, uintptr_t ip, bool in_kernel);
void intr_timer(unsigned irq, uintptr_t ip, bool in_kernel);
/* The sampling interrupt, taken at ip. stack: `words` words of the interrupted kernel stack, with
 * lr the link register; NULL: a program was interrupted. Own CPU, above every mask. */
void kernel_sample(uintptr_t ip, uintptr_t lr, const uintptr_t *stack, unsigned words);
void intr_sample(unsigned irq, uintptr_t ip, bool in_kernel);
/*
 * TraceEvent() for drivers and hooks: INSERT*, START, STARTNOSTATE, STOP and FLUSHBUFFER, from any
 * context including interrupts; other commands return -EPERM. args: the arguments after cmd; data
 * replaces the one that is a pointer. START, STOP and FLUSHBUFFER take effect when this CPU leaves
 * the kernel. Returns 0 or -errno. See trace/interrupt.c.
 */
long kernel_trace_event(uint32_t cmd, const uint32_t args[4], const void *data);
/* Handles the interrupt that arch_ipi() raised: traces it and serves cross-calls. No lock. */
void intr_ipi(unsigned irq, uintptr_t ip, bool in_kernel);
void cpu_ipi(void); /* serves cross-calls; no lock */
/* A function probe fires. back: the address in the probe's slot where execution continues; regs: as
 * arch_probe_argument() reads them. Any context. */
void kernel_probe_entry(const void *back, const uintptr_t *regs);
void kernel_probe_return(const void *back, const uintptr_t *regs);
/* Boot, CPU 0: the first C function after .bss is cleared. Keeps an earlier boot's retained
 * recording, counts boots, and clears the CPUs' data, which lies in memory that start-up code does
 * not clear. */
void retain_boot(void);
/* Boot: kernel_main() on CPU 0 after its low-level set-up, on its kernel stack; kernel_cpu_main()
 * on each other CPU. Return the first thread to resume. */
struct thread *kernel_main(void);
struct thread *kernel_cpu_main(unsigned n);
/*
 * Accessors that let a port query a thread without another kernel header (kernel/observe/port.c).
 * struct thread begins with its struct arch_context, directly followed by args[]; struct process
 * begins with its struct arch_aspace. Lock held.
 */
struct process *kernel_thread_process(const struct thread *t);
/* vm_user_ptr() in the thread's process: NULL if the range is not its memory with these rights. */
void *kernel_user_ptr(const struct thread *t, uintptr_t addr, size_t len, unsigned prot);
/* Returns true if some of this RAM belongs to a process other than the running one. Any context,
 * interrupts masked. The answer is unreliable for memory that changes owner meanwhile. */
bool kernel_ram_of_others(paddr_t pa, size_t bytes);
void kernel_thread_stack(const struct thread *t, uintptr_t *low, uintptr_t *high);
/* Returns where the thread's process stores the kernel address of its library word (LibWord()); the
 * location holds NULL if there is none. */
uint32_t **kernel_lib_word(const struct thread *t);
bool kernel_work_pending(const struct cpu *cpu);
struct cpu *kernel_cpu_at(unsigned n);
/* For ports that extend a 32-bit trace clock in software: call at least twice a wrap, interrupts
 * masked. */
void kernel_clock_extended(void);
/* Memory for a port's tables (kernel/mem/phys.c): zeroed; 0: out of memory. */
paddr_t phys_alloc(size_t len, size_t align);
void phys_free(paddr_t pa, size_t len);
/*
 * Fatal kernel errors: kernel/observe/panic.c. Any context, any lock. kernel_panic() is the port's
 * [cpu]: it saves the registers for arch_panic_registers(), leaves all else unchanged, and
 * continues in kernel_panicked(). kernel_panic_at() is for exceptions and watchdogs:
 * abi/sys/panic.h defines kind and the order of the registers.
 */
void kernel_panic(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void kernel_panicked(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void kernel_panic_at(unsigned kind, const uint64_t *registers, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
void arch_panic_registers(uint64_t *registers);
int kprintf(const char *fmt, ...)
    __attribute__((format(printf, 1, 2))); /* %s %c %d %u %x %p %l* %% , width, 0 */

#endif
