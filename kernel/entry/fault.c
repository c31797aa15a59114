/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread's fault: ends its process, with a report on the console (crash.c) and a line in the
 * trace. Called by the ports with no lock held, the thread's context saved.
 *
 * The thread itself takes the report's data, in steps, at its own priority; meanwhile the process's
 * other threads continue. It reads user memory through vm_user_ptr() only. The fault is kept in
 * args[], which is free because the thread is in no call. Another thread prints the report, so
 * neither the end of the process nor the notice to its parent waits for the UART.
 */
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/panic.h"
#include "kernel/base/console.h"
#include "kernel/entry/crash.h"
#include "kernel/entry/exit.h"
#include "kernel/proc/proc.h"

#define SLOG_OPCODE 1
#define SLOG_CRITICAL 1
#define SLOG_TEXT 120

static struct arch_fault fault_of(const struct thread *t)
{
    return (struct arch_fault){(int)t->args[0], t->args[1], t->args[2], (const char *)t->args[3]};
}

static void log_fault(const struct thread *t, const struct arch_fault *fault)
{
    char text[SLOG_TEXT];

    kformat(text, sizeof(text), "%s terminated: %s, %s 0x%lx, ip 0x%lx", t->proc->name,
            crash_signal_name(fault->signo), fault->what, (unsigned long)fault->address,
            (unsigned long)fault->ip);
    trace_slog(SLOG_OPCODE, SLOG_CRITICAL, text);
}

enum { FAULT_TAKE, FAULT_FRAMES, FAULT_LOG, FAULT_END }; /* step */

long fault_continue(struct thread *self)
{
    const struct arch_fault fault = fault_of(self);

    kernel_assert(kernel_locked());
    switch (self->step) {
    case FAULT_TAKE:
        self->step = crash_take(self, &fault) ? FAULT_FRAMES : FAULT_LOG;
        return KER_AGAIN;
    case FAULT_FRAMES:
        self->step = crash_take_frames(self) ? FAULT_FRAMES : FAULT_LOG;
        return KER_AGAIN;
    case FAULT_LOG:
        log_fault(self, &fault);
        self->step = FAULT_END;
        return KER_AGAIN;
    default:
        process_end(self->proc, fault.signo);
        return KER_GONE;
    }
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
    if (!self->proc->dying) { /* otherwise another CPU has already ended it */
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
