/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of those that have ended, for a ring: the kernel forgets them, and the ring may have
 * overwritten the events that named them and still hold later ones of theirs. So the names are
 * written again, on each CPU whose ring has an event older than the end, and has had one, names
 * apart, since the birth. Such a ring overwrites the name after all that the name is for; a CPU
 * that idles keeps its events. Described in docs/inside/ring.md; proof: test/trace/ended_test.c,
 * test/board/dies.py.
 */
#include "trace/atomic.h"
#include "trace/clock.h"
#include "trace/control.h"
#include "trace/hook.h"
#include "trace/log.h"

/* The parts that each CPU does in cross-calls; one event at a time, because interrupts are
 * masked. */
enum ended_part { ENDED_NAME, ENDED_TEXT, ENDED_END, ENDED_PARTS };
struct ended_step {
    const struct trace_ended *ended;
    enum ended_part part;
    bool *wanted; /* by any CPU */
};

/* Returns the time at which the oldest buffer of the ring begins, or 0 if it is not known. */
static uint64_t ring_begins(const struct trace_ring *ring)
{
    uint32_t s = ring->oldest, i = ring->by_sequence[s % ring->count];
    const struct trace_slot *slot = (const struct trace_slot *)trace_ring_data(ring, i);

    return TRACE_WORD_SEQUENCE(ring->buffers[i].word) == s
               ? (uint64_t)slot[1].d1 << 32 | slot[0].time
               : 0;
}

/* Returns whether this CPU's ring runs and may hold an event of `ended`. */
static bool ring_may_hold(const struct trace_cpu *cpu, const struct trace_ended *ended)
{
    return cpu->on && cpu->ring.policy == TRACE_RING && cpu->ring.sequence != 0 &&
           trace_ring_names(&cpu->ring)->other >= ended->born &&
           ring_begins(&cpu->ring) <= ended->ended;
}

/* Logged regardless of the filters if the ring is retained: its reader names living threads and
 * processes likewise. */
static bool ended_logged(const struct trace_cpu *cpu, unsigned id)
{
    return cpu->ring.retained || trace_bit(trace_site_logged, id);
}

static void ended_process_here(const struct trace_cpu *cpu, const struct ended_step *step)
{
    const struct trace_ended *ended = step->ended;

    if (step->part == ENDED_NAME && ended_logged(cpu, TRACE_EV_proc_create_name)) {
        trace_dump_proc_create_name(ended->ppid, ended->pid, ended->name);
    }
    if (step->part == ENDED_TEXT && ended->text_len && ended_logged(cpu, TRACE_EV_mapname)) {
        trace_dump_mapname(ended->pid, ended->text, ended->text_len, ended->name);
    }
    if (step->part == ENDED_END && ended_logged(cpu, TRACE_EV_proc_destroy)) {
        trace_dump_proc_destroy(ended->ppid, ended->pid);
    }
}

static void ended_here(void *arg)
{
    const struct ended_step *step = arg;
    struct trace_cpu *cpu = trace_port_cpu();
    struct trace_names *names = trace_ring_names(&cpu->ring);
    uint64_t last = trace_clock_last(cpu);

    if (last != names->named) {
        names->other = last;
    }
    if (step->part == ENDED_NAME) {
        names->wanted = ring_may_hold(cpu, step->ended);
    }
    if (!names->wanted) {
        return;
    }
    trace_atomic_store(step->wanted, true, __ATOMIC_RELAXED); /* the cross-call orders it */
    if (step->ended->tid == 0) {
        ended_process_here(cpu, step);
    } else if (ended_logged(cpu, TRACE_EV_thread_name)) {
        trace_dump_thread_name(step->ended->pid, step->ended->tid, step->ended->name);
    }
    names->named = trace_clock_last(cpu);
}

void trace_ended(const struct trace_ended *ended)
{
    const unsigned parts = ended->tid ? ENDED_NAME + 1 : ENDED_PARTS;
    bool wanted = trace_state.running && trace_state.policy == TRACE_RING;

    for (unsigned part = ENDED_NAME; wanted && part < parts; part++) {
        wanted = false;
        trace_port_run_on_all(ended_here,
                              &(struct ended_step){ended, (enum ended_part)part, &wanted});
    }
}
