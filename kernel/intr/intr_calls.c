/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * InterruptAttachEvent, InterruptDetach, InterruptWait, InterruptMask, InterruptUnmask.
 *
 * Attachments belong to the process; a SIGEV_INTR goes to the thread that attached, and is lost
 * when that thread has ended. Masks count per attachment (intr_impl.h), so one driver can't unmask
 * what another has masked, and a mask ends with its process. InterruptMask() and InterruptUnmask()
 * return the new count; unmasking at 0 changes nothing.
 *
 * Kernel lock held. Refuses callers without ABILITY_INTERRUPT, for the trace hook ABILITY_TRACE
 * (EPERM); lines that don't exist or are the kernel's, unknown flags and ids, events except
 * SIGEV_PULSE and SIGEV_INTR (EINVAL), other hooks (ENOTSUP), a second trace hook (EBUSY), a full
 * table (EAGAIN), bad memory (EFAULT). Proved by test/unit_ipc.
 */
#include "abi/errno.h"
#include "kernel/arch/irq.h"
#include "kernel/intr/intr_impl.h"
#include "kernel/ipc/msg_impl.h"

#define ATTACH_FLAGS (_NTO_INTR_FLAGS_TRK_MSK | _NTO_INTR_FLAGS_END | _NTO_INTR_FLAGS_PROCESS)
#define EVENTS (EVENT_KIND(SIGEV_PULSE) | EVENT_KIND(SIGEV_INTR))

/* Returns 0, or why this process can't attach this interrupt. */
static int may_attach(const struct process *proc, uint32_t line)
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

static struct attachment *free_attachment(void)
{
    for (unsigned i = 0; i < CONFIG_INTERRUPT_ATTACHMENTS; i++) {
        if (!intr_table[i].proc) {
            return &intr_table[i];
        }
    }
    return NULL;
}

static void intr_calls_attach(struct attachment *a, struct thread *self, uint32_t line,
                              uint32_t flags, const struct sigevent *event)
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
    intr_settle(line);
}

long ker_interrupt_attach(struct thread *self, const uintptr_t *args)
{
    struct sigevent event;
    uint32_t line = (uint32_t)args[0];
    int r = may_attach(self->proc, line);
    if (r != 0) {
        return r;
    }
    if (args[2] & ~(uintptr_t)ATTACH_FLAGS) {
        return -EINVAL;
    }
    r = copy_in(self->proc, &event, args[1], sizeof(event));
    r = r == 0 ? event_check(self->proc, &event, EVENTS) : r;
    if (r != 0) {
        return r;
    }
    struct attachment *a = free_attachment();
    if (!a) {
        return -EAGAIN;
    }
    intr_calls_attach(a, self, line, (uint32_t)args[2], &event);
    return a - intr_table;
}

/* Returns the process's attachment with this id, or NULL. */
static struct attachment *by_id(const struct process *proc, uintptr_t id)
{
    uint32_t i = (uint32_t)id;
    return i < CONFIG_INTERRUPT_ATTACHMENTS && intr_table[i].proc == proc ? &intr_table[i] : NULL;
}

long ker_interrupt_detach(struct thread *self, const uintptr_t *args)
{
    struct attachment *a = by_id(self->proc, args[0]);
    if (!a) {
        return -EINVAL;
    }
    intr_detach(a);
    return 0;
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
        /* also correct if its event is switched on meanwhile */
        self->result = self->result_error = 0;
        thread_result(self, 0, 0);
        r = thread_block(self, STATE_INTR);
    }
    if (r != KER_BLOCKED) {
        timeout_unused(self);
    }
    return r;
}

/* Returns the attachment named by InterruptMask()'s (intr, id): id -1 is the process's first one on
 * that line. */
static struct attachment *intr_calls_named(const struct process *proc, const uintptr_t *args)
{
    uint32_t line = (uint32_t)args[0];
    if ((int32_t)args[1] != -1) {
        struct attachment *a = by_id(proc, args[1]);
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
    struct attachment *a = intr_calls_named(self->proc, args);
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
    struct attachment *a = intr_calls_named(self->proc, args);
    if (!process_able(self->proc, ABILITY_INTERRUPT)) {
        return -EPERM;
    }
    if (!a) {
        return -EINVAL;
    }
    if (a->masked > 0 && --a->masked == 0) {
        intr_settle(a->line);
    }
    return (long)a->masked;
}
