/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts: from the line to the attached process's event.
 *
 * First part, intr_entry(): any context, no lock, at most about 40 instructions: masks the line,
 * notes it for this CPU, requests the kernel's exit. Second part, intr_deliver(), at that exit,
 * lock held: delivers an event for each attachment. The line stays masked, counted by each
 * attachment, until each process has called InterruptUnmask(): a driver serves its device first, so
 * a level-triggered line can't interrupt again meanwhile. A line without attachments stays masked,
 * and is reported once.
 *
 * The synthetic _NTO_HOOK_TRACE has no line and is never masked: one coalescing pulse per ring.
 * Detaching it stops a linear recording, in a long call.
 *
 * Attachments belong to the process; a SIGEV_INTR goes to the thread that attached, and is lost
 * when that thread has ended. Masks count per attachment, so one driver can't unmask what another
 * has masked, and a mask ends with its process. InterruptMask() and InterruptUnmask() return the
 * new count; unmasking at 0 changes nothing.
 *
 * Kernel lock held. Errors: callers without ABILITY_INTERRUPT, for the trace hook ABILITY_TRACE
 * (EPERM); lines that don't exist or are the kernel's, unknown flags and ids, events except
 * SIGEV_PULSE and SIGEV_INTR (EINVAL), other hooks (ENOTSUP), a second trace hook (EBUSY), a full
 * table (EAGAIN), bad memory (EFAULT). Tested by test/kernel, test/board, and `make bench`
 * (irq_thread).
 */
#include "kernel/base/cpu.h"
#include "kernel/intr/intr.h"

#include "abi/sys/ability.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/panic.h"
#include "kernel/base/kercall.h"
#include "kernel/observe/observe.h"
#include "trace/trace.h"

#define ATTACH_FLAGS (_NTO_INTR_FLAGS_TRK_MSK | _NTO_INTR_FLAGS_END | _NTO_INTR_FLAGS_PROCESS)
#define ATTACH_EVENTS (EVENT_KIND(SIGEV_PULSE) | EVENT_KIND(SIGEV_INTR))

struct attachment intr_table[CONFIG_INTERRUPT_ATTACHMENTS];
struct attachment *intr_lines[INTR_LINES];
struct attachment *intr_trace_hook;
static struct pulse hook_pulses[CONFIG_CPUS]; /* [k] one per ring */
static uint32_t reported[INTR_WORDS];         /* [k] unattached lines already reported */

/* Notes the line first, then masks it: see intr_update_mask(). */
static inline void intr_note(unsigned irq)
{
    struct cpu *cpu = arch_cpu();
    if (irq < INTR_LINES) {
        cpu->intr_pending[irq / 32] |= 1u << (irq % 32);
        if (INTR_WORDS > 1) {
            cpu->intr_words |= 1u << (irq / 32);
        }
        cpu_note(cpu, WORK_INTR);
    }
    arch_irq_mask(irq);
}

/* For D's intr:::return, which fires when the line's events have been delivered. Returns false if
 * this interrupt adds no delivery. */
static bool intr_note_in_kernel(struct cpu *cpu, unsigned irq, bool in_kernel)
{
    uint32_t bit = 1u << (irq % 32);

    if (irq >= INTR_LINES || (cpu->intr_pending[irq / 32] & bit)) {
        return false;
    }
    uint32_t *word = &cpu->intr_in_kernel[irq / 32];
    *word = in_kernel ? *word | bit : *word & ~bit;
    return true;
}

static __attribute__((noinline)) void intr_entry_traced(unsigned irq, uintptr_t ip, bool in_kernel)
{
    trace_int_entry(irq, ip);
    bool delivered = intr_note_in_kernel(arch_cpu(), irq, in_kernel);
    intr_note(irq);
    trace_int_exit(irq, in_kernel);
    if (!delivered) {
        trace_site_int_done(irq, in_kernel);
    }
}

void intr_entry(unsigned irq, uintptr_t ip, bool in_kernel)
{
    if (TRACE_PORT_SITE_ON(TRACE_EV_int_entry) || TRACE_PORT_SITE_ON(TRACE_EV_int_exit) ||
        TRACE_PORT_SITE_ON(TRACE_EV_int_done)) {
        intr_entry_traced(irq, ip, in_kernel);
        return;
    }
    intr_note(irq);
}

