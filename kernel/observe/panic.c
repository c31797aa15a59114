/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A panic: a fatal kernel error. Any context, any lock; never returns. Stops the other CPUs, writes
 * the reason, the running thread and the registers into the retained memory (struct kymo_panic) and
 * to the console, and then stops the machine with status 101, or resets it if a program has asked
 * for that (SystemCtl()): without a program, a reset would only lead to the same panic.
 *
 * Nothing here relies on the rest of the kernel. The record is complete after the part that can't
 * fail, and completed again after the part that can. A second panic, or a watchdog that triggers
 * meanwhile, validates the record as far as it is, and ends. If that fails too, it ends at once,
 * and finally hangs until the watchdog's second timeout. If two CPUs panic, the second one waits
 * for the end that the first one makes. Proved by test/boot/dies.py and suite panic.
 */
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/panic.h"
#include "kernel/observe/panic.h"

#include "abi/errno.h"
#include "abi/sys/panic.h"
#include "kernel/base/console.h"
#include "kernel/base/cpu.h"
#include "kernel/observe/panic_record.h"
#include "kernel/proc/process.h"
#include "kernel/base/string.h"

#define PANIC_STATUS 101
#define STOP_SHARE 20         /* waits a twentieth of a second for the other CPUs */
#define STOP_TRIES 100000000u /* or this many polls, if the clock has stopped */

static volatile uint32_t panics_on; /* [a] the panicking CPU + 1; 0: none */
static volatile uint32_t stopped;   /* [a] CPUs that have stopped */
static bool resets;                 /* [k] reset at the end */

long panic_then(uintptr_t what)
{
    if (what != KYMO_PANIC_STOPS && what != KYMO_PANIC_RESETS) {
        return -EINVAL;
    }
    resets = what == KYMO_PANIC_RESETS;
    return 0;
}

/* Returns this CPU; very early in boot, before it is known, the first CPU. */
static struct cpu *this_cpu(void)
{
    struct cpu *cpu = arch_cpu();

    return cpu >= cpus && cpu < cpus + CONFIG_CPUS ? cpu : &cpus[0];
}

static void __attribute__((noreturn)) stand_still(void)
{
    for (;;) {
        arch_spin_hint();
    }
}

static void __attribute__((noreturn)) panic_end(void)
{
    if (resets) {
        arch_reset();
    }
    arch_shutdown(PANIC_STATUS);
}

/* Handles a failure of the panic itself. */
static void __attribute__((noreturn)) goes_wrong(const char *fmt, va_list args)
{
    static unsigned times;
    static char text[KYMO_PANIC_TEXT];
    struct kymo_panic *record = panic_record_begun();

    if (++times > 2) {
        stand_still();
    }
    if (times == 1) {
        ktext(text, sizeof(text), fmt, args);
        if (record && !record->reason[0]) {
            memcpy(record->reason, text, sizeof(text));
        }
        if (record) {
            panic_record_seal(record);
        }
        kprintf("\nin the kernel's panic: %s\n", text);
    }
    panic_end();
}

/* Returns NULL if this CPU is already in its panic. */
static struct cpu *panic_enter(void)
{
    struct cpu *cpu = this_cpu();
    uint32_t first = 0;

    arch_irq_save();
    if (!__atomic_compare_exchange_n(&panics_on, &first, cpu->id + 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        if (first == cpu->id + 1) {
            return NULL;
        }
        stand_still();
    }
    return cpu;
}

static void panic_stop_here(void *arg)
{
    (void)arg;
    __atomic_fetch_or(&stopped, 1u << arch_cpu()->id, __ATOMIC_RELEASE);
    stand_still();
}

/* Returns the CPUs that have stopped: one that hangs with its interrupts masked does not. */
static uint32_t stop_others(void)
{
    uint32_t asked = cpu_call_others(panic_stop_here, NULL);
    uint64_t end_at = arch_cycles() + arch_clock_hz() / STOP_SHARE;
    unsigned tries = STOP_TRIES;

    while (__atomic_load_n(&stopped, __ATOMIC_ACQUIRE) != asked && arch_cycles() < end_at &&
           --tries) {
        arch_spin_hint();
    }
    return stopped;
}

static void __attribute__((noreturn))
panic_run(unsigned kind, const uint64_t *registers, const char *fmt, va_list args)
{
    struct cpu *cpu = panic_enter();

    if (!cpu) {
        goes_wrong(fmt, args);
    }
    struct kymo_panic *record = panic_record_begin(cpu, kind, registers);
    ktext(record->reason, sizeof(record->reason), fmt, args);
    panic_record_seal(record);
    uint32_t still = stop_others();
    kprintf("\nkernel panic on CPU %u: %s\n", (unsigned)record->cpu, record->reason);
    panic_record_more(record, cpu, still);
    panic_record_seal(record);
    panic_record_print(record);
    panic_end();
}

void kernel_panicked(const char *fmt, ...)
{
    uint64_t registers[KYMO_PANIC_REGISTERS] = {0};
    va_list args;

    arch_panic_registers(registers);
    va_start(args, fmt);
    panic_run(KYMO_PANIC_ASSERT, registers, fmt, args);
}

void kernel_panic_at(unsigned kind, const uint64_t *registers, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    panic_run(kind, registers, fmt, args);
}
