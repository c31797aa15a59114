/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread's fault: ends its process, with a report on the console and a line in the trace. Called
 * by the ports with no lock held, the thread's context saved.
 *
 * The report names functions by the .symtab of the program's ELF in the boot image, whose addresses
 * are as linked. It reads user memory through vm_user_ptr() only.
 */
#include "kernel/arch/cpu.h"
#include "kernel/arch/elf.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/panic.h"
#include "kernel/arch/stack.h"
#include "kernel/entry/exit.h"
#include "abi/errno.h"
#include "kernel/program/program.h"
#include "kernel/proc/proc.h"
#include "kernel/base/string.h"
#include "kernel/observe/observe.h"

#define BACKTRACE_MOST 16
#define SLOG_OPCODE 1
#define SLOG_CRITICAL 1
#define SLOG_TEXT 120

static const char *signal_name(int signo)
{
    switch (signo) {
    case KYMO_SIGILL:
        return "SIGILL";
    case KYMO_SIGFPE:
        return "SIGFPE";
    case KYMO_SIGBUS:
        return "SIGBUS";
    case KYMO_SIGSEGV:
        return "SIGSEGV";
    default:
        return "signal";
    }
}

/* Prints " function+0x12" for an address in the program's text, or nothing. */
static void print_function(const struct process *proc, uintptr_t ip)
{
    const struct program *program = &proc->program;
    struct elf_image elf;
    uint64_t start;

    if (ip - program->text >= program->text_len ||
        elf_open(&elf, program->elf, program->elf_len, arch_elf_machine(), arch_elf_class())) {
        return;
    }
    uintptr_t linked = ip - program->text + program->text_link;
    const char *name = elf_function(&elf, linked, &start);
    if (name) {
        kprintf(" %s+0x%lx", name, (unsigned long)(linked - (uintptr_t)start));
    }
}

static void print_frame(uintptr_t ip, void *arg)
{
    kprintf("    0x%08lx", (unsigned long)ip);
    print_function(arg, ip);
    kprintf("\n");
}

static void fault_report(const struct thread *t, const struct arch_fault *fault)
{
    struct process *proc = t->proc;
    struct unwind_frame here;

    kprintf("\nProcess %d (%s) terminated: %s, %s 0x%lx, thread %d\n", (int)proc->pid, proc->name,
            signal_name(fault->signo), fault->what, (unsigned long)fault->address, (int)t->tid);
    kprintf("  ip 0x%08lx", (unsigned long)fault->ip);
    print_function(proc, fault->ip & ~(uintptr_t)(arch_elf_relocates() ? 1 : 0));
    kprintf("\n");
    arch_context_print(t);
    if (arch_user_frame(t, &here)) {
        kprintf("  backtrace:\n");
        unwind_user(t, BACKTRACE_MOST, print_frame, proc);
    } else {
        kprintf("  backtrace: the registers are lost; what looks like return addresses:\n");
        arch_backtrace_lost(t, BACKTRACE_MOST, print_frame, proc);
    }
}

/* Appends as much of s as there is room for. */
static size_t fault_append(char text[SLOG_TEXT], size_t at, const char *s)
{
    while (*s && at < SLOG_TEXT - 1) {
        text[at++] = *s++;
    }
    text[at] = '\0';
    return at;
}

static size_t append_hex(char text[SLOG_TEXT], size_t at, uintptr_t value)
{
    char digits[2 * sizeof(value) + 1];
    size_t n = sizeof(digits) - 1;

    digits[n] = '\0';
    do {
        digits[--n] = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value);
    return fault_append(text, fault_append(text, at, "0x"), digits + n);
}

static void log_fault(const struct thread *t, const struct arch_fault *fault)
{
    char text[SLOG_TEXT];
    size_t at = fault_append(text, 0, t->proc->name);

    at = fault_append(text, at, " terminated: ");
    at = fault_append(text, at, signal_name(fault->signo));
    at = fault_append(text, at, ", ");
    at = fault_append(text, at, fault->what);
    at = fault_append(text, at, " ");
    at = append_hex(text, at, fault->address);
    at = fault_append(text, at, ", ip ");
    append_hex(text, at, fault->ip);
    trace_slog(SLOG_OPCODE, SLOG_CRITICAL, text);
}

struct thread *kernel_fault(struct thread *self, const struct arch_fault *fault)
{
    struct cpu *cpu = arch_cpu();

    if (!self || !self->proc) {
        kernel_panic("%s 0x%lx at 0x%lx", fault->what, (unsigned long)fault->address,
                     (unsigned long)fault->ip);
    }
    self->call = THREAD_CALL_NONE;
    kernel_lock();
    trace_site_proc_fault((uint32_t)self->pid, (uint32_t)self->tid, (uint32_t)fault->signo,
                          fault->address, fault->ip);
    if (!self->proc->dying) { /* else another CPU has already ended it */
        fault_report(self, fault);
        log_fault(self, fault);
        process_end(self->proc, fault->signo);
    } else {
        thread_end(self, 0);
    }
    return exit_locked(cpu);
}
