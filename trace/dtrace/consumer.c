/* SPDX-License-Identifier: BSD-2-Clause */
/* The life of a consumer: dtrace.h documents each call. Control context, under the control lock. */
#include "trace/dtrace/consumer.h"

#include "trace/assert.h"
#include "trace/atomic.h"
#include "trace/dtrace/counter.h"
#include "trace/dtrace/log.h"
#include "trace/dtrace/own.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/retained.h"

enum { ESHUTDOWN_ = 108, ENOENT_ = 2 };
#define DEADMAN 10000000000u  /* ns of silence */
#define CLEAN_LEAST 200000u   /* ns: 5000 hz */
#define CLEAN_SOON (1u << 20) /* ns: while many chunks are freed */
#define CLEAN_MANY 16         /* fraction of the chunks that counts as many */
#define CLEAN_USUAL 9900990u  /* ns: 101 hz */

struct dtrace_consumer *dtrace_consumers; /* [k] */

static uint32_t state_of(const struct dtrace_consumer *c)
{
    return trace_atomic_load(&c->state, __ATOMIC_ACQUIRE);
}

static void set_state(struct dtrace_consumer *c, enum dtrace_state state)
{
    trace_atomic_store(&c->state, state, __ATOMIC_RELEASE);
}

/* Called for each request of the consumer's process: restarts DEADMAN. */
static __attribute__((noinline)) void note_alive(struct dtrace_consumer *c)
{
    c->alive = dtrace_port_timestamp();
}

static void consumer_nothing(void *arg)
{
    (void)arg;
}

/* Returns when all probe firings that began earlier have ended, on every CPU. */
static void wait_for_probes(void)
{
    for (unsigned cpu = 0; cpu < dtrace_port_cpu_count(); cpu++) {
        dtrace_port_run_on(cpu, consumer_nothing, NULL);
    }
}

/* ---- creation ---------------------------------------------------------------------- */

int dtrace_consumer_create(const void *image, size_t size, unsigned flags,
                           struct dtrace_consumer **created, struct dtrace_refusal *why)
{
    static const struct dtrace_asker all = {DTRACE_MAY_ALL, 0};

    return dtrace_consumer_create_for(&all, image, size, flags, created, why);
}

int dtrace_consumer_create_for(const struct dtrace_asker *asker, const void *image, size_t size,
                               unsigned flags, struct dtrace_consumer **created,
                               struct dtrace_refusal *why)
{
    struct dtrace_consumer *c = dtrace_port_alloc(sizeof(*c));

    *why = (struct dtrace_refusal){.object = UINT32_MAX, .offset = UINT32_MAX};
    if (!c) {
        return dtrace_refuse(why, DTRACE_REASON_NO_SPACE);
    }
    int error = dtrace_image_check(image, size, why);
    dtrace_window();
    if (!error) {
        uint32_t strsize = (uint32_t)dtrace_image_option_value(image, DTRACE_OPT_STRSIZE, 256);
        c->logs = flags & DTRACE_CREATE_LOG;
        c->own = asker->rights & DTRACE_MAY_KERNEL ? 0 : asker->pid;
        c->clean_interval = dtrace_image_option_value(image, DTRACE_OPT_CLEANRATE, CLEAN_USUAL);
        error = dtrace_own_check(asker, image, flags, why);
        error = error ? error : dtrace_code_load(&c->code, image, strsize, why);
        if (!error && c->own) {
            dtrace_own_restrict(&c->code);
        }
        error = error ? error : dtrace_kept_begin(c, image, why);
        error = error ? error : dtrace_ecbs_make(c, image, flags, why);
        error = error ? error : dtrace_memory_make(c, image, why);
        error = error ? error : dtrace_kept_make(c, why);
        if (DTRACE_PORT_COUNTS && !error) {
            error = dtrace_counters_begin(c, why);
        }
    }
    if (error) {
        dtrace_memory_free(c);
        dtrace_port_free(c, sizeof(*c));
        return error;
    }
    note_alive(c);
    c->next = dtrace_consumers;
    dtrace_consumers = c;
    *created = c;
    return 0;
}

void dtrace_consumer_sizes(const struct dtrace_consumer *c, struct dtrace_sizes *sizes)
{
    *sizes = c->sizes;
}

