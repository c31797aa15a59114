/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State of the event log: starts and stops tracing on every CPU, modes, buffers. Kernel lock,
 * kernel context; work on a buffer's own CPU is done by trace_port_run_on_all(). Order matters:
 * STOP first patches the sites off, then each CPU closes its buffer, so that every event that
 * passes a site is accounted for. Tested by test/trace/control_test.c.
 */
#include <stddef.h>

#include "abi/errno.h"
#include "trace/atomic.h"
#include "trace/control.h"
#include "trace/filter.h"
#include "trace/interrupt.h"
#include "trace/gate.h"
#include "trace/log.h"
#include "trace/loss.h"
#include "trace/retain.h"
#include "trace/trigger.h"

static struct trace_ring *log_ring(unsigned cpu)
{
    return &trace_port_cpu_at(cpu)->ring;
}

/* Determines the beginning from BUFFER's stamp and the high word of the following TIME. START's
 * first buffers come before all others, even if the CPUs' clocks differ. */
static uint64_t log_begun(const struct trace_ring *ring, uint32_t index)
{
    const volatile struct trace_slot *slot =
        (const volatile struct trace_slot *)trace_ring_data(ring, index);
    bool first = ring->policy == TRACE_LINEAR && slot[0].d1 == 1 && slot[0].d2 == 2;

    return first ? 0 : (uint64_t)slot[1].d1 << 32 | slot[0].time;
}

struct trace_state trace_state = {.log = {.ring_of = log_ring, .begun = log_begun},
                                  .overwrite = true};

/* Functions for cross-calls, called with interrupts masked. */
static void start_here(void *first)
{
    trace_log_start(trace_port_cpu());
    if (first) {
        trace_log_first(trace_port_cpu());
    }
}

static void state_stop_here(void *arg)
{
    (void)arg;
    trace_log_stop(trace_port_cpu());
}

static void flush_here(void *arg)
{
    (void)arg;
    trace_log_flush(trace_port_cpu());
}

/* Work that every CPU does in steps, because interrupts are masked during each. */
struct steps {
    uint32_t index; /* of a buffer */
    uint32_t more;  /* [a] a CPU has steps left */
};

static void run_in_steps(void (*step)(void *steps), uint32_t index)
{
    struct steps steps = {.index = index, .more = true};

    while (steps.more) { /* at most as many as DROPPED slots fit all buffers of a CPU */
        steps.more = false;
        trace_port_run_on_all(step, &steps);
        trace_port_window();
    }
}

static void more_steps(struct steps *steps, bool more)
{
    if (more) {
        trace_atomic_store(&steps->more, true, __ATOMIC_RELAXED);
    }
}

static void tell_here(void *steps)
{
    more_steps(steps, trace_log_report_losses(trace_port_cpu()));
}

static void clear_here(void *steps)
{
    more_steps(steps, trace_log_clear(trace_port_cpu(), ((struct steps *)steps)->index));
}

/* Discards one buffer of each CPU at a time. */
static void clear_all(void)
{
    for (uint32_t i = 0; i < trace_port_cpu()->ring.count; i++) {
        run_in_steps(clear_here, i);
    }
}

static void policy_here(void *arg)
{
    struct trace_cpu *cpu = trace_port_cpu();

    (void)arg;
    cpu->losing = false;
    cpu->ring.policy = trace_state.policy;
    cpu->ring.overwrite = trace_state.overwrite;
}

struct query {
    unsigned cpu;
    struct kymo_trace_loss *out;        /* NULL: not requested */
    struct kymo_trace_stopped *stopped; /* likewise */
};

static void query_here(void *arg)
{
    struct query *query = arg;
    struct trace_cpu *cpu = trace_port_cpu();

    if (cpu->id == query->cpu && query->out) {
        trace_loss_report(cpu, query->out);
    }
    if (cpu->id == query->cpu && query->stopped) {
        for (unsigned slot_class = 0; slot_class < TRACE_CLASS_MAX; slot_class++) {
            query->stopped->events[slot_class] = cpu->stopped[slot_class];
        }
    }
}

/* Nothing is counted while there are no buffers. Done in two parts, because interrupts are
 * masked. */
static void reset_pending_here(void *arg)
{
    struct trace_cpu *cpu = trace_port_cpu();

    (void)arg;
    __builtin_memset(cpu->loss.pending, 0, sizeof(cpu->loss.pending));
}

static void reset_here(void *arg)
{
    struct trace_cpu *cpu = trace_port_cpu();

    (void)arg;
    cpu->loss.reasons = 0;
    __builtin_memset(cpu->loss.classes, 0,
                     sizeof(cpu->loss) - offsetof(struct trace_loss, classes));
    for (unsigned slot_class = 0; slot_class < TRACE_CLASS_MAX; slot_class++) {
        cpu->stopped[slot_class] = 0;
    }
    cpu->closed = 0;
    cpu->raised = 0;
    cpu->missed_slots = 0;
    cpu->losing = false;
    cpu->filled = cpu->request = false;
}

/* Raises the interrupt of one CPU's ring if buffers were closed since the previous one, or if
 * `anyway`. */
static void state_raise(struct trace_cpu *cpu, bool anyway)
{
    uintptr_t irq = trace_port_irq_save();
    uint32_t sequence = cpu->ring.closed_sequence;
    uint32_t index = trace_ring_index(&cpu->ring, sequence);

    trace_port_irq_restore(irq);
    if (sequence != cpu->raised || anyway) {
        cpu->raised = sequence;
        index += cpu->id * trace_state.log.per_cpu;
        trace_port_raise(cpu->id, index << 13 | (sequence & 0x7ff));
    }
}

static void raise_all(void)
{
    for (unsigned cpu = 0; cpu < trace_port_cpu_count(); cpu++) {
        state_raise(trace_port_cpu_at(cpu), false);
    }
}

