/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts of this CPU, and its timer: the local APIC, whose registers are in lapic.h. The
 * time-stamp counter is the trace clock; the rates of both are measured by a counter of the board.
 * Interrupts are taken from programs and, in the kernel, in two windows: idle, and
 * arch_irq_window(). First parts take no lock.
 */
#include "kernel/arch/assert.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/panic.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/x86_64/clock.h"
#include "kernel/arch/x86_64/lapic.h"
#include "kernel/arch/x86_64/port.h"

#define APIC_ENABLE 0x100
#define LVT_MASKED 0x10000
#define LVT_NMI 0x400
#define DIVIDE_BY_1 0xb

void x86_apic_cpu_init(void)
{
    x86_lapic_enable();
    lapic_write(LAPIC_TPR, 0);
    lapic_write(LAPIC_LVT_LINT0, LVT_MASKED);
    lapic_write(LAPIC_LVT_LINT1, LVT_NMI); /* the machine's own NMI: fault.c panics */
    lapic_write(LAPIC_LVT_ERROR, LVT_MASKED);
    lapic_write(LAPIC_SPURIOUS, APIC_ENABLE | VECTOR_SPURIOUS);
    lapic_write(LAPIC_TIMER_DIVIDE, DIVIDE_BY_1);
    lapic_write(LAPIC_TIMER_START, 0);
    lapic_write(LAPIC_LVT_TIMER, VECTOR_TIMER);
}

/* ---- lines and messages ------------------------------------------------------------ */

unsigned x86_line_vector(unsigned line)
{
    return VECTOR_LINES + line;
}

#define MESSAGES 0xfee00000ul /* addresses of messages; one byte of them is the CPU's identifier */

unsigned x86_message_first(void)
{
    return VECTOR_MESSAGES - VECTOR_LINES;
}

uint64_t x86_message_address(void)
{
    return MESSAGES | x86_board_cpu(0) << 12;
}

void x86_message_raise(unsigned line)
{
    x86_lapic_send(x86_board_cpu(0), x86_line_vector(line));
}

/* ---- the clock and the timer ------------------------------------------------------- */

#define CALIBRATE_HZ 50 /* for a 50th of a second */
#define TRIES 16
#define CPUID_CLOCK 0x15
#define CPUID_POWER 0x80000007
#define CPUID_POWER_EDX_INVARIANT 0x100u

static uint64_t clock_hz;    /* [I] */
static uint64_t timer_ratio; /* [I] the timer's ticks per cycle of the clock, 32 bits fraction */

struct reading {
    uint64_t clock, reference;
    uint32_t timer;
};

/* Reads the three counters as close to each other as possible: a hypervisor may stop this CPU in
 * between. */
static struct reading reading_take(const struct x86_reference *by)
{
    struct reading best = {0};
    uint64_t narrowest = UINT64_MAX;

    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t before = arch_cycles();
        uint64_t reference = by->read();
        uint32_t timer = lapic_read(LAPIC_TIMER_NOW);
        uint64_t width = arch_cycles() - before;
        if (width < narrowest) {
            narrowest = width;
            best = (struct reading){before + width / 2, reference, timer};
        }
    }
    return best;
}

static void calibrate_once(const struct x86_reference *by)
{
    struct reading from, to;

    lapic_write(LAPIC_TIMER_START, UINT32_MAX);
    from = reading_take(by);
    do {
        to = reading_take(by);
    } while (to.reference - from.reference < by->hz / CALIBRATE_HZ);
    lapic_write(LAPIC_TIMER_START, 0);

    uint64_t cycles = to.clock - from.clock, ticks = from.timer - to.timer;
    uint64_t passed = to.reference - from.reference;
    if (cycles == 0 || ticks == 0) {
        kernel_panic("the time-stamp counter or the local APIC's timer does not run");
    }
    clock_hz = (uint64_t)((unsigned __int128)cycles * by->hz / passed);
    timer_ratio = (ticks << 32) / cycles;
}

/* Returns the rate that CPUID states, or 0. */
static uint64_t clock_stated(void)
{
    uint32_t of[4];

    x86_cpuid(0, of);
    if (of[0] < CPUID_CLOCK) {
        return 0;
    }
    x86_cpuid(CPUID_CLOCK, of);
    return x86_clock_stated(of);
}

static bool clock_invariant(void)
{
    uint32_t of[4];

    x86_cpuid(0x80000000, of);
    if (of[0] < CPUID_POWER) {
        return false;
    }
    x86_cpuid(CPUID_POWER, of);
    return of[3] & CPUID_POWER_EDX_INVARIANT;
}

