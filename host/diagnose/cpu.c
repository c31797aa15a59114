/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings on CPUs: a thread that is READY and gets none, a CPU that is idle meanwhile, interrupts
 * that take a CPU, a thread that changes its CPU without end. See diagnose.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/diagnose/own.h"
#include "host/kymo.h"
#include "host/when.h"

enum {
    CPU_NUMBERS = 1024,        /* interrupts of a CPU that are counted apart, if not more */
    CPU_KERNEL = 1,            /* pid of the kernel's own threads, which work when all else waits */
    CPU_STARVED_MS = 1000,     /* READY so long */
    CPU_IDLE_MS = 100,         /* and another CPU idle so long */
    CPU_WINDOW_MS = 100,       /* of interrupts */
    CPU_STORM = 5000,          /* interrupts in a window; or half of its time */
    CPU_MIGRATIONS_MOST = 1000 /* in a second, if nine of ten runs are on another CPU */
};

struct cpu_interrupt {
    int64_t since, begun, busy;
    uint64_t count, number;
    uint32_t losses; /* that had come when it was entered: its exit is not the next one after one */
    bool open;
};

struct cpu_state {
    int64_t idle_from, idle_to; /* its newest idle stretch; to: KEV_NEVER */
    bool was_idle;
    uint32_t running; /* serial of who ran last; 0 */
    struct cpu_interrupt interrupts[CPU_NUMBERS];
};

struct cpu_moves {
    int64_t since;
    uint32_t runs, moves;
    int16_t on; /* CPU of its newest run, plus 1; 0 */
};

struct cpu {
    union {
        struct family_each each;
        struct {
            struct cpu_moves *moves; /* by serial */
            uint32_t nmoves;
        };
    };
    struct cpu_state cpus[FLOW_CPUS];
};

/* ---- READY threads --------------------------------------------------------------------- */

static void cpu_idle_check(struct diagnosis *d, const struct cpu *c,
                           const struct flow_thread *thread, const struct flow_state *state,
                           int64_t to)
{
    int64_t most = 0, at = 0;
    unsigned on = 0;
    char name[96], time[32];

    for (unsigned i = 0; i < FLOW_CPUS; i++) {
        const struct cpu_state *cpu = &c->cpus[i];
        int64_t from = cpu->idle_from > state->since ? cpu->idle_from : state->since;
        int64_t until = cpu->idle_to < to ? cpu->idle_to : to;

        if (cpu->was_idle && until - from > most) {
            most = until - from;
            at = from;
            on = i;
        }
    }
    if (most < (int64_t)CPU_IDLE_MS * DIAGNOSE_MS) {
        return;
    }
    struct finding f = diagnosis_finding(d, FINDING_IDLE_CPU, thread, at, at + most);
    f.harm = most;
    snprintf(f.text, sizeof(f.text),
             "CPU %u was idle for %s while %s was READY: does its runmask leave that CPU out?", on,
             kymo_length_text(most, time), diagnosis_name(d, thread, name));
    diagnosis_add(d, &f);
}

static void cpu_starved(struct diagnosis *d, const struct cpu *c, const struct flow_thread *thread,
                        const struct flow_state *state, int64_t to)
{
    struct finding f = diagnosis_finding(d, FINDING_STARVATION, thread, state->since, to);
    char name[96], time[32];
    int n;

    f.harm = to - state->since;
    n = snprintf(f.text, sizeof(f.text), "%s was READY and did not run for %s%s",
                 diagnosis_name(d, thread, name), kymo_length_text(f.harm, time),
                 d->ended ? ", until the capture's end" : "");
    if (state->priority >= 0) {
        n += snprintf(f.text + n, sizeof(f.text) - (size_t)n, ", at priority %d", state->priority);
    }
    for (unsigned i = 0; i < FLOW_CPUS; i++) {
        const struct flow_thread *ran = d->threads[c->cpus[i].running];

        if (c->cpus[i].running == 0 || ran == NULL || ran->idle || ran == thread) {
            continue;
        }
        n += snprintf(f.text + n, sizeof(f.text) - (size_t)n, "; %s ran on CPU %u",
                      diagnosis_name(d, ran, name), i);
        if (ran->priority >= 0) {
            n += snprintf(f.text + n, sizeof(f.text) - (size_t)n, " at %d", ran->priority);
        }
        if (n > FINDING_TEXT - 160) {
            break;
        }
    }
    diagnosis_add(d, &f);
}

