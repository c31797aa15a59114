/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts: from the line to the attached process's event.
 *
 * First part, intr_entry(): from any context, no lock, at most about 40 instructions: masks the
 * line, notes it for this CPU, asks for the kernel's exit. Second part, intr_deliver(): there, lock
 * held: an event for each attachment. The line stays masked, counted by each attachment, until each
 * process has called InterruptUnmask(): a driver serves its device first, so a level-triggered line
 * can't come again meanwhile. A line that comes and that nobody has attached stays masked, and is
 * reported once.
 *
 * The synthetic _NTO_HOOK_TRACE has no line and is never masked: one coalescing pulse per ring.
 * Proved by test/unit_ipc, test/boot, and `make bench` (irq_thread).
 */
#include "kernel/intr.h"

#include "kernel/abi/errno.h"
#include "kernel/intr_impl.h"
#include "kernel/msg_impl.h"
#include "trace/trace.h"

#define LINES (INTR_WORDS * 32)
/* Noted and delivered by the same CPU: only the compiler has to keep the order. */
#define ORDER __ATOMIC_RELAXED

struct attachment intr_table[CONFIG_INTERRUPT_ATTACHMENTS];
struct list intr_attachments = LIST_INIT(intr_attachments);
struct attachment *intr_trace_hook;
static struct pulse hook_pulses[CONFIG_CPUS]; /* [k] one per ring */
static uint32_t reported[INTR_WORDS];         /* [k] lines that nobody wanted */

void intr_init(void)
{
    list_init(&intr_attachments);
}

void intr_entry(unsigned irq, uintptr_t ip, bool in_kernel)
{
    struct cpu *cpu = arch_cpu();
    trace_int_entry(irq, ip);
    arch_irq_mask(irq);
    if (irq < LINES) {
        __atomic_fetch_or(&cpu->intr_pending[irq / 32], 1u << (irq % 32), __ATOMIC_RELAXED);
        __atomic_fetch_or(&cpu->work, WORK_INTR, ORDER);
        arch_request_exit();
    }
    trace_int_exit(irq, in_kernel);
}

void intr_timer(unsigned irq, uintptr_t ip, bool in_kernel)
{
    struct cpu *cpu = arch_cpu();
    trace_int_entry(irq, ip);
    __atomic_fetch_or(&cpu->work, WORK_TIMER, ORDER);
    arch_request_exit();
    trace_int_exit(irq, in_kernel);
}

void intr_ipi(unsigned irq, uintptr_t ip, bool in_kernel)
{
    trace_int_entry(irq, ip);
    cpu_ipi();
    trace_int_exit(irq, in_kernel);
}

static inline void deliver(struct attachment *a)
{
    const struct sigevent *e = &a->event;
    trace_int_handler_entry((uint32_t)a->proc->pid, a->line, 0, 0);
    a->masked++;
    if (e->sigev_notify == SIGEV_INTR) {
        event_intr(rcvid_thread((uintptr_t)a->thread));
    } else {
        event_deliver(a->proc, NULL, e, &a->pulse);
    }
    trace_int_handler_exit(a->line, (uint32_t)e->sigev_notify, (uint32_t)e->sigev_coid,
                           (uint32_t)e->sigev_code, (uint32_t)e->sigev_value.sival_int);
}

static __attribute__((noinline)) void unwanted(uint32_t line)
{
    uint32_t bit = 1u << (line % 32);
    if (!(reported[line / 32] & bit)) {
        reported[line / 32] |= bit;
        kprintf("interrupt %u: nobody is attached; it stays masked\n", (unsigned)line);
    }
}

static inline void deliver_line(uint32_t line)
{
    bool any = false;
    if (CONFIG_CPUS > 1) {
        arch_irq_mask(line); /* again: another CPU may have unmasked it since intr_entry() */
    }
    list_for_each (pos, &intr_attachments) {
        struct attachment *a = list_entry(pos, struct attachment, link);
        if (a->line == line) {
            deliver(a);
            any = true;
        }
    }
    if (!any) {
        unwanted(line);
    }
}

void intr_deliver(struct cpu *cpu)
{
    for (unsigned w = 0; w < INTR_WORDS; w++) {
        if (cpu->intr_pending[w] == 0) {
            continue;
        }
        uint32_t bits = __atomic_exchange_n(&cpu->intr_pending[w], 0, ORDER);
        while (bits) {
            uint32_t bit = (uint32_t)__builtin_ctz(bits);
            bits &= bits - 1;
            deliver_line(w * 32 + bit);
        }
    }
}

bool intr_raise_trace(unsigned ring, uint32_t value)
{
    struct attachment *a = intr_trace_hook;
    if (!a || ring >= CONFIG_CPUS) {
        return false;
    }
    struct sigevent event = a->event;
    event.sigev_value.sival_ptr = (void *)(uintptr_t)value;
    return event_deliver(a->proc, rcvid_thread((uintptr_t)a->thread), &event, &hook_pulses[ring]) ==
           0;
}

bool intr_cancel(struct thread *t)
{
    (void)t; /* INTR: in no queue; events that come later are counted in intr_pulses */
    return true;
}

/* Has it come here and waits to be delivered? Then it stays masked, and delivery counts that. */
static bool noted(uint32_t line)
{
    return arch_cpu()->intr_pending[line / 32] >> (line % 32) & 1;
}

void intr_settle(uint32_t line)
{
    bool any = false;
    list_for_each (pos, &intr_attachments) {
        const struct attachment *a = list_entry(pos, struct attachment, link);
        if (a->line == line) {
            any = true;
            if (a->masked) {
                arch_irq_mask(line);
                return;
            }
        }
    }
    uintptr_t state = arch_irq_save();
    if (any && !noted(line)) {
        arch_irq_unmask(line);
    } else {
        arch_irq_mask(line);
    }
    arch_irq_restore(state);
}

void intr_detach(struct attachment *a)
{
    list_remove(&a->link);
    pulse_unqueue(&a->pulse);
    a->proc = NULL;
    if (a == intr_trace_hook) {
        intr_trace_hook = NULL;
        for (unsigned i = 0; i < CONFIG_CPUS; i++) {
            pulse_unqueue(&hook_pulses[i]);
        }
        trace_hook_detached();
    } else {
        intr_settle(a->line);
    }
}

void intr_process_gone(struct process *proc)
{
    for (unsigned i = 0; i < CONFIG_INTERRUPT_ATTACHMENTS; i++) {
        if (intr_table[i].proc == proc) {
            intr_detach(&intr_table[i]);
        }
    }
}
