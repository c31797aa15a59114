/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * More than one CPU: their start by INIT and start-up interrupts (secondary.S), interrupts between
 * them, and the calls that the port itself makes to others: for their TLBs, and because of
 * instructions that they may have fetched before a change. Kernel lock held, or CPU 0 at boot.
 *
 * A call waits until each CPU has executed it. No CPU can delay it for long, for the reasons that
 * kernel/base/cpu.c gives: one that spins for the lock has interrupt windows. Tested by test/board,
 * suites smp8, map-multi, storms-multi, dead-cpu-pc.
 */
#include "abi/errno.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/assert.h"
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/x86_64/lapic.h"
#include "kernel/arch/x86_64/port.h"

extern const char x86_trampoline[], x86_trampoline_end[]; /* secondary.S */

#define FIRST_START_US 10000 /* from INIT to the first start-up interrupt */
#define SECOND_START_US 1000
#define START_US (CPU_START_SECONDS * 1000000u)

/* For secondary.S: the CPU that is being started. */
struct x86_starting x86_starting;
volatile uint32_t x86_cpu_ticket;     /* [a] its APIC's identifier | X86_CPU_* */
static volatile uint32_t started = 1; /* [a] CPUs that execute C */

/* ---- the clocks' difference -------------------------------------------------------- */

/*
 * Each CPU has a time-stamp counter of its own. When a CPU starts, CPU 0 requests its time several
 * times: the answer is between the question and its arrival, so the two differ by no more than the
 * answer's distance from either.
 */
#define SKEW_ROUNDS 32

static volatile uint32_t skew_question, skew_answer; /* [a] numbers of rounds */
static volatile uint64_t skew_time;                  /* [a] valid from the answer on */
static uint64_t skew;                                /* [I] the largest, relative to CPU 0 */

static uint64_t skew_cycles(void)
{
    __asm__ volatile("lfence" ::: "memory");
    return arch_cycles();
}

static void x86_skew_answer(void)
{
    for (uint32_t round = 1; round <= SKEW_ROUNDS; round++) {
        while (skew_question != round) {
            arch_spin_hint();
        }
        skew_time = skew_cycles();
        __atomic_store_n(&skew_answer, round, __ATOMIC_RELEASE);
    }
}

static uint64_t skew_distance(uint64_t a, uint64_t b)
{
    return (int64_t)(a - b) < 0 ? b - a : a - b;
}

static void x86_skew_measure(void)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t round = 1; round <= SKEW_ROUNDS; round++) {
        uint64_t from = skew_cycles();
        __atomic_store_n(&skew_question, round, __ATOMIC_RELEASE);
        while (__atomic_load_n(&skew_answer, __ATOMIC_ACQUIRE) != round) {
            arch_spin_hint();
        }
        uint64_t to = skew_cycles(), early = skew_distance(skew_time, from);
        uint64_t late = skew_distance(to, skew_time), most = early > late ? early : late;
        least = most < least ? most : least;
    }
    skew_question = skew_answer = 0;
    skew = least > skew ? least : skew;
}

/* Two CPUs may differ from CPU 0 in opposite directions. */
uint64_t arch_clock_skew(void)
{
    return 2 * skew;
}

/* ---- start ------------------------------------------------------------------------- */

/* Waits until the CPU has come, at most so long. */
static bool x86_cpu_came(unsigned us)
{
    const uint64_t from = arch_cycles(), wait = arch_clock_hz() / 1000000 * us;

    while (!(x86_cpu_ticket & X86_CPU_TAKEN) && arch_cycles() - from < wait) {
        arch_spin_hint();
    }
    return x86_cpu_ticket & X86_CPU_TAKEN;
}

