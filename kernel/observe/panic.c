/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A panic: a fatal kernel error. Any context, any lock; never returns. Stops the other CPUs, writes
 * the reason, the running thread and the registers into the retained memory (struct kymo_panic) and
 * to the console, and then stops the machine with status 101, or resets it if a program has
 * requested that (SystemCtl()): without a program, a reset would only lead to the same panic.
 *
 * This code does not rely on the rest of the kernel. The record is completed after the part that
 * can't fail, and again after the part that can. A second panic, or a watchdog that expires
 * meanwhile, validates the record as far as it was written, and ends. If that fails, too, it ends
 * at once, and finally hangs until the watchdog's second timeout. If two CPUs panic, the second one
 * waits while the first one ends the system. Tested by test/board/dies.py and suite panic.
 */
#include "abi/errno.h"
#include "abi/sys/panic.h"
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/elf.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/panic.h"
#include "kernel/base/console.h"
#include "kernel/base/cpu.h"
#include "kernel/base/string.h"
#include "kernel/observe/retain.h"
#include "kernel/observe/scratch.h"

#define PANIC_STATUS 101
#define REGISTER_TEXT 32
#define STOP_SHARE 20         /* waits a twentieth of a second for the other CPUs */
#define STOP_TRIES 100000000u /* or this many polls, if the clock has stopped */

static volatile uint32_t panics_on; /* [a] the panicking CPU + 1; 0: none */
static volatile uint32_t stopped;   /* [a] CPUs that have stopped */
static bool resets;                 /* [k] reset at the end */

long panic_then(uintptr_t action)
{
    if (action != KYMO_PANIC_STOPS && action != KYMO_PANIC_RESETS) {
        return -EINVAL;
    }
    resets = action == KYMO_PANIC_RESETS;
    return 0;
}

/* ---- the record (abi/sys/panic.h); any data that it reads may be corrupt ----------- */

/* panic: used while the retained memory holds an earlier boot's data */
union observe_scratch observe_scratch[OBSERVE_SCRATCHES];
static struct kymo_panic *begun; /* own CPU; an exception may interrupt at any time */

static const char *const arm_names[] = {
#define REGISTER(name) #name,
    KYMO_REGISTERS_ARM(REGISTER)
#undef REGISTER
};

static const char *const aarch64_names[] = {
#define REGISTER(name) #name,
    KYMO_REGISTERS_AARCH64(REGISTER)
#undef REGISTER
};

static const char *const x86_64_names[] = {
#define REGISTER(name) #name,
    KYMO_REGISTERS_X86_64(REGISTER)
#undef REGISTER
};

/* lr: on a CPU without a link register, pc again. */
struct machine {
    const char *const *names;
    unsigned count, pc, sp, lr, fp, width;
};

static struct machine this_machine(void)
{
    if (arch_elf_machine() == KYMO_PANIC_MACHINE_ARM) {
        return (struct machine){arm_names,
                                KYMO_PANIC_ARM_COUNT,
                                KYMO_PANIC_ARM_pc,
                                KYMO_PANIC_ARM_sp,
                                KYMO_PANIC_ARM_lr,
                                KYMO_PANIC_ARM_r7,
                                8};
    }
    if (arch_elf_machine() == KYMO_PANIC_MACHINE_X86_64) {
        return (struct machine){x86_64_names,
                                KYMO_PANIC_X86_64_COUNT,
                                KYMO_PANIC_X86_64_rip,
                                KYMO_PANIC_X86_64_rsp,
                                KYMO_PANIC_X86_64_rip,
                                KYMO_PANIC_X86_64_rbp,
                                16};
    }
    return (struct machine){aarch64_names,
                            KYMO_PANIC_AARCH64_COUNT,
                            KYMO_PANIC_AARCH64_pc,
                            KYMO_PANIC_AARCH64_sp,
                            KYMO_PANIC_AARCH64_x30,
                            KYMO_PANIC_AARCH64_x29,
                            16};
}

