/* SPDX-License-Identifier: BSD-2-Clause */
/* world_check(): CPUs, timers, interrupt lines, and that every object in use belongs
 * to somebody. */
#include "kernel/intr/intr.h"
#include "test/unit_ipc/check.h"

/* The thread that a CPU runs is a living one that may run there. */
static void check_cpu(unsigned n)
{
    const struct thread *t = cpus[n].current;
    if (!t) {
        return;
    }
    if (!t->proc || t->state != STATE_RUNNING || t->cpu != n || world_cpu_of(t) != (int)n) {
        broken("CPU %u runs a thread in state %u, of CPU %u", n, t->state, t->cpu);
    }
    if (world_settled() && !(t->runmask >> n & 1)) {
        broken("CPU %u runs thread %d of %d, which must not", n, t->tid, t->proc->pid);
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
        if (t && t->proc != kernel_process && t->state == STATE_READY) {
            check_ready(t);
        }
    }
}

static void check_timers(unsigned n)
{
    uint64_t last = 0;
    check_list(&cpus[n].timers, "timers");
    for (const struct list *p = cpus[n].timers.next; p != &cpus[n].timers; p = p->next) {
        const struct timer_node *node = list_entry(p, struct timer_node, link);
        size_t at = (size_t)((const char *)node - (const char *)thread_table);
        if (node->at < last || node->cpu != n) {
            broken("timers are out of order");
        }
        if (at < sizeof(thread_table) && !thread_table[at / sizeof(thread_table[0])].proc) {
            broken("a thread that is no more has a timeout");
        }
        last = node->at;
    }
    if (!list_empty(&cpus[n].timers) && !(cpus[n].trace.exit_work & WORK_TIMER) &&
        fake_timer_at[n] > list_entry(cpus[n].timers.next, struct timer_node, link)->at &&
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
        c->pulses += !list_entry(p, struct pulse, link)->preallocated;
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
    for (unsigned i = 0; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        c->connections += (proc->fds[i] != NULL) + (proc->side[i] != NULL);
    }
    c->bytes += proc->space.owned_bytes;
}

/* A process's window is what its first mapping says: all of it that MSG_SMALL bytes fit behind. */
static void check_window(const struct vm_space *space)
{
    const struct mapping *m = space->maps;
    const struct vm_window *w = &space->window;
    const unsigned rw = KYMO_PROT_READ | KYMO_PROT_WRITE;
    bool plain = space->nmaps > 0 && (m->flags & (rw | KYMO_MAP_DEVICE)) == rw;

    if (w->room != (plain ? m->len - VM_WINDOW + 1 : 0) ||
        (plain && (w->base != m->vaddr || w->base + w->delta != m->phys))) {
        broken("window of %#zx bytes at %#zx", w->room, (size_t)w->base);
    }
}

/* Each object in use is some process's. */
static void check_leaks(void)
{
    static uint64_t base;
    struct census c = {0};
    for (unsigned slot = 0; slot < CONFIG_PROCESSES; slot++) {
        if (process_in_slot(slot)) {
            count_process(&c, process_in_slot(slot));
            check_window(&process_in_slot(slot)->space);
        }
    }
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

void check_system(void)
{
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        check_cpu(n);
        check_timers(n);
    }
    check_lines();
    check_leaks();
    if (world_settled()) {
        check_scheduling();
    }
}
