/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes and prints the record that a panic leaves behind (abi/sys/panic.h). Panic context only: one
 * CPU, interrupts masked, any lock. Any data that it reads may be corrupt.
 */
#include "kernel/arch/cpu.h"
#include "kernel/arch/elf.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/panic.h"
#include "kernel/observe/panic_record.h"

#include "kernel/proc/process.h"
#include "kernel/observe/retain.h"
#include "kernel/base/string.h"
#include "kernel/observe/stack.h"
#include "kernel/observe/unwind.h"

static struct kymo_panic here;   /* used while the retained memory holds an earlier boot's data */
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

static void who_ran(struct kymo_panic *record, const struct thread *t)
{
    if (t && t->proc) {
        record->pid = t->proc->pid;
        record->tid = t->tid;
        record->call = t->call;
        name_copy(record->process, t->proc->name);
    }
}

struct kymo_panic *panic_record_begin(const struct cpu *cpu, unsigned kind,
                                      const uint64_t *registers)
{
    struct kymo_panic *record = retain_panic();

    record = record ? record : &here;
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
    who_ran(record, cpu->current);
    return record;
}

struct kymo_panic *panic_record_begun(void)
{
    return begun;
}

void panic_record_seal(struct kymo_panic *record)
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

void panic_record_more(struct kymo_panic *record, const struct cpu *cpu, uint32_t stopped)
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

static void print_registers(const struct kymo_panic *record)
{
    struct machine machine = this_machine();

    for (unsigned i = 0; i < record->nregisters; i++) {
        const char *name = machine.names[i];
        unsigned long value = (unsigned long)record->registers[i];

        kprintf("%s%s ", i % 4 == 0 ? "  " : "", name);
        for (size_t n = strlen(name); n < 5; n++) {
            kprintf(" ");
        }
        kprintf(machine.width == 8 ? "%08lx" : "%016lx", value);
        kprintf(i % 4 == 3 || i + 1 == record->nregisters ? "\n" : "  ");
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

void panic_record_print(const struct kymo_panic *record)
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
