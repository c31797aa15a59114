/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread's fault: ends its process, with a report on the console and a line in the trace. Called
 * by the ports with no lock held, the thread's context saved.
 *
 * The report is a long call of the thread: it is printed at the thread's priority, and can be
 * preempted at each character and each step of a search. Meanwhile the process's other threads go
 * on. It names functions by the .symtab of the program's ELF in the boot image, whose addresses are
 * as linked. It reads user memory through vm_user_ptr() only. The fault is kept in args[], for the
 * thread is in no call.
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
#include "kernel/base/console.h"
#include "kernel/base/string.h"
#include "kernel/base/window.h"
#include "kernel/observe/observe.h"

#define BACKTRACE_MOST 16
#define LINE_MOST 160 /* characters of a report's line */
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

/* Prints a part of a report; others may run after each character. */
static __attribute__((format(printf, 1, 2))) int fault_print(const char *fmt, ...)
{
    char text[LINE_MOST];
    va_list args;

    va_start(args, fmt);
    ktext(text, sizeof(text), fmt, args);
    va_end(args);
    for (const char *c = text; *c; c++) {
        console_put(*c);
        kernel_window();
    }
    return 0;
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
        fault_print(" %s+0x%lx", name, (unsigned long)(linked - (uintptr_t)start));
    }
}

static void print_frame(uintptr_t ip, void *arg)
{
    fault_print("    0x%08lx", (unsigned long)ip);
    print_function(arg, ip);
    fault_print("\n");
}

static struct arch_fault fault_of(const struct thread *t)
{
    return (struct arch_fault){(int)t->args[0], t->args[1], t->args[2], (const char *)t->args[3]};
}

static long fault_report(struct thread *t, const uintptr_t *args)
{
    const struct arch_fault fault = fault_of(t);

    (void)args;
    struct process *proc = t->proc;
    struct unwind_frame here;

    fault_print("\nProcess %d (%s) terminated: %s, %s 0x%lx, thread %d\n", (int)proc->pid,
                proc->name, signal_name(fault.signo), fault.what, (unsigned long)fault.address,
                (int)t->tid);
    fault_print("  ip 0x%08lx", (unsigned long)fault.ip);
    print_function(proc, fault.ip & ~(uintptr_t)(arch_elf_relocates() ? 1 : 0));
    fault_print("\n");
    arch_context_print(t, fault_print);
    if (arch_user_frame(t, &here)) {
        fault_print("  backtrace:\n");
        unwind_user(t, BACKTRACE_MOST, print_frame, proc);
    } else {
        fault_print("  backtrace: the registers are lost; what looks like return addresses:\n");
        arch_backtrace_lost(t, BACKTRACE_MOST, print_frame, proc);
    }
    return 0;
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

long fault_continue(struct thread *self)
{
    kernel_assert(kernel_locked());
    long result = long_call(self, fault_report);

    if (result == KER_AGAIN || result == KER_BLOCKED) {
        return result;
    }
    const struct arch_fault fault = fault_of(self);
    log_fault(self, &fault);
    process_end(self->proc, fault.signo);
    return KER_GONE;
}

struct thread *kernel_fault(struct thread *self, const struct arch_fault *fault)
{
    struct cpu *cpu = arch_cpu();

    if (!self || !self->proc) {
        kernel_panic("%s 0x%lx at 0x%lx", fault->what, (unsigned long)fault->address,
                     (unsigned long)fault->ip);
    }
    self->call = THREAD_CALL_NONE;
    self->step = 0;
    kernel_lock();
    trace_site_proc_fault((uint32_t)self->pid, (uint32_t)self->tid, (uint32_t)fault->signo,
                          fault->address, fault->ip);
    if (!self->proc->dying) { /* else another CPU has already ended it */
        self->args[0] = (uintptr_t)fault->signo;
        self->args[1] = fault->address;
        self->args[2] = fault->ip;
        self->args[3] = (uintptr_t)fault->what;
        kercall_special(self, fault_continue(self));
    } else {
        thread_end(self, 0);
    }
    return exit_locked(cpu);
}