static void cpu_span(struct diagnosis *d, void *self, const struct flow_thread *thread,
                     const struct flow_state *state, int64_t to, bool ended)
{
    struct cpu *c = self;

    if (thread->idle && state->state == STATE_RUNNING && state->cpu >= 0) {
        c->cpus[state->cpu].idle_to = to;
    } else if (thread->pid != CPU_KERNEL && state->state == STATE_READY && state->begun &&
               (ended || d->ended)) {
        if (to - state->since >= (int64_t)CPU_STARVED_MS * DIAGNOSE_MS) {
            cpu_starved(d, c, thread, state, to);
        }
        if (to - state->since >= (int64_t)CPU_IDLE_MS * DIAGNOSE_MS) {
            cpu_idle_check(d, c, thread, state, to);
        }
    }
}

/* ---- migration ------------------------------------------------------------------------- */

static void cpu_moved(struct diagnosis *d, struct cpu *c, const struct flow_thread *thread,
                      const struct flow_state *state)
{
    struct cpu_moves *m = &c->moves[thread->serial];
    char name[96], time[32];

    m->since = m->runs++ == 0 ? state->since : m->since;
    m->moves += m->on != 0 && m->on != state->cpu + 1;
    m->on = (int16_t)(state->cpu + 1);
    if (state->since - m->since < (int64_t)1000 * DIAGNOSE_MS) {
        return;
    }
    if (m->moves >= CPU_MIGRATIONS_MOST && m->moves >= m->runs / 10 * 9) {
        struct finding f = diagnosis_finding(d, FINDING_MIGRATION, thread, m->since, state->since);

        f.harm = m->moves;
        snprintf(f.text, sizeof(f.text), "%s changed its CPU %" PRIu32 " times in %s",
                 diagnosis_name(d, thread, name), m->moves,
                 kymo_length_text(state->since - m->since, time));
        diagnosis_add(d, &f);
    }
    *m = (struct cpu_moves){.since = state->since, .on = m->on};
}

static void cpu_begin(struct diagnosis *d, void *self, struct flow_thread *thread,
                      struct flow_state *state)
{
    struct cpu *c = self;

    if (state->state != STATE_RUNNING || state->cpu < 0) {
        return;
    }
    if (thread->idle) {
        struct cpu_state *cpu = &c->cpus[state->cpu];

        cpu->idle_from = state->since;
        cpu->idle_to = KEV_NEVER;
        cpu->was_idle = true;
    } else {
        cpu_moved(d, c, thread, state);
    }
    c->cpus[state->cpu].running = thread->serial;
}

/* ---- interrupts ------------------------------------------------------------------------ */

static void cpu_window(struct diagnosis *d, struct cpu_interrupt *of, uint32_t number, int64_t ns)
{
    int64_t took = ns - of->since;
    char time[32], busy[32];

    if (took < (int64_t)CPU_WINDOW_MS * DIAGNOSE_MS) {
        return;
    }
    if (of->busy > took / 2 ||
        of->count / CPU_STORM > (uint64_t)(took / ((int64_t)CPU_WINDOW_MS * DIAGNOSE_MS))) {
        struct finding f = diagnosis_finding(d, FINDING_STORM, NULL, of->since, ns);

        f.cpu = d->item->cpu;
        f.harm = of->busy;
        snprintf(f.text, sizeof(f.text),
                 "interrupt %" PRIu32 " came %" PRIu64 " times in %s, and took %s of CPU %" PRId32,
                 number, of->count, kymo_length_text(took, time), kymo_length_text(of->busy, busy),
                 d->item->cpu);
        diagnosis_add(d, &f);
    }
    *of = (struct cpu_interrupt){.since = ns, .number = number};
}

static void cpu_step(struct diagnosis *d, void *self, const struct flow_step *step)
{
    struct cpu *c = self;
    struct cpu_interrupt *of;

    if (step->slice == NULL || step->slice->kind != FLOW_INTERRUPT || d->item->cpu < 0 ||
        d->item->cpu >= FLOW_CPUS) {
        return;
    }
    of = &c->cpus[d->item->cpu].interrupts[step->slice->what % CPU_NUMBERS];
    if (of->number != step->slice->what) { /* they would be counted as one: the newer one is */
        *of = (struct cpu_interrupt){.since = step->ns, .number = step->slice->what};
    }
    if (step->role == FLOW_BEGIN) {
        cpu_window(d, of, (uint32_t)step->slice->what, step->ns);
        of->count++;
        of->begun = step->ns;
        of->open = true;
        of->losses = d->losses;
    } else if (step->role == FLOW_END && of->open && of->losses == d->losses) {
        of->busy += step->ns - of->begun;
        of->open = false;
    }
}

const struct family family_cpu = {.bytes = sizeof(struct cpu),
                                  .each = sizeof(struct cpu_moves),
                                  .begin = cpu_begin,
                                  .span = cpu_span,
                                  .step = cpu_step};
