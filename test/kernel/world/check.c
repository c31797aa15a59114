/* SPDX-License-Identifier: BSD-2-Clause */
/* world_check(): kernel_check(), and what only this machine knows: that a CPU has done what waited,
 * its timer, interrupt lines, and that every object in use belongs to somebody. */
#include "kernel/intr/intr.h"
#include "kernel/base/cpu.h"
#include "kernel/observe/debug/check.h"
#include "test/kernel/world/world.h"

/* What is paid for besides what the kernel's parts here know. */
struct fake_paid fake_paid;

size_t trace_paid_by(int32_t pid)
{
    return pid == fake_paid.pid ? fake_paid.log_bytes : 0;
}

unsigned dtrace_paid_by(const struct process *proc, size_t *bytes)
{
    *bytes += proc->pid == fake_paid.pid ? fake_paid.bytes : 0;
    return proc->pid == fake_paid.pid ? fake_paid.consumers : 0;
}

static void check_cpu_settled(unsigned n)
{
    const struct thread *t = cpus[n].current;
    if (t && !(t->runmask >> n & 1)) {
        broken("CPU %u runs thread %d of %d, which must not", n, t->tid, t->proc->pid);
    }
}

/* It waits for the end of a process, which is on its way: of its own, whose ender it is, or of one
 * that it has killed. */
static bool waits_for_an_end(const struct thread *t)
{
    const struct process *proc =
        t->call == KER_SIGNAL_KILL ? process_any((int)t->args[1]) : t->proc;

    return t->state == STATE_WAITCTX && proc && proc->dying && !proc->zombie &&
           (t->call == KER_SIGNAL_KILL || proc->ender == t);
}

/* It waits for a long call, or the console, that another thread has or is woken to take. */
static bool waits_for_a_lock(const struct thread *t)
{
    const struct call_lock *lock = call_lock_first();

    while (lock && t->sync != (uintptr_t)lock) {
        lock = lock->next;
    }
    return t->state == STATE_WAITCTX && t->step && lock && (lock->owner || lock->woken);
}

/* Nothing is left that a CPU had to see first. */
static void check_thread_settled(const struct thread *t)
{
    /* From CONDVAR, cut, it comes with its mutex, for which it may have to wait. */
    bool cut = (t->flags & THREAD_ABORTED) != 0 && t->state == STATE_MUTEX && t->step == 0;
    bool held = (t->flags & (THREAD_HELD | THREAD_DYING)) == THREAD_HELD;
    if (t->flags & THREAD_HELD && t->state == STATE_RUNNING) {
        broken("thread %d of %d runs and is held", t->tid, t->proc->pid);
    }
    if ((t->flags & (THREAD_DYING | THREAD_AGAIN)) != 0 && t->state != STATE_READY && !cut &&
        !held && !waits_for_an_end(t) && !waits_for_a_lock(t)) {
        broken("thread %d of %d in state %u: flags %#x", t->tid, t->proc->pid, t->state, t->flags);
    }
}

/* Nobody READY may take this CPU from who runs there, now that all have done what waited. */
static void check_ready(const struct thread *t)
{
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        const struct thread *runs = cpus[n].current;
        if ((t->runmask >> n & 1) && cpus[n].online && (!runs || runs->priority < t->priority)) {
            broken("thread %d of %d, priority %u, is READY, but CPU %u %s %u", t->tid, t->proc->pid,
                   t->priority, n, runs ? "runs" : "idles", runs ? runs->priority : 0);
        }
    }
}

static void check_scheduling(void)
{
    for (unsigned i = 0; i < CONFIG_THREADS; i++) {
        const struct thread *t = thread_by_index(i);
        if (!t || t->proc == kernel_process || t->state == STATE_DEAD) {
            continue;
        }
        check_thread_settled(t);
        if (t->state == STATE_READY) {
            check_ready(t);
        }
    }
}

static void check_hardware_timer(unsigned n)
{
    const struct timer_node *first = timer_nth(n, 0);
    if (first && !(cpus[n].trace.exit_work & WORK_TIMER) && fake_timer_at[n] > first->at &&
        fake_timer_at[n] > 1) {
        broken("the hardware timer of CPU %u comes too late", n);
    }
}