uint32_t dtrace_consumer_matched(const struct dtrace_consumer *c)
{
    return c->matched;
}

/* ---- cleaning ---------------------------------------------------------------------- */

static void clean_speculations(void *arg)
{
    struct dtrace_consumer *c = arg;
    unsigned cpu = dtrace_port_cpu();

    dtrace_speculation_clean_cpu(&c->speculations, cpu, &c->cpus[cpu].principal, &c->shapes);
    if (c->kept) {
        dtrace_kept_records(c, &c->cpus[cpu]);
    }
}

static void consumer_clean(struct dtrace_consumer *c)
{
    if (dtrace_speculation_clean_begin(&c->speculations)) {
        for (uint32_t cpu = 0; cpu < c->ncpus; cpu++) {
            dtrace_port_run_on(cpu, clean_speculations, c);
        }
        dtrace_speculation_clean_end(&c->speculations);
    }
    dtrace_dynvars_clean(&c->dynvars);
}

/* ---- start and stop ---------------------------------------------------------------- */

static void fire_own(void *arg)
{
    static const uint64_t no_args[5];

    dtrace_ecbs_fire(arg, no_args);
}

#define OWN_AT_ONCE 128 /* ECBs that are visited between two preemption points */

/* Returns the consumer's first ECB on BEGIN or END, or NULL. */
static struct dtrace_ecb *find_own(struct dtrace_consumer *c, uint32_t probe)
{
    struct dtrace_ecb *first = NULL;

    for (uint32_t i = 0; i < c->necbs && !first; i++) {
        first = c->ecbs[i].probe->id == probe ? &c->ecbs[i] : NULL;
        if (i % OWN_AT_ONCE == OWN_AT_ONCE - 1) {
            dtrace_window();
        }
    }
    return first;
}

/* Fires BEGIN or END, for this consumer only. A clause of BEGIN that calls exit() is the last one
 * to run; END's clauses all run. */
static unsigned fire_on(struct dtrace_consumer *c, struct dtrace_ecb *first)
{
    dtrace_port_run_on(c->first_cpu, fire_own, first);
    return c->first_cpu;
}

static void disable_all(struct dtrace_consumer *c)
{
    while (c->enabled) {
        struct dtrace_ecb *e = &c->ecbs[--c->enabled];
        dtrace_probe_disable(e->probe, e);
        dtrace_window();
    }
    dtrace_probes_settle();
    wait_for_probes();
}

int dtrace_consumer_go(struct dtrace_consumer *c, unsigned *begin_cpu)
{
    trace_assert(c->enabled == 0);
    while (c->enabled < c->necbs) {
        struct dtrace_ecb *e = &c->ecbs[c->enabled];
        int error = dtrace_probe_enable(e->probe, e);
        if (error) {
            disable_all(c);
            return error;
        }
        c->enabled++;
        dtrace_window();
    }
    struct dtrace_ecb *begin = find_own(c, DTRACE_PROBE_BEGIN);
    dtrace_probes_settle();
    note_alive(c);
    set_state(c, DTRACE_STATE_WARMUP);
    *begin_cpu = fire_on(c, begin);
    trace_atomic_cas(&c->state, DTRACE_STATE_WARMUP, DTRACE_STATE_ACTIVE, __ATOMIC_ACQ_REL);
    return 0;
}

void dtrace_consumer_stop(struct dtrace_consumer *c, unsigned *end_cpu)
{
    *end_cpu = 0;
    if (state_of(c) == DTRACE_STATE_INACTIVE || state_of(c) >= DTRACE_STATE_STOPPED) {
        return;
    }
    set_state(c, DTRACE_STATE_COOLDOWN);
    wait_for_probes();
    struct dtrace_ecb *end = find_own(c, DTRACE_PROBE_END);
    *end_cpu = fire_on(c, end);
    disable_all(c);
    consumer_clean(c); /* records committed on one CPU may still be on others */
    set_state(c, DTRACE_STATE_STOPPED);
}

void dtrace_consumer_destroy(struct dtrace_consumer *c)
{
    struct dtrace_consumer **link = &dtrace_consumers;

    if (state_of(c) != DTRACE_STATE_KILLED) {
        set_state(c, DTRACE_STATE_STOPPED);
        if (c->enabled) { /* otherwise it has been stopped, and the wait is over */
            disable_all(c);
        }
        dtrace_memory_free(c);
    }
    while (*link && *link != c) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = c->next;
    }
    dtrace_port_free(c, sizeof(*c));
}

