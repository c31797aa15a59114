/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See text.h. The record comes from the memory of a kernel that has panicked: each count is
 * bounded, each text may lack its NUL. No state. Tested by test/lib/panic.
 */
#include "lib/panic/text.h"

#include <stdio.h>
#include <string.h>

#define PART (PANIC_VALUE - 2) /* characters of a reason in one entry */
#define FRAMES_A_ROW 4

struct machine {
    const char *const *names;
    unsigned count, digits, a_row;
};

static const char *const panic_arm_names[] = {
#define REGISTER(name) #name,
    KYMO_REGISTERS_ARM(REGISTER)
#undef REGISTER
};
static const char *const panic_aarch64_names[] = {
#define REGISTER(name) #name,
    KYMO_REGISTERS_AARCH64(REGISTER)
#undef REGISTER
};

static const char *const panic_x86_64_names[] = {
#define REGISTER(name) #name,
    KYMO_REGISTERS_X86_64(REGISTER)
#undef REGISTER
};

/* Registers of an unknown machine are numbered. */
static struct machine machine_of(const struct kymo_panic *record)
{
    switch (record->machine) {
    case KYMO_PANIC_MACHINE_ARM:
        return (struct machine){panic_arm_names, KYMO_PANIC_ARM_COUNT, 8, 4};
    case KYMO_PANIC_MACHINE_AARCH64:
        return (struct machine){panic_aarch64_names, KYMO_PANIC_AARCH64_COUNT, 16, 3};
    case KYMO_PANIC_MACHINE_X86_64:
        return (struct machine){panic_x86_64_names, KYMO_PANIC_X86_64_COUNT, 16, 3};
    default:
        return (struct machine){NULL, 0, 16, 3};
    }
}

static unsigned panic_least_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Returns the entries needed for `count` items, `a_row` in each. */
static unsigned panic_rows_for(unsigned count, unsigned a_row)
{
    return (count + a_row - 1) / a_row;
}

/* Makes a value printable, and keeps it from looking like the beginning of another attribute. */
static void make_plain(char *text)
{
    for (; *text; text++) {
        if (strncmp(text, "TRACE_", 6) == 0) {
            text[5] = '-';
        }
        if ((unsigned char)*text < ' ' || (unsigned char)*text > '~') {
            *text = '?';
        }
        if (text[0] == ':' && text[1] == ':') {
            text[0] = '.';
        }
    }
}

static const char *kind_name(uint32_t kind)
{
    static const char *const names[] = {
#define KIND(number, name, text) [number] = text,
        KYMO_PANIC_LIST(KIND)
#undef KIND
    };
    return kind < sizeof(names) / sizeof(names[0]) && names[kind] ? names[kind] : "unknown";
}

static void put_kind(const struct kymo_panic *record, unsigned n, char *value)
{
    (void)n;
    snprintf(value, PANIC_VALUE, "%s", kind_name(record->kind));
}

static void put_reason(const struct kymo_panic *record, unsigned n, char *value)
{
    size_t bytes = strnlen(record->reason, sizeof(record->reason));

    snprintf(value, PANIC_VALUE, "%.*s", (int)panic_least_of(PART, (unsigned)(bytes - n * PART)),
             record->reason + n * PART);
}

static void put_where(const struct kymo_panic *record, unsigned n, char *value)
{
    (void)n;
    if (record->pid == 0) {
        snprintf(value, PANIC_VALUE, "CPU %u, no process", (unsigned)record->cpu);
    } else {
        snprintf(value, PANIC_VALUE, "CPU %u, process %d (%.24s), thread %d, call %u",
                 (unsigned)record->cpu, (int)record->pid, record->process, (int)record->tid,
                 (unsigned)record->call);
    }
}

static void put_time(const struct kymo_panic *record, unsigned n, char *value)
{
    (void)n;
    snprintf(value, PANIC_VALUE, "%llu", (unsigned long long)record->time);
}

static void panic_put_cpu(const struct kymo_panic *record, unsigned n, char *value)
{
    const struct kymo_panic_cpu *cpu = &record->cpus[n];
    const char *silent = cpu->state == KYMO_PANIC_CPU_SILENT ? "no answer, last in " : "";

    if (cpu->pid == 0) {
        snprintf(value, PANIC_VALUE, "CPU %u: %sidle", (unsigned)cpu->cpu, silent);
    } else {
        snprintf(value, PANIC_VALUE, "CPU %u: %sprocess %d, thread %d, ip %llx", (unsigned)cpu->cpu,
                 silent, (int)cpu->pid, (int)cpu->tid, (unsigned long long)cpu->ip);
    }
}

