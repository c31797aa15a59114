/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings by counting: objects that a process makes and does not free, pulses that it does not
 * receive, kernel calls that ask again and again. A count grows without end if it is larger after
 * each quarter of the time since its first event. See diagnose.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "abi/sys/kercalls.h"
#include "host/diagnose/own.h"
#include "host/event_numbers.h"
#include "host/kymo.h"
#include "host/when.h"
#include "trace/slot.h"

enum {
    COUNTS_SAMPLES = 64,
    COUNTS_TABLE = 1024,   /* processes times resources */
    COUNTS_LEAK = 64,      /* objects that stay */
    COUNTS_QUEUE = 64,     /* pulses that wait */
    COUNTS_YIELDS = 1000,  /* in 100 ms */
    COUNTS_FAILURES = 200, /* one after the other, with nothing done in between, in a second */
    COUNTS_EAGAIN = 11,
    COUNTS_EBUSY = 16,
};

enum counts_resource {
    COUNTS_CHANNELS,
    COUNTS_CONNECTIONS,
    COUNTS_TIMERS,
    COUNTS_THREADS,
    COUNTS_PULSES,
};

static const char *const counts_names[] = {"channels", "connections", "timers", "threads",
                                           "pulses"};

struct counts_of {
    bool used;
    int32_t pid;
    uint32_t losses; /* that had come when it was begun: after one nobody knows what was freed */
    enum counts_resource resource;
    int64_t net, made, first;
    int64_t at[COUNTS_SAMPLES], value[COUNTS_SAMPLES]; /* of each `every`th event */
    unsigned n, every, skipped;
};

struct counts_thread { /* by serial */
    int64_t yields_since, failures_since;
    uint32_t yields, failures, failed; /* failed: number of the call */
    uint32_t losses;                   /* that had come when it was last looked at */
};

struct counts {
    union {
        struct family_each each;
        struct {
            struct counts_thread *threads; /* by serial */
            uint32_t nthreads;
        };
    };
    struct counts_of all[COUNTS_TABLE];
};

/* ---- what grows ------------------------------------------------------------------------ */

static bool counts_valid(const struct diagnosis *d, const struct counts_of *of)
{
    return of->used && of->losses == d->losses;
}

static struct counts_of *counts_find(const struct diagnosis *d, struct counts *c, int32_t pid,
                                     enum counts_resource resource)
{
    uint32_t at = (uint32_t)pid * 0x9e3779b1u + resource * 0x85ebca6bu;

    for (unsigned i = 0; i < 16; i++) {
        struct counts_of *of = &c->all[(at + i) % COUNTS_TABLE];

        if (!counts_valid(d, of)) {
            *of = (struct counts_of){
                .used = true, .pid = pid, .losses = d->losses, .resource = resource, .every = 1};
        }
        if (of->pid == pid && of->resource == resource) {
            return of;
        }
    }
    return NULL; /* the table is full of others: this one is not judged */
}

static void counts_add(struct diagnosis *d, struct counts *c, int32_t pid,
                       enum counts_resource resource, int change)
{
    struct counts_of *of = counts_find(d, c, pid, resource);

    if (of == NULL || (change < 0 && of->net == 0)) {
        return; /* it was made before the capture */
    }
    of->first = of->made == 0 ? d->now : of->first;
    of->net += change;
    of->made += change > 0;
    if (++of->skipped < of->every) {
        return;
    }
    of->skipped = 0;
    if (of->n == COUNTS_SAMPLES) {
        for (unsigned i = 0; i < COUNTS_SAMPLES / 2; i++) {
            of->at[i] = of->at[2 * i + 1];
            of->value[i] = of->value[2 * i + 1];
        }
        of->n = COUNTS_SAMPLES / 2;
        of->every *= 2;
    }
    of->at[of->n] = d->now;
    of->value[of->n++] = of->net;
}