/* ---- status ------------------------------------------------------------------------ */

static __attribute__((noinline)) uint64_t consumer_counter(const uint64_t *p)
{
    return dtrace_counter(p);
}

void dtrace_consumer_status(struct dtrace_consumer *c, struct dtrace_status *s)
{
    __builtin_memset(s, 0, sizeof(*s));
    s->state = state_of(c);
    s->exited = trace_atomic_load(&c->exited, __ATOMIC_ACQUIRE);
    s->exit_status = c->exit_status;
    s->exit_dropped = c->exit_dropped;
    s->dynamic_drops = consumer_counter(&c->dynvars.drops);
    s->dynamic_rinsing_drops = consumer_counter(&c->dynvars.rinsing_drops);
    s->dynamic_dirty_drops = consumer_counter(&c->dynvars.dirty_drops);
    s->speculations_busy = consumer_counter(&c->speculations.busy);
    s->speculations_unavailable = consumer_counter(&c->speculations.none);
    s->errors = consumer_counter(&c->errors);
    s->double_errors = consumer_counter(&c->double_errors);
    if (DTRACE_PORT_HELPERS) {
        s->stack_string_overflows = consumer_counter(&c->stack_string_overflows);
    }
    note_alive(c);
    for (uint32_t i = 0; c->cpus && i < c->ncpus; i++) {
        s->filled += c->cpus[i].principal.full;
        s->filled_drops += consumer_counter(&c->cpus[i].principal.filled_drops);
        s->speculative_drops += consumer_counter(&c->cpus[i].speculative_drops);
    }
}

bool dtrace_consumer_over(const struct dtrace_consumer *c)
{
    bool over =
        trace_atomic_load(&c->exited, __ATOMIC_ACQUIRE) || state_of(c) >= DTRACE_STATE_DRAINING;

    for (uint32_t i = 0; c->cpus && i < c->ncpus; i++) {
        over |= c->cpus[i].principal.full;
    }
    return over;
}

/* ---- taking ------------------------------------------------------------------------ */

struct taking {
    struct dtrace_consumer_cpu *cpu;
    struct dtrace_snap *snap;
    struct dtrace_parts *parts;
};

static void take_principal(void *arg)
{
    struct taking *t = arg;
    struct dtrace_buffer *b = &t->cpu->principal;

    t->snap->taken = dtrace_port_timestamp();
    t->snap->drops = b->drops;
    t->snap->errors = b->errors;
    b->drops = 0;
    b->errors = 0;
    if (b->policy == DTRACE_POLICY_SWITCH && b->active) {
        t->parts->at[0] = dtrace_buffer_swap(b, &t->parts->bytes[0]);
        t->snap->size = t->parts->bytes[0];
    }
}

static __attribute__((noinline)) int check_taking(struct dtrace_consumer *c, unsigned cpu)
{
    if (state_of(c) == DTRACE_STATE_KILLED) {
        return -ESHUTDOWN_;
    }
    note_alive(c);
    return cpu < c->ncpus ? 0 : -DTRACE_EINVAL;
}

int dtrace_buffer_take(struct dtrace_consumer *c, unsigned cpu, size_t room,
                       struct dtrace_parts *parts, struct dtrace_snap *snap)
{
    int error = check_taking(c, cpu);

    *snap = (struct dtrace_snap){0};
    *parts = (struct dtrace_parts){{0}, {0}};
    if (error || !c->cpus[cpu].traced) {
        return error;
    }
    struct dtrace_buffer *b = &c->cpus[cpu].principal;
    struct taking t = {&c->cpus[cpu], snap, parts};
    if (room < b->size ||
        (b->policy == DTRACE_POLICY_RING && state_of(c) != DTRACE_STATE_STOPPED)) {
        return -DTRACE_EINVAL;
    }
    dtrace_port_run_on(cpu, take_principal, &t);
    if (b->policy != DTRACE_POLICY_SWITCH && b->active && state_of(c) == DTRACE_STATE_STOPPED) {
        snap->size = dtrace_buffer_parts(b, parts);
        b->offset = b->oldest = b->end = 0;
    }
    return 0;
}