static void put_registers(const struct kymo_panic *record, unsigned n, char *value)
{
    struct machine machine = machine_of(record);
    unsigned end = panic_least_of((n + 1) * machine.a_row,
                                  panic_least_of(record->nregisters, KYMO_PANIC_REGISTERS));
    size_t at = 0;

    for (unsigned i = n * machine.a_row; i < end && at < PANIC_VALUE; i++) {
        char number[12];

        snprintf(number, sizeof(number), "%u", i);
        at += (size_t)snprintf(value + at, PANIC_VALUE - at, "%s%s=%0*llx", at ? " " : "",
                               i < machine.count ? machine.names[i] : number, (int)machine.digits,
                               (unsigned long long)record->registers[i]);
    }
}

static void put_stack(const struct kymo_panic *record, unsigned n, char *value)
{
    unsigned end =
        panic_least_of((n + 1) * FRAMES_A_ROW, panic_least_of(record->nframes, KYMO_PANIC_FRAMES));
    size_t at = 0;

    for (unsigned i = n * FRAMES_A_ROW; i < end && at < PANIC_VALUE; i++) {
        at += (size_t)snprintf(value + at, PANIC_VALUE - at, "%s%llx", at ? " " : "",
                               (unsigned long long)record->frames[i]);
    }
}

static void put_stack_used(const struct kymo_panic *record, unsigned n, char *value)
{
    unsigned cpu = 0;

    for (unsigned seen = record->stack_used[0] != 0; seen <= n;
         seen += record->stack_used[cpu] != 0) {
        cpu++;
    }
    snprintf(value, PANIC_VALUE, "CPU %u: %u of %u bytes", cpu, (unsigned)record->stack_used[cpu],
             (unsigned)record->stack_bytes);
}

static unsigned count_reason(const struct kymo_panic *record)
{
    unsigned n = panic_rows_for((unsigned)strnlen(record->reason, sizeof(record->reason)), PART);

    return n ? n : 1;
}

static unsigned count_cpus(const struct kymo_panic *record)
{
    return panic_least_of(record->ncpus, KYMO_PANIC_CPUS);
}

static unsigned count_registers(const struct kymo_panic *record)
{
    return panic_rows_for(panic_least_of(record->nregisters, KYMO_PANIC_REGISTERS),
                          machine_of(record).a_row);
}

static unsigned count_stack(const struct kymo_panic *record)
{
    return panic_rows_for(panic_least_of(record->nframes, KYMO_PANIC_FRAMES), FRAMES_A_ROW);
}

/* 0 in the record of an older kernel. */
static unsigned count_stack_used(const struct kymo_panic *record)
{
    unsigned count = 0;

    for (unsigned cpu = 0; cpu < KYMO_PANIC_CPUS && record->stack_bytes; cpu++) {
        count += record->stack_used[cpu] != 0;
    }
    return count;
}

/* The parts of the report, in order. */
static const struct part {
    const char *key;
    unsigned (*count)(const struct kymo_panic *record); /* NULL: one */
    void (*put)(const struct kymo_panic *record, unsigned n, char *value);
} parts[] = {
    {"PANIC", NULL, put_kind},
    {"PANIC_REASON", count_reason, put_reason},
    {"PANIC_WHERE", NULL, put_where},
    {"PANIC_TIME", NULL, put_time},
    {"PANIC_CPU", count_cpus, panic_put_cpu},
    {"PANIC_REGISTERS", count_registers, put_registers},
    {"PANIC_STACK", count_stack, put_stack},
    {"PANIC_STACK_USED", count_stack_used, put_stack_used},
};

bool panic_text(const struct kymo_panic *record, unsigned n, char key[PANIC_KEY],
                char value[PANIC_VALUE])
{
    for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const struct part *part = &parts[i];
        unsigned count = part->count ? part->count(record) : 1;

        if (n < count) {
            value[0] = '\0';
            part->put(record, n, value);
            make_plain(value);
            bool first = !part->count || (n == 0 && part->put == put_reason);
            snprintf(key, PANIC_KEY, first ? "%s" : "%s_%u", part->key, n + 1);
            return true;
        }
        n -= count;
    }
    return false;
}