static void name_copy(char to[KYMO_PANIC_NAME], const char *from)
{
    for (unsigned i = 0; i < KYMO_PANIC_NAME - 1 && from[i]; i++) {
        to[i] = from[i];
    }
}

static void panic_record_thread(struct kymo_panic *record, const struct thread *t)
{
    if (t && t->proc) {
        record->pid = t->proc->pid;
        record->tid = t->tid;
        record->call = t->call;
        name_copy(record->process, t->proc->name);
    }
}

/* Steps of a panic that the compiler must not inline: test/board/dies/panics.py stops machines in
 * them. */
#define PANIC_STEP __attribute__((noipa))

/* Begins the record, in retained memory if available, and fills in all facts that are certain
 * except the reason's text. */
static PANIC_STEP struct kymo_panic *panic_record_begin(const struct cpu *cpu, unsigned kind,
                                                        const uint64_t *registers)
{
    struct kymo_panic *record = retain_panic();

    record = record ? record : &observe_scratch[OBSERVE_SCRATCHES - 1].panic;
    memset(record, 0, sizeof(*record));
    record->version = KYMO_PANIC_VERSION;
    record->kind = kind;
    record->machine = arch_elf_machine();
    record->cpu = cpu->id;
    record->time = arch_cycles();
    record->nregisters = this_machine().count;
    memcpy(record->registers, registers, record->nregisters * sizeof(*registers));
    record->call = THREAD_CALL_NONE;
    record->stack_bytes = kernel_stack_bytes(cpu->id);
    for (unsigned n = 0; n < CONFIG_CPUS && n < KYMO_PANIC_CPUS; n++) {
        record->stack_used[n] = cpus[n].online ? kernel_stack_used(n) : 0;
    }
    __atomic_store_n(&begun, record, __ATOMIC_RELEASE);
    panic_record_thread(record, cpu->current);
    return record;
}

/* Returns that record if the panic runs into a second one, or NULL if none was begun. */
static struct kymo_panic *panic_record_begun(void)
{
    return begun;
}

/* Completes the record: from here on the next boot finds it in its present state. */
static PANIC_STEP void panic_record_seal(struct kymo_panic *record)
{
    record->magic = KYMO_PANIC_MAGIC;
    retain_seal();
}

static void other_cpu(struct kymo_panic_cpu *to, const struct cpu *cpu, bool stopped)
{
    const struct thread *t = cpu->current;

    to->cpu = cpu->id;
    to->state = t ? KYMO_PANIC_CPU_RUNNING : KYMO_PANIC_CPU_IDLE;
    if (t) {
        to->pid = t->pid;
        to->tid = t->tid;
        to->ip = arch_context_ip(t);
        to->sp = arch_context_sp(t);
    }
    if (!stopped) {
        to->state = KYMO_PANIC_CPU_SILENT;
    }
}

/* Adds facts whose collection may fail: return addresses, the other CPUs' state; stopped: a
 * mask. */
static void panic_record_more(struct kymo_panic *record, const struct cpu *cpu, uint32_t stopped)
{
    const struct machine m = this_machine();
    const uint64_t *r = record->registers;
    uintptr_t frames[KYMO_PANIC_FRAMES];
    /* After a call of kernel_panic() pc is the return address. */
    const struct unwind_frame from = {.pc = (uintptr_t)r[m.pc],
                                      .sp = (uintptr_t)r[m.sp],
                                      .lr = (uintptr_t)r[m.lr],
                                      .fp = (uintptr_t)r[m.fp],
                                      .live = record->kind != KYMO_PANIC_ASSERT};

    record->nframes = unwind_kernel(&from, 0, frames, KYMO_PANIC_FRAMES);
    for (unsigned i = 0; i < record->nframes; i++) {
        record->frames[i] = frames[i];
    }
    for (unsigned n = 0; n < CONFIG_CPUS && record->ncpus < KYMO_PANIC_CPUS; n++) {
        if (&cpus[n] != cpu && cpus[n].online) {
            other_cpu(&record->cpus[record->ncpus++], &cpus[n], stopped >> n & 1);
        }
    }
}