static void take_aggregation(void *arg)
{
    struct taking *t = arg;
    struct dtrace_aggbuf *b = &t->cpu->agg;

    t->snap->taken = dtrace_port_timestamp();
    t->snap->drops = b->drops;
    b->drops = 0;
    if (b->active) {
        t->parts->at[0] = dtrace_agg_swap(b, &t->parts->bytes[0]);
        t->snap->size = t->parts->bytes[0];
    }
}

int dtrace_aggregation_take(struct dtrace_consumer *c, unsigned cpu, size_t room,
                            struct dtrace_parts *parts, struct dtrace_snap *snap)
{
    int error = check_taking(c, cpu);

    *snap = (struct dtrace_snap){0};
    *parts = (struct dtrace_parts){{0}, {0}};
    if (error || !c->cpus[cpu].traced) {
        return error;
    }
    struct taking t = {&c->cpus[cpu], snap, parts};
    if (room < c->cpus[cpu].agg.limit || (c->retains && state_of(c) != DTRACE_STATE_STOPPED)) {
        return -DTRACE_EINVAL;
    }
    if (c->cpus[cpu].agg.active) {
        dtrace_agg_ready(&c->cpus[cpu].agg);
    }
    dtrace_port_run_on(cpu, take_aggregation, &t);
    return 0;
}

/* ---- descriptions ------------------------------------------------------------------ */

static void add_rec(struct dtrace_recdesc *recs, uint32_t room, uint32_t *n,
                    const struct dtrace_recdesc *r)
{
    if (*n < room) {
        recs[*n] = *r;
    }
    ++*n;
}

int dtrace_epid_describe(const struct dtrace_consumer *c, uint32_t epid,
                         struct dtrace_epid_desc *desc, struct dtrace_recdesc *recs,
                         uint32_t *nrecs)
{
    uint32_t n = 0;

    if (epid == 0 || epid > c->necbs) {
        return -ENOENT_;
    }
    const struct dtrace_ecb *e = &c->ecbs[epid - 1];
    for (uint32_t i = 0; i < e->nactions; i++) {
        if (e->actions[i].described) {
            add_rec(recs, *nrecs, &n, &e->actions[i].rec);
        }
    }
    *desc = (struct dtrace_epid_desc){epid, e->probe->id, e->clause, e->size, n};
    *nrecs = n;
    return 0;
}

int dtrace_agg_describe(const struct dtrace_consumer *c, uint32_t id, struct dtrace_agg_desc *desc,
                        struct dtrace_recdesc *recs, uint32_t *nrecs)
{
    uint32_t n = 0;

    if (id == 0 || id > c->naggs) {
        return -ENOENT_;
    }
    const struct dtrace_aggregation *a = &c->aggs[id - 1];
    for (uint32_t i = 0; i < a->nkeys; i++) {
        add_rec(recs, *nrecs, &n, &a->keys[i].rec);
    }
    add_rec(recs, *nrecs, &n, &a->rec);
    *desc = (struct dtrace_agg_desc){a->id, a->epid, a->variable, a->size, n};
    *nrecs = n;
    return 0;
}

/* ---- the cleaner ------------------------------------------------------------------- */

uint64_t dtrace_machine_clean(void)
{
    uint64_t now = dtrace_port_timestamp();
    uint32_t next = DTRACE_CLEAN_IDLE;

    for (struct dtrace_consumer *c = dtrace_consumers; c; c = c->next) {
        uint32_t state = state_of(c);
        if (state == DTRACE_STATE_KILLED || state == DTRACE_STATE_STOPPED) {
            continue;
        }
        bool silent = now > c->alive && now - c->alive > DEADMAN && !c->unattended;
        if (state != DTRACE_STATE_INACTIVE && silent) {
            /* no process will take its records */
            set_state(c, DTRACE_STATE_KILLED);
            disable_all(c);
            dtrace_memory_free(c);
            continue;
        }
        consumer_clean(c);
        /* If many chunks were freed since the last cleaning, the free ones may soon run out. */
        if (c->dynvars.rinsing.count > c->dynvars.nchunks / CLEAN_MANY && next > CLEAN_SOON) {
            next = CLEAN_SOON;
        }
        next = c->clean_interval < next ? (uint32_t)c->clean_interval : next;
    }
    return next < CLEAN_LEAST ? CLEAN_LEAST : next;
}