/* Either this withdraws the offer, so that a CPU that comes later stops; or the CPU has come. */
static bool x86_cpu_withdrawn(uint32_t wanted)
{
    return __atomic_compare_exchange_n(&x86_cpu_ticket, &wanted, 0, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

int arch_cpu_start(unsigned n)
{
    const uint32_t id = n < arch_cpu_count() ? x86_board_cpu(n) : UINT32_MAX;
    const uint32_t wanted = id | X86_CPU_WANTED;
    uintptr_t low, high;

    if (n == 0 || id > X86_CPU_ID_MOST) {
        return -EINVAL;
    }
    arch_kernel_stack(n, &low, &high);
    x86_starting = (struct x86_starting){high, n};
    __builtin_memcpy(arch_phys_to_virt(X86_TRAMPOLINE), x86_trampoline,
                     (size_t)(x86_trampoline_end - x86_trampoline));
    __atomic_store_n(&x86_cpu_ticket, wanted, __ATOMIC_SEQ_CST);
    x86_lapic_send(id, ICR_INIT);
    x86_cpu_came(FIRST_START_US);
    x86_lapic_send(id, ICR_START | X86_TRAMPOLINE >> 12);
    if (!x86_cpu_came(SECOND_START_US)) {
        x86_lapic_send(id, ICR_START | X86_TRAMPOLINE >> 12);
    }
    if (!x86_cpu_came(START_US) && x86_cpu_withdrawn(wanted)) {
        return -ENODEV;
    }
    x86_skew_measure();
    return 0;
}

struct thread *x86_start_secondary(unsigned n)
{
    x86_cpu_load(n);
    x86_protection_on();
    x86_apic_cpu_init();
    x86_skew_answer();
    __atomic_fetch_or(&started, 1u << n, __ATOMIC_SEQ_CST);
    return kernel_cpu_main(n);
}

/* ---- interrupts -------------------------------------------------------------------- */

void x86_ipi(uint32_t cpus, unsigned vector)
{
    for (; cpus; cpus &= cpus - 1) {
        x86_lapic_send(x86_board_cpu((unsigned)__builtin_ctz(cpus)), vector);
    }
}

void arch_ipi(uint32_t cpus)
{
    x86_ipi(cpus, VECTOR_IPI);
}

/* ---- calls to other CPUs ----------------------------------------------------------- */

static struct {
    void (*fn)(uint64_t a, uint64_t b, uint64_t c);
    uint64_t a, b, c;
} call; /* [k] valid while a CPU's `called` is set */

void x86_call_serve(void)
{
    struct x86_cpu *cpu = x86_this_cpu();

    if (__atomic_load_n(&cpu->called, __ATOMIC_ACQUIRE)) {
        call.fn(call.a, call.b, call.c);
        __atomic_store_n(&cpu->called, 0, __ATOMIC_RELEASE);
    }
}

/* A CPU that panics calls this one, and doesn't wait for calls of others: so this one serves
 * them. */
void x86_call(uint32_t cpus, void (*fn)(uint64_t a, uint64_t b, uint64_t c), uint64_t a, uint64_t b,
              uint64_t c)
{
    kernel_assert(kernel_holds_lock() && !(cpus & x86_this_bit()));
    call.fn = fn;
    call.a = a;
    call.b = b;
    call.c = c;
    for (uint32_t rest = cpus; rest; rest &= rest - 1) {
        __atomic_store_n(&x86_cpus[__builtin_ctz(rest)].called, 1, __ATOMIC_SEQ_CST);
    }
    x86_ipi(cpus, VECTOR_CALL);
    for (; cpus; cpus &= cpus - 1) {
        const struct x86_cpu *cpu = &x86_cpus[__builtin_ctz(cpus)];
        while (__atomic_load_n(&cpu->called, __ATOMIC_ACQUIRE)) {
            cpu_ipi();
            arch_spin_hint();
        }
    }
}

/* An interrupt's return serializes; a CPU that serves the call in a spin needs CPUID for that. */
static void x86_serialise(uint64_t a, uint64_t b, uint64_t c)
{
    uint32_t nothing[4];

    (void)a;
    (void)b;
    (void)c;
    x86_cpuid(0, nothing);
}

uint32_t x86_cpus_started(void)
{
    return started;
}

bool x86_cpus_others(void)
{
    return started & ~x86_this_bit();
}

void x86_serialise_all(void)
{
    x86_serialise(0, 0, 0);
    x86_call(started & ~x86_this_bit(), x86_serialise, 0, 0, 0);
}