/* An interrupt that is taken before the previous one's work is done adds no work. */
static __attribute__((noinline)) void intr_note_timer(struct cpu *cpu, unsigned irq, bool in_kernel)
{
    if (cpu->timer_came) {
        trace_site_int_done(irq, in_kernel);
    } else {
        cpu->timer_came = (irq + 1) << 1 | in_kernel;
    }
}

void intr_timer(unsigned irq, uintptr_t ip, bool in_kernel)
{
    struct cpu *cpu = arch_cpu();
    trace_int_entry(irq, ip);
    cpu_note(cpu, WORK_TIMER);
    trace_int_exit(irq, in_kernel);
    if (TRACE_PORT_SITE_ON(TRACE_EV_int_done)) {
        intr_note_timer(cpu, irq, in_kernel);
    }
}

/* Wakes no thread: only D has work. */
void intr_sample(unsigned irq, uintptr_t ip, bool in_kernel)
{
    trace_int_entry(irq, ip);
    cpu_note(arch_cpu(), WORK_SAMPLE);
    trace_int_exit(irq, in_kernel);
    trace_site_int_done(irq, in_kernel);
}

void intr_timer_done(struct cpu *cpu)
{
    kernel_assert(kernel_locked());
    uint32_t came = cpu->timer_came;

    cpu->timer_came = 0; /* an interrupt taken since then has requested this work again */
    trace_site_int_done((came >> 1) - 1, came & 1);
}

void intr_ipi(unsigned irq, uintptr_t ip, bool in_kernel)
{
    trace_int_entry(irq, ip);
    cpu_ipi();
    trace_int_exit(irq, in_kernel);
    trace_site_int_done(irq, in_kernel);
}

static __attribute__((noinline)) void trace_delivered(const struct attachment *a)
{
    const struct sigevent *e = &a->event;
    trace_int_handler_exit(a->line, (uint32_t)e->sigev_notify, (uint32_t)e->sigev_coid,
                           (uint32_t)e->sigev_code, (uint32_t)e->sigev_value.sival_int);
}

static inline void intr_deliver_event(struct attachment *a)
{
    kernel_assert(a->proc && a->proc->pid);
    trace_int_handler_entry((uint32_t)a->proc->pid, a->line, 0, 0);
    a->masked++;
    if (a->event.sigev_notify == SIGEV_INTR) {
        thread_intr_wake(a->thread);
    } else {
        event_deliver(a->proc, NULL, &a->event, &a->pulse);
    }
    if (TRACE_PORT_SITE_ON(TRACE_EV_int_handler_exit)) {
        trace_delivered(a);
    }
}

static __attribute__((noinline)) void intr_unwanted(uint32_t line)
{
    uint32_t bit = 1u << (line % 32);
    if (!(reported[line / 32] & bit)) {
        reported[line / 32] |= bit;
        kprintf("interrupt %u: no process is attached; it stays masked\n", (unsigned)line);
    }
}

static __attribute__((noinline)) void intr_line_done(const struct cpu *cpu, uint32_t line)
{
    trace_site_int_done(line, cpu->intr_in_kernel[line / 32] >> (line % 32) & 1);
}

static inline void intr_deliver_line(const struct cpu *cpu, uint32_t line)
{
    struct attachment *a = intr_lines[line];
    if (!a) {
        intr_unwanted(line);
    }
    for (; a; a = a->next) {
        intr_deliver_event(a);
    }
    if (TRACE_PORT_SITE_ON(TRACE_EV_int_done)) {
        intr_line_done(cpu, line);
    }
}

static inline uint32_t intr_take(volatile uint32_t *word)
{
    uintptr_t state = arch_irq_save();
    uint32_t bits = *word;
    *word = 0;
    arch_irq_restore(state);
    return bits;
}

