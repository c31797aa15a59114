/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel_check(): the charges match the resources. Everything that processes hold is counted by
 * payer. A group is charged for the accounts inside it, and for what ended processes have left; so
 * is the system. See check.h.
 */
#include "kernel/arch/panic.h"
#include "kernel/base/string.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/intr/intr.h"
#include "kernel/ipc/ipc.h"
#include "kernel/observe/debug/check.h"
#include "kernel/observe/observe.h"
#include "kernel/proc/proc.h"

static size_t counted[CONFIG_PROCESSES][KYMO_LIMITS]; /* [k] by slot, for the process in it */

static void check_count_for(int pid, enum kymo_limit kind, size_t n)
{
    unsigned slot = (unsigned)(pid - 1) % CONFIG_PROCESSES;
    const struct process *proc = process_in_slot(slot);

    if (proc && proc->pid == pid) { /* otherwise its payer has ended */
        counted[slot][kind] += n;
    }
}

/* Counts pulses that programs sent, and closed connections whose notice waits. */
static void count_queued(const struct channel *ch)
{
    for (const struct list *p = ch->pulses.next; p != &ch->pulses; p = p->next) {
        const struct pulse *pulse = list_entry(p, struct pulse, link);
        const struct user_pulse *user = list_entry(pulse, struct user_pulse, pulse);
        const struct connection *conn = list_entry(pulse, struct connection, notice);

        if (pulse->kind == PULSE_USER) {
            check_count_for(user->payer.pid, KYMO_LIMIT_PULSES, 1);
        } else if (pulse->kind == PULSE_CONNECTION && !conn->proc) {
            check_count_for(conn->payer.pid, KYMO_LIMIT_CONNECTIONS, 1);
        }
    }
}

static void count_process(const struct process *proc)
{
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        check_count_for(proc->pid, KYMO_LIMIT_THREADS, proc->threads[i] != NULL);
    }
    for (unsigned i = 0; i < CONFIG_CHANNELS_PER_PROCESS; i++) {
        if (proc->channels[i]) {
            check_count_for(proc->pid, KYMO_LIMIT_CHANNELS, 1);
            count_queued(proc->channels[i]);
        }
    }
    for (const struct channel *ch = proc->closing; ch; ch = ch->next_closing) {
        check_count_for(proc->pid, KYMO_LIMIT_CHANNELS, 1);
        count_queued(ch);
    }
    for (unsigned i = 0; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        check_count_for(proc->pid, KYMO_LIMIT_CONNECTIONS, proc->fds[i] != NULL);
        check_count_for(proc->pid, KYMO_LIMIT_CONNECTIONS, proc->side[i] != NULL);
    }
    check_count_for(proc->pid, KYMO_LIMIT_MAPPINGS, proc->space.nmaps);
    check_count_for(proc->pid, KYMO_LIMIT_TIMERS, timer_count(proc));
    check_count_for(proc->pid, KYMO_LIMIT_RAM, proc->space.owned_bytes);
    check_count_for(proc->pid, KYMO_LIMIT_NAMES, check_list(&proc->names, "a process's names"));
    check_count_for(proc->payer.pid, KYMO_LIMIT_PROCESSES, proc != kernel_process);

    size_t bytes = trace_paid_by(proc->pid);
    check_count_for(proc->pid, KYMO_LIMIT_CONSUMERS, dtrace_paid_by(proc, &bytes));
    check_count_for(proc->pid, KYMO_LIMIT_TRACE, bytes);
}

static void check_count_all(void)
{
    memset(counted, 0, process_slots() * sizeof(counted[0]));
    for (unsigned slot = 0; slot < process_slots(); slot++) {
        if (process_in_slot(slot)) {
            count_process(process_in_slot(slot));
        }
    }
    for (unsigned i = 0; i < CONFIG_INTERRUPT_ATTACHMENTS; i++) {
        if (intr_table[i].proc) {
            check_count_for(intr_table[i].proc->pid, KYMO_LIMIT_INTERRUPTS, 1);
        }
    }
    for (unsigned i = 0; i < CONFIG_OBJECTS; i++) {
        if (objects[i].used) {
            check_count_for(objects[i].payer.pid, KYMO_LIMIT_OBJECTS, 1);
            check_count_for(objects[i].payer.pid, KYMO_LIMIT_RAM, objects[i].len);
        }
    }
}

/* Memory that a thread's MemMap() is still clearing is charged but in no table: so a larger charge
 * of RAM than was counted is correct. */
static void check_charged(const struct process *proc, const size_t there[KYMO_LIMITS])
{
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        bool more = i == KYMO_LIMIT_RAM;
        size_t used = proc->quota.used[i];

        if (used < there[i] || (used > there[i] && !more)) {
            kernel_panic("process %d is charged for %lu of limit %u, and has %lu", (int)proc->pid,
                         (unsigned long)used, i, (unsigned long)there[i]);
        }
    }
}

static void add_account(size_t sum[KYMO_LIMITS], const struct quota *inside)
{
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        sum[i] += inside->used[i];
    }
}

static void check_around(const struct quota *around)
{
    size_t sum[KYMO_LIMITS] = {0};
    const struct quota *group;
    unsigned members = 0;

    for (unsigned slot = 0; slot < process_slots(); slot++) {
        const struct process *proc = process_in_slot(slot);

        if (proc && proc->quota.up == around) {
            add_account(sum, &proc->quota);
            members++;
        }
    }
    for (unsigned n = 1; (group = quota_group_at(n)) != NULL; n++) {
        if (group->up == around) {
            add_account(sum, group);
            members += group->members > 0;
        }
    }
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        if (sum[i] > around->used[i]) {
            kernel_panic("an account is charged for %lu of limit %u, those inside for %lu",
                         (unsigned long)around->used[i], i, (unsigned long)sum[i]);
        }
    }
    if (around->up && members != around->members) {
        kernel_panic("a group has %u members, counted as %u", members, (unsigned)around->members);
    }
}

void check_quotas(void)
{
    const struct quota *group;

    check_count_all();
    for (unsigned slot = 0; slot < process_slots(); slot++) {
        if (process_in_slot(slot)) {
            check_charged(process_in_slot(slot), counted[slot]);
        }
    }
    for (unsigned n = 1; (group = quota_group_at(n)) != NULL; n++) {
        check_around(group);
    }
    check_around(&quota_system);
}
