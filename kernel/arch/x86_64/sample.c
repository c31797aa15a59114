/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86-64: the sampling interrupt is an NMI, which no mask blocks. The local APIC's timer can't send
 * one; so the board has one alarm for all CPUs, an NMI at CPU 0. CPU 0 sends NMIs to the CPUs whose
 * samples are due, and sets the alarm for the earliest of the others. A sample that comes too early
 * or twice does no harm: profile.c knows which probes are due.
 *
 * An NMI may interrupt any instruction of the kernel except those of another NMI's handler, which
 * lasts until its IRET. So the handler has a stack of its own (entry.S), leaves all kernel state
 * unchanged, the local APIC's registers included, and calls nothing that has breakpoints, whose
 * IRET would allow another NMI. It raises an interrupt of this CPU, whose handler, intr_sample(),
 * requests the kernel's exit. Tested by test/board/samples.py.
 */
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/x86_64/lapic.h"
#include "kernel/arch/x86_64/port.h"

#define NMI_STATUS 0x61 /* port */
#define NMI_FAULT 0xc0  /* bus or memory */
#define NMI_FORGET 0x0c /* they are cleared and not reported while these are set */
#define NMI_TIMER 0x03  /* the PIT's bits, in the same register */
#define SOON 1          /* in ticks of the alarm */

static struct x86_alarm alarm; /* [I] */
static uint64_t alarm_ratio;   /* [I] ticks of the alarm per cycle of the clock, 32 bits fraction */
static bool sampling;          /* [k] the alarm has been set: NMIs are its own */

/* [a] cycles: time of CPU n's next sample, UINT64_MAX: none. Written by that CPU; by CPU 0 when it
 * is due. */
static uint64_t wanted[CONFIG_CPUS];

static uint64_t sample_earliest(void)
{
    uint64_t at = UINT64_MAX;

    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        uint64_t other = __atomic_load_n(&wanted[n], __ATOMIC_SEQ_CST);
        at = other < at ? other : at;
    }
    return at;
}

/* Sets the alarm. CPU 0's handler may do so at the same time, or an interrupted caller may have
 * read an older time: so the times are read again after it is set. */
static void alarm_arm(void)
{
    uint64_t at = sample_earliest(), before;

    for (unsigned turns = 0; at != UINT64_MAX && turns < 2 * CONFIG_CPUS; turns++) {
        uint64_t now = arch_cycles(), ahead = at > now ? at - now : 0;
        unsigned __int128 ticks = ((unsigned __int128)ahead * alarm_ratio >> 32) + SOON;

        alarm.set(ticks > X86_ALARM_MOST ? X86_ALARM_MOST : (uint32_t)ticks);
        before = at;
        at = sample_earliest();
        if (at >= before) {
            return;
        }
    }
}

/* ---- the interrupt ----------------------------------------------------------------- */

/* Returns the number of words of the kernel's stack from `stack` on, or 0 if it is on none of the
 * stacks, as in the first instructions of a kernel call. */
static unsigned stack_words(uintptr_t stack)
{
    const size_t bytes = sizeof(x86_stacks[0]);
    uintptr_t offset = stack - (uintptr_t)x86_stacks;

    if (offset >= sizeof(x86_stacks) || offset % bytes < KERNEL_STACK_GUARD || offset % 8 != 0) {
        return 0;
    }
    return (unsigned)((bytes - offset % bytes) / 8);
}

/* In the gap in which the stack pointer is the program's, or invalid, the sample has no stack: its
 * address only shows that the kernel was interrupted. */
void arch_sample_taken(uintptr_t ip, uintptr_t sp, const uintptr_t *stack)
{
    unsigned words = stack ? stack_words(sp) : 0;

    kernel_sample(ip, 0, words ? (const uintptr_t *)sp : stack, words);
    x86_lapic_send_self(VECTOR_SAMPLE);
}

/* Sends NMIs to the other CPUs that are due. Returns true if CPU 0 is. */
static bool alarm_came(void)
{
    uint64_t now = arch_cycles();
    bool own = false;

    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        uint64_t at = __atomic_load_n(&wanted[n], __ATOMIC_SEQ_CST);
        if (at > now || !__atomic_compare_exchange_n(&wanted[n], &at, UINT64_MAX, false,
                                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            continue;
        }
        if (n == 0) {
            own = true;
        } else {
            x86_lapic_send(x86_board_cpu(n), ICR_NMI);
        }
    }
    alarm_arm();
    return own;
}

/* Another CPU gets an NMI only from CPU 0, when it is due. */
bool x86_nmi(uintptr_t *frame)
{
    if (!__atomic_load_n(&sampling, __ATOMIC_ACQUIRE) || (x86_in8(NMI_STATUS) & NMI_FAULT)) {
        return false;
    }
    /* The NMI hit the instruction after STI: interrupts are taken now, and HLT would miss them. */
    frame[X86_FRAME_RIP] += frame[X86_FRAME_RIP] == (uintptr_t)x86_idle_halt;
    uint32_t state = x86_lapic_save();
    if (x86_this_bit() != 1 || alarm_came()) {
        bool user = frame[X86_FRAME_RIP + 1] & 3; /* CS */
        uintptr_t ip = frame[X86_FRAME_RIP];
        arch_sample_taken(user ? x86_step_origin(ip) : ip, frame[X86_FRAME_RSP],
                          user ? NULL : frame);
    }
    x86_lapic_restore(state);
    return true;
}

/* ---- on and off -------------------------------------------------------------------- */

bool arch_sample_able(void)
{
    return alarm.hz != 0;
}

void arch_sample_set(uint64_t cycles)
{
    __atomic_store_n(&wanted[__builtin_ctz(x86_this_bit())], cycles, __ATOMIC_SEQ_CST);
    if (cycles != UINT64_MAX) {
        __atomic_store_n(&sampling, true, __ATOMIC_RELEASE);
        alarm_arm();
    }
}

void x86_sample_init(void)
{
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        wanted[n] = UINT64_MAX;
    }
    uint8_t timer = x86_in8(NMI_STATUS) & NMI_TIMER;
    x86_out8(NMI_STATUS, timer | NMI_FORGET); /* faults since power-on */
    x86_out8(NMI_STATUS, timer);
    alarm = x86_board_alarm();
    alarm_ratio = (uint64_t)(((unsigned __int128)alarm.hz << 32) / arch_clock_hz());
}