static int64_t counts_value(const struct counts_of *of, int64_t ns)
{
    int64_t value = 0;

    for (unsigned i = 0; i < of->n && of->at[i] <= ns; i++) {
        value = of->value[i];
    }
    return value;
}

/* Has it grown in each quarter of the time from its first event to the capture's end? */
static bool counts_grows(const struct diagnosis *d, const struct counts_of *of)
{
    int64_t before = 0;

    for (int quarter = 1; quarter <= 4; quarter++) {
        int64_t value = counts_value(of, of->first + (d->now - of->first) / 4 * quarter);

        if (value - before < of->net / 8) {
            return false;
        }
        before = value;
    }
    return true;
}

static void counts_end(struct diagnosis *d, void *self)
{
    struct counts *c = self;

    for (unsigned i = 0; i < COUNTS_TABLE; i++) {
        const struct counts_of *of = &c->all[i];
        bool queue = of->resource == COUNTS_PULSES;
        char process[96], time[32];

        if (!counts_valid(d, of) || of->net < (queue ? COUNTS_QUEUE : COUNTS_LEAK) ||
            !counts_grows(d, of)) {
            continue;
        }
        struct finding f =
            diagnosis_finding(d, queue ? FINDING_QUEUE : FINDING_LEAK, NULL, of->first, d->now);
        f.pid = of->pid;
        f.part = of->resource;
        snprintf(f.name, sizeof(f.name), "%s", diagnosis_process_name(d, of->pid));
        f.harm = of->net;
        snprintf(f.text, sizeof(f.text),
                 queue ? "%s has %" PRId64 " %s that it has not received, of %" PRId64
                         " in %s, and they become more"
                       : "%s has %" PRId64 " %s that it has not freed, of %" PRId64
                         " that it made in %s, and they become more",
                 diagnosis_process(d, of->pid, process), of->net, counts_names[of->resource],
                 of->made, kymo_length_text(d->now - of->first, time));
        diagnosis_add(d, &f);
    }
}

/* The slot stays: others may lie after it. */
static void counts_forget(struct counts_of *of)
{
    of->net = of->made = 0;
    of->n = 0;
}

static void counts_process_ended(struct diagnosis *d, void *self, int32_t pid)
{
    struct counts *c = self;

    (void)d;
    for (unsigned i = 0; i < COUNTS_TABLE && pid >= 0; i++) {
        if (c->all[i].used && c->all[i].pid == pid) {
            counts_forget(&c->all[i]);
        }
    }
}

/* A channel's pulses are gone with it, and no event tells how many these were. */
static void counts_channel_destroyed(const struct diagnosis *d, struct counts *c, int32_t pid)
{
    struct counts_of *of = counts_find(d, c, pid, COUNTS_PULSES);

    if (of != NULL) {
        counts_forget(of);
    }
}

/* ---- kernel calls ---------------------------------------------------------------------- */

static void counts_spins(struct diagnosis *d, const struct flow_thread *thread, uint32_t number,
                         uint32_t times, int64_t since, const char *how)
{
    struct finding f = diagnosis_finding(d, FINDING_SPIN, thread, since, d->now);
    const char *call = kev_capture_term(d->capture, KEV_MEANS_CALL, number);
    char name[96], time[32];

    f.harm = times;
    snprintf(f.text, sizeof(f.text), "%s called %.40s %" PRIu32 " times in %s%s",
             diagnosis_name(d, thread, name), call == NULL ? "the kernel" : call, times,
             kymo_length_text(d->now - since, time), how);
    diagnosis_add(d, &f);
}

static void counts_yield(struct diagnosis *d, struct counts_thread *t,
                         const struct flow_thread *thread)
{
    if (t->yields == 0 || d->now - t->yields_since > (int64_t)100 * DIAGNOSE_MS) {
        t->yields_since = d->now;
        t->yields = 0;
    }
    if (++t->yields == COUNTS_YIELDS) {
        counts_spins(d, thread, __KER_SCHED_YIELD, t->yields, t->yields_since, "");
        t->yields = 0;
        t->yields_since = d->now;
    }
}