void kernel_register_text(char *text, size_t bytes, unsigned i, uintptr_t value)
{
    static const char spaces[] = "     ";
    struct machine machine = this_machine();
    size_t name = strlen(machine.names[i]);

    kformat(text, bytes, machine.width == 8 ? "%s %s%08lx" : "%s %s%016lx", machine.names[i],
            spaces + (name < sizeof(spaces) ? name : sizeof(spaces) - 1), (unsigned long)value);
}

static void print_registers(const struct kymo_panic *record)
{
    char text[REGISTER_TEXT];

    for (unsigned i = 0; i < record->nregisters; i++) {
        kernel_register_text(text, sizeof(text), i, (uintptr_t)record->registers[i]);
        kprintf("%s%s%s", i % 4 == 0 ? "  " : "", text,
                i % 4 == 3 || i + 1 == record->nregisters ? "\n" : "  ");
    }
}

static void print_other(const struct kymo_panic_cpu *cpu)
{
    kprintf("CPU %u: ", (unsigned)cpu->cpu);
    if (cpu->state == KYMO_PANIC_CPU_SILENT) {
        kprintf("doesn't answer; last in ");
    }
    if (cpu->pid == 0) {
        kprintf("idle\n");
    } else {
        kprintf("process %d, thread %d, ip 0x%08lx sp 0x%08lx\n", (int)cpu->pid, (int)cpu->tid,
                (unsigned long)cpu->ip, (unsigned long)cpu->sp);
    }
}

static PANIC_STEP void panic_record_print(const struct kymo_panic *record)
{
    if (record->pid) {
        kprintf("current: process %d (%s), thread %d, call %u\n", (int)record->pid, record->process,
                (int)record->tid, (unsigned)record->call);
    }
    print_registers(record);
    kprintf("  stack:");
    for (unsigned i = 0; i < record->nframes; i++) {
        kprintf(" %08lx", (unsigned long)record->frames[i]);
    }
    kprintf("\n");
    kprintf("  stack used, of %u bytes:", (unsigned)record->stack_bytes);
    for (unsigned n = 0; n < KYMO_PANIC_CPUS; n++) {
        if (record->stack_used[n]) {
            kprintf(" CPU %u %u", n, (unsigned)record->stack_used[n]);
        }
    }
    kprintf("\n");
    for (unsigned i = 0; i < record->ncpus; i++) {
        print_other(&record->cpus[i]);
    }
}

/* ---- the panic --------------------------------------------------------------------- */

/* Returns this CPU or, very early in boot, before it is known, the first CPU. */
static struct cpu *this_cpu(void)
{
    struct cpu *cpu = arch_cpu();

    return cpu >= cpus && cpu < cpus + CONFIG_CPUS ? cpu : &cpus[0];
}

static void __attribute__((noreturn)) panic_hang(void)
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
static void __attribute__((noreturn)) panic_failed(const char *fmt, va_list args)
{
    static unsigned times;
    static char text[KYMO_PANIC_TEXT];
    struct kymo_panic *record = panic_record_begun();

    if (++times > 2) {
        panic_hang();
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
        panic_hang();
    }
    return cpu;
}

static void panic_stop_here(void *arg)
{
    (void)arg;
    __atomic_fetch_or(&stopped, 1u << arch_cpu()->id, __ATOMIC_RELEASE);
    panic_hang();
}

/* Stops the other CPUs. Returns those that have stopped: one that hangs with its interrupts masked
 * does not. */
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
        panic_failed(fmt, args);
    }
    struct kymo_panic *record = panic_record_begin(cpu, kind, registers);
    ktext(record->reason, sizeof(record->reason), fmt, args);
    panic_record_seal(record);
    uint32_t still = stop_others();
    console_take_back();
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