/* A hypervisor, or the firmware, may stop this CPU for so long that the reference wraps: so two
 * consecutive measurements must agree. If none do, the last one counts. */
void x86_timer_calibrate(void)
{
    uint64_t before = 0;

    lapic_write(LAPIC_LVT_TIMER, LVT_MASKED | VECTOR_TIMER);
    for (unsigned i = 0; i < TRIES; i++) {
        const struct x86_reference by = x86_board_reference();

        calibrate_once(&by);
        if (x86_clocks_agree(clock_hz, before)) {
            break;
        }
        before = clock_hz;
    }
    lapic_write(LAPIC_LVT_TIMER, VECTOR_TIMER);
    clock_hz = x86_clock_choose(clock_hz, clock_stated());
    if (!clock_invariant()) {
        kprintf("kymo on %s: the time-stamp counter is not invariant: times are wrong if this CPU "
                "changes its speed\n",
                BOARD_NAME);
    }
}

uint64_t arch_clock_hz(void)
{
    return clock_hz;
}

/* May be early by the ratio's rounding error: the kernel then sets the timer for the rest. */
void arch_timer_set(uint64_t cycles)
{
    if (cycles == UINT64_MAX) {
        lapic_write(LAPIC_TIMER_START, 0);
        return;
    }
    uint64_t now = arch_cycles(), delta = cycles > now ? cycles - now : 0;
    unsigned __int128 ticks = ((unsigned __int128)delta * timer_ratio >> 32) + 1;
    lapic_write(LAPIC_TIMER_START, ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks);
}

/* ---- interrupts -------------------------------------------------------------------- */

/* The APIC's own vectors are lines, too, after all of the board's. */
static inline unsigned line_of(unsigned vector)
{
    return vector - VECTOR_LINES;
}

static void x86_irq_serve(unsigned vector, uintptr_t ip, bool in_kernel)
{
    kernel_assert(x86_irq_masked());
    if (vector == VECTOR_SPURIOUS || vector < VECTOR_LINES) {
        return; /* not in service: no end */
    }
    if (vector == VECTOR_TIMER) {
        intr_timer(line_of(vector), ip, in_kernel);
    } else if (vector == VECTOR_IPI) {
        intr_ipi(line_of(vector), ip, in_kernel);
    } else if (vector == VECTOR_CALL) {
        x86_call_serve();
    } else if (vector == VECTOR_SAMPLE) {
        intr_sample(line_of(vector), ip, in_kernel);
    } else if (vector < VECTOR_MESSAGES || x86_board_message(line_of(vector))) {
        intr_entry(line_of(vector), ip, in_kernel);
    }
    lapic_write(LAPIC_EOI, 0);
}

/* No code records this state: only D needs it, and the APIC has it. */
bool arch_in_interrupt(void)
{
    return lapic_read(LAPIC_PPR) != 0;
}

struct thread *x86_irq_from_user(struct thread *self, unsigned vector)
{
    x86_irq_serve(vector, x86_context(self)->rip, false);
    return vector == VECTOR_CALL ? self : kernel_exit(self);
}

void x86_irq_in_kernel(unsigned vector)
{
    const uintptr_t window = x86_this_cpu()->window_ip;

    x86_irq_serve(vector, window, window != 0);
}

/* STI takes effect only after the next instruction, so an interrupt between the test and HLT is not
 * lost: HLT takes it. An NMI before HLT ends that protection, so its handler skips HLT. */
void arch_wait_for_interrupt(struct cpu *cpu)
{
    kernel_assert(x86_irq_masked());
    kernel_assert(x86_cr3() == x86_kernel_cr3);
    x86_this_cpu()->window_ip = 0;
    if (kernel_work_pending(cpu)) {
        __asm__ volatile("sti\n\tnop\n\tcli" ::: "memory");
    } else {
        __asm__ volatile("sti\n\t"
                         ".global x86_idle_halt\n"
                         "x86_idle_halt:\n\t"
                         "hlt\n\t"
                         "cli" ::
                             : "memory");
    }
}

void arch_irq_window(void)
{
    kernel_assert(x86_irq_masked());
    x86_this_cpu()->window_ip = (uintptr_t)__builtin_return_address(0);
    __asm__ volatile("sti\n\tnop\n\tcli" ::: "memory");
}

void x86_stop(void)
{
    for (;;) {
        __asm__ volatile("cli\n\thlt");
    }
}