static void counts_failed(struct diagnosis *d, struct counts_thread *t,
                          const struct flow_thread *thread, uint32_t number)
{
    if (t->failures == 0 || t->failed != number ||
        d->now - t->failures_since > (int64_t)1000 * DIAGNOSE_MS) {
        t->failures_since = d->now;
        t->failures = 0;
        t->failed = number;
    }
    if (++t->failures == COUNTS_FAILURES) {
        counts_spins(d, thread, number, t->failures, t->failures_since,
                     ", and each failed with EAGAIN or EBUSY");
        t->failures = 0;
    }
}

static void counts_call(struct diagnosis *d, struct counts *c, const struct flow_step *step)
{
    struct counts_thread *t = &c->threads[step->thread->serial];
    const uint32_t *words;
    unsigned n = kev_capture_words(d->capture, &words);
    bool failed = n > 1 && words[0] == UINT32_MAX;
    uint32_t error = failed ? words[1] : 0, number = (uint32_t)step->slice->what;
    int32_t pid = step->thread->pid;

    if (t->losses != d->losses) {
        *t = (struct counts_thread){.losses = d->losses};
    }
    if (number == __KER_SCHED_YIELD) {
        counts_yield(d, t, step->thread);
    }
    if (error == COUNTS_EAGAIN || error == COUNTS_EBUSY) {
        counts_failed(d, t, step->thread, number);
    } else if (number == t->failed) {
        t->failures = 0;
    }
    if (n == 0 || failed) {
        return;
    }
    if (number == __KER_CHANNEL_CREATE || number == __KER_CHANNEL_DESTROY) {
        counts_add(d, c, pid, COUNTS_CHANNELS, number == __KER_CHANNEL_CREATE ? 1 : -1);
        if (number == __KER_CHANNEL_DESTROY) {
            counts_channel_destroyed(d, c, pid);
        }
    } else if (number == __KER_CONNECT_ATTACH || number == __KER_CONNECT_DETACH) {
        counts_add(d, c, pid, COUNTS_CONNECTIONS, number == __KER_CONNECT_ATTACH ? 1 : -1);
    } else if (number == __KER_TIMER_CREATE || number == __KER_TIMER_DESTROY) {
        counts_add(d, c, pid, COUNTS_TIMERS, number == __KER_TIMER_CREATE ? 1 : -1);
    }
}

static void counts_step(struct diagnosis *d, void *self, const struct flow_step *step)
{
    struct counts *c = self;
    const uint32_t *words;
    uint32_t code = d->item->code;

    if (step->role == FLOW_END && step->thread != NULL && step->slice->kind == FLOW_CALL) {
        counts_call(d, c, step);
    }
    if ((d->item->flags & KEV_FLAG_DUMP) || kev_capture_words(d->capture, &words) < 2) {
        return;
    }
    if (d->item->class_id == TRACE_CLASS_PR_TH) {
        if (code == NUMBER_thread_create || code == NUMBER_thread_destroy) {
            counts_add(d, c, (int32_t)words[0], COUNTS_THREADS,
                       code == NUMBER_thread_create ? 1 : -1);
        }
    } else if (d->item->class_id == TRACE_CLASS_COMM) {
        /* Sigevents' pulses coalesce: only those of programs are counted, all that are received. */
        if (code == NUMBER_comm_snd_pulse || code == NUMBER_comm_rec_pulse) {
            counts_add(d, c, (int32_t)words[1], COUNTS_PULSES,
                       code == NUMBER_comm_snd_pulse ? 1 : -1);
        }
    }
}

const struct family family_counts = {.bytes = sizeof(struct counts),
                                     .each = sizeof(struct counts_thread),
                                     .step = counts_step,
                                     .ended = counts_process_ended,
                                     .end = counts_end};