void trace_kernel_exit(void)
{
    struct trace_cpu *cpu = trace_port_cpu();

    trace_interrupt_serve();
    if (!trace_state.log.block) {
        return;
    }
    uintptr_t irq = trace_port_irq_save();
    if (trace_state.visits >> cpu->id & 1) { /* FLUSHCPUS */
        trace_state.visits &= ~(UINT64_C(1) << cpu->id);
        while (trace_log_visit(cpu)) {
            trace_port_irq_window(irq);
        }
    }
    cpu->request = false;
    /* A buffer above the high-water mark is closed if a FREE one can replace it. */
    if (cpu->ring.policy == TRACE_LINEAR && trace_log_passed(cpu) && trace_ring_free(&cpu->ring)) {
        trace_log_flush(cpu);
        cpu->request = false;
    }
    trace_port_irq_restore(irq);
    bool triggered = trace_trigger_take(cpu);
    if (triggered || !trace_state.running || trace_state.policy != TRACE_RING) {
        state_raise(cpu, triggered);
    }
    if (trace_state.log.retained) {
        trace_retain_exit(cpu);
    }
}

/*
 * Readers that merge CPUs wait for a TIME of each one. So this function opens each CPU's first
 * buffer before any site is on, and is older than every other buffer. A single CPU doesn't need
 * that, nor does a recording without an attached consumer.
 */
long trace_state_start(bool dump)
{
    static char first;
    if (!trace_state.log.block) {
        return -ECANCELED;
    }
    if (trace_state.running) {
        return 0;
    }
    trace_state.running = true;
    trace_state.starts++;
    trace_state.visits = 0;
    trace_state.dump_at_end = dump && trace_state.policy == TRACE_RING;
    trace_trigger_reset();
    bool all = trace_port_cpu_count() > 1 && trace_port_hooked();
    trace_port_run_on_all(start_here, all ? &first : NULL);
    trace_filter_apply(true);
    if (all && trace_state.policy == TRACE_LINEAR) {
        raise_all();
    }
    return dump ? TRACE_DUMP_WANTED : 0;
}

long trace_state_stop(void)
{
    if (trace_state.running) {
        trace_state.running = trace_state.dump_at_end = false;
        trace_filter_apply(false);
        trace_port_run_on_all(state_stop_here, NULL);
        run_in_steps(tell_here, 0);
        raise_all();
        state_raise(trace_port_cpu_at(0), true); /* the owner is notified of each STOP */
        trace_port_buffer_freed(); /* a waiting dump detects that there are no buffers any more */
    }
    return 0;
}

long trace_state_flush(void)
{
    if (!trace_state.log.block) {
        return -EFAULT;
    }
    if (trace_state.running && trace_state.policy == TRACE_RING) {
        return -ECANCELED;
    }
    trace_port_run_on_all(flush_here, NULL);
    raise_all();
    return 0;
}

/* Does not wait for the CPUs: one that runs a program for long, or an emulator that runs its CPUs
 * in turn, would block the logger. */
long trace_state_visit(uint64_t cpus)
{
    if (!trace_state.log.block) {
        return -EFAULT;
    }
    if (!trace_state.running || trace_state.policy != TRACE_LINEAR) {
        return -ECANCELED;
    }
    for (unsigned cpu = 0; cpu < trace_port_cpu_count(); cpu++) {
        if (cpus >> cpu & 1) {
            trace_state.visits |= UINT64_C(1) << cpu;
            trace_port_ask_exit(cpu);
        }
    }
    return 0;
}

long trace_state_alloc(void *owner, uint32_t per_cpu, uint64_t *paddr, bool retained)
{
    if (trace_state.log.block && !trace_state.log.owner && !trace_state.running) {
        trace_state_dealloc(); /* left by a process that has ended */
    }
    if (per_cpu < 2 || per_cpu > 1024) {
        return -EINVAL;
    }
    int error =
        trace_consumer_alloc(&trace_state.log, owner, per_cpu, TRACE_BUFFER_BYTES, retained);
    if (error) {
        return error;
    }
    trace_trigger_reset();
    trace_port_run_on_all(reset_pending_here, NULL);
    trace_port_run_on_all(reset_here, NULL);
    trace_port_run_on_all(policy_here, NULL);
    if (retained) {
        trace_retain_begin(&trace_state.log);
    }
    *paddr = trace_state.log.paddr;
    return 0;
}

void trace_state_dealloc(void)
{
    trace_state_stop();
    trace_gate_close();
    clear_all();
    trace_consumer_free(&trace_state.log);
}

long trace_state_mode(enum trace_policy policy)
{
    if (trace_state.running || !trace_state.log.block) {
        return -ECANCELED;
    }
    trace_state.policy = policy;
    clear_all();
    trace_port_run_on_all(policy_here, NULL);
    return 0;
}

void trace_state_overwrite(bool overwrite)
{
    trace_state.overwrite = overwrite;
    trace_port_run_on_all(policy_here, NULL);
}

void trace_state_high_water(uint32_t slots)
{
    for (unsigned cpu = 0; cpu < trace_port_cpu_count(); cpu++) {
        trace_port_cpu_at(cpu)->high_water = slots;
    }
}

void trace_state_query(unsigned cpu, struct kymo_trace_loss *out)
{
    *out = (struct kymo_trace_loss){0}; /* a CPU that has not started does not answer */
    trace_port_run_on_all(query_here, &(struct query){cpu, out, NULL});
    trace_loss_sum(out);
}

void trace_state_stopped(unsigned cpu, struct kymo_trace_stopped *out)
{
    *out = (struct kymo_trace_stopped){{0}};
    trace_port_run_on_all(query_here, &(struct query){cpu, NULL, out});
}
