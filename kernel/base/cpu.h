/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Per-CPU data and the kernel lock.
 *
 * Lock legend for this and all kernel headers:
 *   [I] immutable after set-up   [c] own CPU only   [k] kernel lock   [a] atomic
 */
#ifndef KERNEL_BASE_CPU_H
#define KERNEL_BASE_CPU_H

#include "kernel/arch/cpu.h"
#include "kernel/base/assert.h"
#include "kernel/base/list.h"
#include "trace/ring.h"

/* Work that kernel_exit() does before it resumes a thread. */
#define WORK_RESCHED 0x01 /* another thread may have to run on this CPU */
#define WORK_INTR 0x02    /* intr_entry() noted interrupts to deliver */
#define WORK_TIMER 0x04   /* this CPU's timer interrupt was taken */
#define WORK_SERVICE 0x40 /* the CPU is idle for a deferred timer: sched_service_request() */
#define WORK_RAISE 0x10   /* a D program has raised a signal: kernel/dtrace/raise.c */
#define WORK_SAMPLE 0x20  /* the sampling interrupt was taken or must be set: dtrace/profile.c */
#define WORK_TRACE 0x08   /* a trace buffer passed the high-water mark or was closed */

/* Upper bound of the interrupt lines that programs can attach. */
#ifndef CONFIG_IRQ_LINES
#define CONFIG_IRQ_LINES 256
#endif
#define INTR_WORDS ((CONFIG_IRQ_LINES + 31) / 32)

struct sample; /* kernel/dtrace/sample.h */

struct cpu {
    /* [c] must be first: kernel/arch/<cpu>/trace.h finds it by the per-CPU register or symbol.
     * Contains [a] trace.exit_work: WORK_*; set by any CPU or interrupt. */
    struct trace_cpu trace;
    struct thread *current; /* [c] running user thread; NULL: idle. Read by the ports' entry code */
    uint32_t resched;       /* [c] like WORK_RESCHED, requested by this CPU in the kernel */
    uint32_t id;            /* [I] */
    uint32_t bit;           /* [I] 1 << id */
    uint32_t others;        /* [I] all but bit */
    struct thread *handoff; /* [k] the handoff thread (kernel/thread/sched.h); NULL: none */
    uint32_t handoff_front; /* [k] 1: handoff is enqueued first among its priority; 0: last */
    /* [I] represents idle time in the trace and in accounting; never resumed */
    struct thread *idle;
    uint64_t since;       /* [c] when current (or idle) took the CPU */
    uint64_t timer_at;    /* [c] expiry programmed into the hardware timer */
    uint64_t quantum_end; /* [c] round robin; UINT64_MAX: none */
    /* [c] lines noted by intr_entry(); read by any CPU */
    volatile uint32_t intr_pending[INTR_WORDS];
    volatile uint32_t intr_words; /* [c] bit per nonzero word of intr_pending */
    /* [c] for D: the pending lines that interrupted the kernel */
    uint32_t intr_in_kernel[INTR_WORDS];
    /* [c] for D: the timer interrupt whose work is pending, as number + 1 << 1 | whether it
     * interrupted the kernel; 0: none */
    volatile uint32_t timer_came;
    volatile uint32_t xcall_pending; /* [a] a cross-call is pending */
    uint32_t xcalls_served; /* [c] number of cross-calls it has executed for others; wraps */
    bool online;            /* [I] after boot */
    bool locked;            /* [c] debug images: this CPU holds the kernel lock */
    /* [c] structures that the event of the current call has read and the call now uses:
     * kernel/mem/copy.c */
    uint32_t kept;
    const struct process *kept_for;
    /* [c] the sample of the profile probe that is firing; NULL: none */
    const struct sample *sampled;
};

extern struct cpu cpus[CONFIG_CPUS];
extern volatile uint32_t cpus_online; /* mask */

/* Returns the number of online CPUs (their numbers may have gaps). */
unsigned cpu_online_count(void);

/* Sets work bits of this CPU from an interrupt. Interrupts don't nest, so with one CPU, where the
 * only other writer is the interrupted kernel, whose atomics detect the change, no atomic is
 * needed. */
static inline void cpu_note(struct cpu *cpu, uint32_t work)
{
    if (CONFIG_CPUS > 1) {
        __atomic_fetch_or(&cpu->trace.exit_work, work, __ATOMIC_RELAXED);
    } else {
        cpu->trace.exit_work |= work;
    }
    arch_request_exit();
}