void intr_deliver(struct cpu *cpu)
{
    kernel_assert(kernel_locked());
    kernel_assert(cpu == arch_cpu());
    uint32_t words = INTR_WORDS > 1 ? intr_take(&cpu->intr_words) : 1;
    for (; words; words &= words - 1) {
        uint32_t w = INTR_WORDS > 1 ? (uint32_t)__builtin_ctz(words) : 0;
        for (uint32_t bits = intr_take(&cpu->intr_pending[w]); bits; bits &= bits - 1) {
            intr_deliver_line(cpu, w * 32 + (uint32_t)__builtin_ctz(bits));
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
    return event_deliver(a->proc, a->thread, &event, &hook_pulses[ring]) == 0;
}

bool intr_trace_hooked(void)
{
    return intr_trace_hook != NULL;
}

/* Returns whether some CPU has noted the line and not yet delivered it. */
static bool intr_noted(uint32_t line)
{
    bool any = false;
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        any |= cpus[n].intr_pending[line / 32] >> (line % 32) & 1;
    }
    return any;
}

/* Unmasks the line if it has attachments and none of them masks it; else masks it.
 *
 * A noted line stays masked: its delivery counts the mask. If an interrupt is taken while this CPU
 * unmasks the line, either the note is seen here and the line is masked again, or its own CPU,
 * which notes before it masks, masks it after this one has unmasked it. */
static void intr_update_mask(uint32_t line)
{
    kernel_assert(kernel_locked());
    bool unmask = intr_lines[line] && !intr_noted(line);
    for (const struct attachment *a = intr_lines[line]; a; a = a->next) {
        unmask = unmask && a->masked == 0;
    }
    if (unmask) {
        arch_irq_unmask(line);
    }
    if (!unmask || intr_noted(line)) {
        arch_irq_mask(line);
    }
}

static void intr_unlink(struct attachment *a)
{
    struct attachment **at = &intr_lines[a->line];
    while (*at != a) {
        kernel_assert(*at);
        at = &(*at)->next;
    }
    *at = a->next;
}

static void intr_detach(struct attachment *a)
{
    kernel_assert(kernel_locked());
    kernel_assert(a->proc);
    pulse_unqueue(&a->pulse);
    quota_release(&a->proc->quota, KYMO_LIMIT_INTERRUPTS, 1);
    a->proc = NULL;
    if (a != intr_trace_hook) {
        intr_unlink(a);
        intr_update_mask(a->line);
        return;
    }
    intr_trace_hook = NULL;
    for (unsigned i = 0; i < CONFIG_CPUS; i++) {
        pulse_unqueue(&hook_pulses[i]);
    }
}

static bool intr_owns_hook(const struct process *proc)
{
    return intr_trace_hook && intr_trace_hook->proc == proc;
}

/* In a long call. Passes windows, in which another process may attach to the hook. */
static long intr_detach_hook(void)
{
    intr_detach(intr_trace_hook);
    trace_hook_detached();
    user_sites_follow();
    return 0;
}

void intr_thread_gone(struct thread *t)
{
    kernel_assert(kernel_locked());
    for (unsigned i = 0; i < CONFIG_INTERRUPT_ATTACHMENTS; i++) {
        if (intr_table[i].thread == t) {
            intr_table[i].thread = NULL;
        }
    }
}

static long intr_end_hook(struct thread *self, const uintptr_t *args)
{
    (void)args;
    return intr_owns_hook(self->proc) ? intr_detach_hook() : 0;
}

/* Waits for its turn: another command may be changing the data that a stop changes. */
bool intr_process_gone(struct process *proc)
{
    kernel_assert(kernel_locked());
    for (unsigned i = 0; i < CONFIG_INTERRUPT_ATTACHMENTS; i++) {
        if (intr_table[i].proc == proc && &intr_table[i] != intr_trace_hook) {
            intr_detach(&intr_table[i]);
        }
    }
    return long_call_at_end(proc->ender, intr_end_hook, intr_owns_hook(proc));
}

/* ---- the kernel calls -------------------------------------------------------------- */

/* Returns 0, or the error for a process that may not attach this interrupt. */
static int intr_may_attach(const struct process *proc, uint32_t line)
{
    if (line >= _NTO_INTR_CLASS_SYNTHETIC) {
        if (line != _NTO_HOOK_TRACE) {
            return line == _NTO_HOOK_IDLE ? -ENOTSUP : -EINVAL;
        }
        if (!process_able(proc, ABILITY_TRACE)) {
            return -EPERM;
        }
        return intr_trace_hook ? -EBUSY : 0;
    }
    if (!process_able(proc, ABILITY_INTERRUPT)) {
        return -EPERM;
    }
    bool usable = line < arch_irq_count() && line < INTR_LINES && !arch_irq_reserved(line);
    return usable ? 0 : -EINVAL;
}

static struct attachment *intr_free_attachment(void)
{
    for (unsigned i = 0; i < CONFIG_INTERRUPT_ATTACHMENTS; i++) {
        if (!intr_table[i].proc) {
            return &intr_table[i];
        }
    }
    return NULL;
}

static void intr_attach(struct attachment *a, struct thread *self, uint32_t line, uint32_t flags,
                        const struct sigevent *event)
{
    *a = (struct attachment){.proc = self->proc, .line = line, .thread = self, .event = *event};
    if (event->sigev_priority == SIGEV_PULSE_PRIO_INHERIT) {
        a->event.sigev_priority = self->base_priority;
    }
    if (line == _NTO_HOOK_TRACE) {
        intr_trace_hook = a;
        return;
    }
    struct attachment **at = &intr_lines[line];
    while (*at && (flags & _NTO_INTR_FLAGS_END)) {
        at = &(*at)->next;
    }
    a->next = *at;
    *at = a;
    intr_update_mask(line);
}

long ker_interrupt_attach(struct thread *self, const uintptr_t *args)
{
    struct sigevent event;
    uint32_t line = (uint32_t)args[0];
    int r = intr_may_attach(self->proc, line);
    if (r != 0) {
        return r;
    }
    if (args[2] & ~(uintptr_t)ATTACH_FLAGS) {
        return -EINVAL;
    }
    r = copy_in(self->proc, &event, args[1], sizeof(event));
    r = r == 0 ? event_check(self->proc, &event, ATTACH_EVENTS) : r;
    if (r != 0) {
        return r;
    }
    if (!quota_charge(&self->proc->quota, KYMO_LIMIT_INTERRUPTS, 1)) {
        return -EAGAIN;
    }
    struct attachment *a = intr_free_attachment();
    kernel_assert(a); /* the system's account has counted them */
    intr_attach(a, self, line, (uint32_t)args[2], &event);
    return a - intr_table;
}

/* Returns the process's attachment with this id, or NULL. */
static struct attachment *intr_by_id(const struct process *proc, uintptr_t id)
{
    uint32_t i = (uint32_t)id;
    return i < CONFIG_INTERRUPT_ATTACHMENTS && intr_table[i].proc == proc ? &intr_table[i] : NULL;
}

static long intr_detach_by_id(struct thread *self, const uintptr_t *args)
{
    struct attachment *a = intr_by_id(self->proc, args[0]);
    if (!a) {
        return -EINVAL; /* for example if another thread has detached it meanwhile */
    }
    if (a == intr_trace_hook) {
        return intr_detach_hook();
    }
    intr_detach(a);
    return 0;
}

/* Detaching the trace's hook is a long call. */
long ker_interrupt_detach(struct thread *self, const uintptr_t *args)
{
    const struct attachment *a = intr_by_id(self->proc, args[0]);
    const bool is_long = self->step == LONG_CALL_STEP || (a && a == intr_trace_hook);

    return is_long ? long_call(self, intr_detach_by_id) : intr_detach_by_id(self, args);
}

long ker_interrupt_wait(struct thread *self, const uintptr_t *args)
{
    long r;
    if (args[0] != 0 || args[1] != 0) {
        r = -EINVAL;
    } else if (self->intr_pulses > 0) {
        self->intr_pulses--;
        r = 0;
    } else {
        /* correct also if the call's event is switched on meanwhile */
        self->result = self->result_error = 0;
        thread_result(self, 0, 0);
        r = thread_block(self, STATE_INTR);
    }
    if (r != KER_BLOCKED) {
        timeout_unused(self);
    }
    return r;
}

/* Returns the attachment of InterruptMask()'s (intr, id); id -1: the process's first one on that
 * line. */
static struct attachment *intr_named(const struct process *proc, const uintptr_t *args)
{
    uint32_t line = (uint32_t)args[0];
    if ((int32_t)args[1] != -1) {
        struct attachment *a = intr_by_id(proc, args[1]);
        return a && a->line == line && a != intr_trace_hook ? a : NULL;
    }
    for (struct attachment *a = line < INTR_LINES ? intr_lines[line] : NULL; a; a = a->next) {
        if (a->proc == proc) {
            return a;
        }
    }
    return NULL;
}

long ker_interrupt_mask(struct thread *self, const uintptr_t *args)
{
    struct attachment *a = intr_named(self->proc, args);
    if (!process_able(self->proc, ABILITY_INTERRUPT)) {
        return -EPERM;
    }
    if (!a || a->masked == INT32_MAX) {
        return -EINVAL;
    }
    a->masked++;
    arch_irq_mask(a->line);
    return (long)a->masked;
}

long ker_interrupt_unmask(struct thread *self, const uintptr_t *args)
{
    struct attachment *a = intr_named(self->proc, args);
    if (!process_able(self->proc, ABILITY_INTERRUPT)) {
        return -EPERM;
    }
    if (!a) {
        return -EINVAL;
    }
    if (a->masked > 0 && --a->masked == 0) {
        intr_update_mask(a->line);
    }
    return (long)a->masked;
}