/* A line is open while it is attached and nobody has masked it. */
static void check_line(unsigned line)
{
    bool any = intr_lines[line], masked = false;
    for (const struct attachment *a = intr_lines[line]; a; a = a->next) {
        masked |= a->masked > 0;
    }
    if ((fake_irq_masked >> line & 1) != (!any || masked)) {
        broken("line %u is %s", line, any && !masked ? "masked by nobody" : "open");
    }
}

/* Each attachment is in the chain of its line, once; the trace hook's in none. */
static void check_lines(void)
{
    unsigned used = intr_trace_hook != NULL, chained = 0;
    for (unsigned i = 0; i < CONFIG_INTERRUPT_ATTACHMENTS; i++) {
        const struct attachment *a = &intr_table[i];
        used += a->proc && a != intr_trace_hook;
        if (a->proc && a->proc->zombie) {
            broken("attachment %u belongs to nobody", i);
        }
        if (a->proc && a->thread && a->thread->proc != a->proc) {
            broken("attachment %u is of a thread that is no more", i);
        }
    }
    for (unsigned line = 0; line < INTR_LINES; line++) {
        for (const struct attachment *a = intr_lines[line]; a; a = a->next) {
            if (!a->proc || a->line != line || ++chained > CONFIG_INTERRUPT_ATTACHMENTS) {
                broken("the chain of line %u", line);
            }
        }
    }
    if (used != chained + (intr_trace_hook != NULL)) {
        broken("%u attachments, %u in chains", used, chained);
    }
    for (unsigned line = 0; line < 32 && world_settled(); line++) {
        check_line(line);
    }
}

struct census {
    unsigned threads, channels, connections, pulses;
    uint64_t bytes;
};

static void count_channel(struct census *c, const struct channel *ch)
{
    c->channels++;
    for (const struct list *p = ch->pulses.next; p != &ch->pulses; p = p->next) {
        const struct pulse *pulse = list_entry(p, struct pulse, link);
        c->pulses += pulse->kind == PULSE_USER;
        c->connections +=
            pulse->kind == PULSE_CONNECTION && !list_entry(pulse, struct connection, notice)->proc;
    }
}

static void count_process(struct census *c, const struct process *proc)
{
    for (unsigned i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        c->threads += proc->threads[i] != NULL;
    }
    for (unsigned i = 0; i < CONFIG_CHANNELS_PER_PROCESS; i++) {
        if (proc->channels[i]) {
            count_channel(c, proc->channels[i]);
        }
    }
    for (const struct channel *ch = proc->closing; ch; ch = ch->next_closing) {
        count_channel(c, ch);
    }
    for (unsigned i = 0; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        c->connections += (proc->fds[i] != NULL) + (proc->side[i] != NULL);
    }
    c->bytes += proc->space.owned_bytes;
}

size_t (*world_bytes_of_objects)(void);

/* Each object in use is some process's. */
static void check_leaks(void)
{
    static uint64_t base;
    struct census c = {0};
    for (unsigned slot = 0; slot < CONFIG_PROCESSES; slot++) {
        if (process_in_slot(slot)) {
            count_process(&c, process_in_slot(slot));
        }
    }
    c.bytes += world_bytes_of_objects ? world_bytes_of_objects() : 0;
    base = base ? base : phys_available() + c.bytes;
    if (c.threads != fake_pool_used(CONFIG_THREADS) ||
        c.channels != fake_pool_used(CONFIG_CHANNELS) ||
        c.connections != fake_pool_used(CONFIG_CONNECTIONS) ||
        c.pulses != fake_pool_used(CONFIG_PULSES) || c.bytes != base - phys_available()) {
        broken(
            "there are %u threads, %u channels, %u connections, %u pulses, %llu bytes; in use are "
            "%u, %u, %u, %u, %llu",
            c.threads, c.channels, c.connections, c.pulses, (unsigned long long)c.bytes,
            fake_pool_used(CONFIG_THREADS), fake_pool_used(CONFIG_CHANNELS),
            fake_pool_used(CONFIG_CONNECTIONS), fake_pool_used(CONFIG_PULSES),
            (unsigned long long)(base - phys_available()));
    }
}

void world_check(void)
{
    kernel_check();
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        check_hardware_timer(n);
        if (world_settled()) {
            check_cpu_settled(n);
        }
    }
    check_lines();
    check_leaks();
    if (world_settled()) {
        check_scheduling();
    }
}