/* Sets work bits of a CPU and, if it is another CPU, interrupts it. Any context. */
void cpu_request(struct cpu *cpu, uint32_t work);

/*
 * Runs fn(arg) on every online CPU, this one included, and returns when all have. fn runs with
 * interrupts masked and without the lock: it may access per-CPU data and atomics only. Lock held
 * (one cross-call at a time).
 */
void cpu_run_on_all(void (*fn)(void *arg), void *arg);
void cpu_run_on(uint32_t which, void (*fn)(void *arg), void *arg); /* a mask of CPUs */

/* Runs fn(arg) on this CPU while all others wait in a part of the kernel that is never patched; if
 * there are others, interrupts are masked meanwhile. Afterwards no CPU executes an instruction that
 * it fetched earlier. Lock held. */
void cpu_run_alone(void (*fn)(void *arg), void *arg);

/* For a panic: like cpu_run_on(), but needs no lock, does not wait and excludes this CPU. Returns
 * the mask of CPUs called. */
uint32_t cpu_call_others(void (*fn)(void *arg), void *arg);

/*
 * The one kernel lock. Not recursive. Fair: waiting CPUs get it in turn, and before any CPU that
 * comes later. So once a CPU waits, each other one takes the lock at most twice before it. A
 * waiting CPU serves cross-calls and the first parts of its interrupts.
 */
extern volatile uint32_t kernel_lock_word; /* [a] see kernel/base/cpu.c */
#define KERNEL_LOCK_HELD 0xffu /* the part of the word that says whether a CPU has the lock */
void kernel_lock_slow(void);
/* Lets all CPUs that wait now have the lock first. Lock held. */
void kernel_lock_pass(void);

/* Returns whether a CPU waits for the lock, which this one has. */
static inline bool kernel_lock_wanted(void)
{
    return CONFIG_CPUS > 1 && kernel_lock_word > KERNEL_LOCK_HELD;
}

/* For assertions: returns whether this CPU holds the lock. With one CPU there is no lock to hold,
 * and before the first CPU is online it isn't needed: true. */
static inline bool kernel_locked(void)
{
    return CONFIG_CPUS == 1 || arch_cpu()->locked || cpus_online == 0;
}

/* For assertions: returns whether this CPU may resume a thread: it holds no lock, interrupts come
 * as before, and no probe is firing. */
static inline bool kernel_may_leave(void)
{
    const struct cpu *cpu = arch_cpu();

    return (CONFIG_CPUS == 1 || !cpu->locked) && arch_irq_as_entered() && !cpu->trace.fired;
}

/* Returns the lock's word for kernel_lock_try_at() and kernel_unlock_at(): a caller that has a
 * register to spare computes the address only once. */
static inline volatile uint32_t *kernel_lock_at(void)
{
    return CONFIG_CPUS > 1 ? arch_address(&kernel_lock_word) : &kernel_lock_word;
}

/* Takes the lock if it is free and no CPU waits for it. Returns whether this CPU has it now; never
 * waits. */
static inline bool kernel_lock_try_at(volatile uint32_t *lock)
{
    bool taken = CONFIG_CPUS == 1 || arch_spin_try(lock);

    kernel_debug(arch_cpu()->locked |= taken);
    return taken;
}

static inline void kernel_lock(void)
{
    kernel_assert(!arch_cpu()->locked || CONFIG_CPUS == 1);
    if (CONFIG_CPUS > 1 && !arch_spin_try(&kernel_lock_word)) {
        kernel_lock_slow();
    }
    kernel_debug(arch_cpu()->locked = true);
}

/*
 * Takes the lock for a caller whose kernel_lock_try_at() has failed and that has already read data
 * that only cross-calls change (kernel/mem/vm_list.h). Returns false if it has executed a
 * cross-call meanwhile, so that the data may be stale.
 */
static inline bool kernel_lock_undisturbed(void)
{
    const struct cpu *cpu = arch_cpu();
    uint32_t served = cpu->xcalls_served;

    kernel_lock_slow();
    kernel_debug(arch_cpu()->locked = true);
    return cpu->xcalls_served == served;
}

static inline void kernel_unlock_at(volatile uint32_t *lock)
{
    kernel_assert(kernel_locked());
    kernel_debug(arch_cpu()->locked = false);
    if (CONFIG_CPUS > 1) {
        arch_spin_release(lock);
    }
}

static inline void kernel_unlock(void)
{
    kernel_unlock_at(&kernel_lock_word);
}

#endif
