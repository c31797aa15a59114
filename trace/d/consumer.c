/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of a consumer: d.h says what each call does. Control context, under the control lock.
 */
#include "trace/d/consumer.h"
#include "trace/d/counter.h"

#include "trace/d/image_check.h"
#include "trace/d/log.h"
#include "trace/d/port.h"
#include "trace/d/retained.h"

enum { ESHUTDOWN_ = 108, ENOENT_ = 2 };
#define DEADMAN 10000000000u  /* ns of silence */
#define CLEAN_LEAST 200000u   /* ns: 5000 hz */
#define CLEAN_SOON (1u << 20) /* ns: while many chunks are freed */
#define CLEAN_MANY 16         /* of the chunks: the part that are many */
#define CLEAN_USUAL 9900990u  /* ns: 101 hz */

struct d_consumer *d_consumers; /* [k] */

static uint32_t state_of(const struct d_consumer *c)
{
    return __atomic_load_n(&c->state, __ATOMIC_ACQUIRE);
}

static void set_state(struct d_consumer *c, enum d_state state)
{
    __atomic_store_n(&c->state, state, __ATOMIC_RELEASE);
}

/* Its process has asked for something: DEADMAN counts from now. */
static __attribute__((noinline)) void note_alive(struct d_consumer *c)
{
    c->alive = d_port_timestamp();
}

static void nothing(void *arg)
{
    (void)arg;
}

/* When it returns, whatever fired before has ended. */
static void wait_for_firings(void)
{
    for (unsigned cpu = 0; cpu < d_port_cpu_count(); cpu++) {
        d_port_run_on(cpu, nothing, NULL);
    }
}

/* ---- creation ----------------------------------------------------------------------------------
 */

static int make(struct d_consumer *c, const struct d_image *image, size_t size, unsigned flags,
                struct d_refusal *why)
{
    int error = d_image_check(image, size, why);

    if (error) {
        return error;
    }
    uint64_t strsize = d_image_option_value(image, D_OPT_STRSIZE, 256);
    c->logs = flags & D_CREATE_LOG;
    error =
        d_code_load(&c->code, image, strsize > UINT32_MAX ? UINT32_MAX : (uint32_t)strsize, why);
    error = error ? error : d_kept_begin(c, image, why);
    error = error ? error : d_ecbs_make(c, image, flags, why);
    error = error ? error : d_memory_make(c, image, why);
    error = error ? error : d_kept_make(c, why);
    c->clean_interval = d_image_option_value(image, D_OPT_CLEANRATE, CLEAN_USUAL);
    return error;
}

int d_consumer_create(const void *image, size_t size, unsigned flags, struct d_consumer **created,
                      struct d_refusal *why)
{
    struct d_consumer *c = d_port_alloc(sizeof(*c));

    *why = (struct d_refusal){.object = UINT32_MAX, .offset = UINT32_MAX};
    if (!c) {
        return d_refuse(why, D_REASON_NO_SPACE);
    }
    int error = make(c, image, size, flags, why);
    if (error) {
        d_memory_free(c);
        d_port_free(c, sizeof(*c));
        return error;
    }
    note_alive(c);
    c->next = d_consumers;
    d_consumers = c;
    *created = c;
    return 0;
}

void d_consumer_sizes(const struct d_consumer *c, struct d_sizes *sizes)
{
    *sizes = c->sizes;
}

uint32_t d_consumer_matched(const struct d_consumer *c)
{
    return c->matched;
}

/* ---- cleaning ----------------------------------------------------------------------------------
 */

static void clean_speculations(void *arg)
{
    struct d_consumer *c = arg;
    unsigned cpu = d_port_cpu();

    d_speculation_clean_cpu(&c->speculations, cpu, &c->cpus[cpu].principal, &c->shapes);
    if (c->kept) {
        d_kept_records(c, &c->cpus[cpu]);
    }
}

static void clean(struct d_consumer *c)
{
    if (d_speculation_clean_begin(&c->speculations)) {
        for (uint32_t cpu = 0; cpu < c->ncpus; cpu++) {
            d_port_run_on(cpu, clean_speculations, c);
        }
        d_speculation_clean_end(&c->speculations);
    }
    d_dynvars_clean(&c->dynvars);
}

/* ---- start and stop ----------------------------------------------------------------------------
 */

struct fire_own {
    struct d_consumer *c;
    uint32_t probe;
};

/* BEGIN or END, for this consumer only. */
static void fire_own(void *arg)
{
    const struct fire_own *f = arg;
    static const uint64_t no_args[5];

    for (uint32_t i = 0; i < f->c->necbs; i++) {
        if (f->c->ecbs[i].probe->id == f->probe) {
            d_ecb_fire(&f->c->ecbs[i], no_args);
        }
    }
}

/* A clause of BEGIN that calls exit() is the last one that runs; END's all run. */
static unsigned fire_on(struct d_consumer *c, uint32_t probe)
{
    struct fire_own f = {c, probe};

    d_port_run_on(c->first_cpu, fire_own, &f);
    return c->first_cpu;
}

static void disable_all(struct d_consumer *c)
{
    while (c->enabled) {
        struct d_ecb *e = &c->ecbs[--c->enabled];
        d_probe_disable(e->probe, e);
    }
    d_probes_settle();
    wait_for_firings();
}

static int enable_all(struct d_consumer *c)
{
    while (c->enabled < c->necbs) {
        struct d_ecb *e = &c->ecbs[c->enabled];
        int error = d_probe_enable(e->probe, e);
        if (error) {
            disable_all(c);
            return error;
        }
        c->enabled++;
    }
    d_probes_settle();
    return 0;
}

int d_consumer_go(struct d_consumer *c, unsigned *begin_cpu)
{
    uint32_t warm = D_STATE_WARMUP;
    int error = enable_all(c);

    if (error) {
        return error;
    }
    note_alive(c);
    set_state(c, D_STATE_WARMUP);
    *begin_cpu = fire_on(c, D_PROBE_BEGIN);
    __atomic_compare_exchange_n(&c->state, &warm, D_STATE_ACTIVE, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_RELAXED);
    return 0;
}

void d_consumer_stop(struct d_consumer *c, unsigned *end_cpu)
{
    *end_cpu = 0;
    if (state_of(c) == D_STATE_INACTIVE || state_of(c) >= D_STATE_STOPPED) {
        return;
    }
    set_state(c, D_STATE_COOLDOWN);
    wait_for_firings();
    *end_cpu = fire_on(c, D_PROBE_END);
    disable_all(c);
    clean(c); /* what was committed on one CPU may still lie on others */
    set_state(c, D_STATE_STOPPED);
}

void d_consumer_destroy(struct d_consumer *c)
{
    struct d_consumer **link = &d_consumers;

    if (state_of(c) != D_STATE_KILLED) {
        set_state(c, D_STATE_STOPPED);
        if (c->enabled) { /* else it has been stopped, and waiting is over */
            disable_all(c);
        }
        d_memory_free(c);
    }
    while (*link && *link != c) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = c->next;
    }
    d_port_free(c, sizeof(*c));
}

/* ---- what it says of itself --------------------------------------------------------------------
 */

static __attribute__((noinline)) uint64_t counter(const uint64_t *p)
{
    return d_counter(p);
}

void d_consumer_status(struct d_consumer *c, struct d_status *s)
{
    __builtin_memset(s, 0, sizeof(*s));
    s->state = state_of(c);
    s->exited = __atomic_load_n(&c->exited, __ATOMIC_ACQUIRE);
    s->exit_status = c->exit_status;
    s->exit_dropped = c->exit_dropped;
    s->dynamic_drops = counter(&c->dynvars.drops);
    s->dynamic_rinsing_drops = counter(&c->dynvars.rinsing_drops);
    s->dynamic_dirty_drops = counter(&c->dynvars.dirty_drops);
    s->speculations_busy = counter(&c->speculations.busy);
    s->speculations_unavailable = counter(&c->speculations.none);
    s->errors = counter(&c->errors);
    s->double_errors = counter(&c->double_errors);
    note_alive(c);
    for (uint32_t i = 0; c->cpus && i < c->ncpus; i++) {
        s->filled += c->cpus[i].principal.full;
        s->filled_drops += counter(&c->cpus[i].principal.filled_drops);
        s->speculative_drops += counter(&c->cpus[i].speculative_drops);
    }
}

bool d_consumer_over(const struct d_consumer *c)
{
    bool over = __atomic_load_n(&c->exited, __ATOMIC_ACQUIRE) || state_of(c) >= D_STATE_DRAINING;

    for (uint32_t i = 0; c->cpus && i < c->ncpus; i++) {
        over |= c->cpus[i].principal.full;
    }
    return over;
}

/* ---- taking ------------------------------------------------------------------------------------
 */

struct taking {
    struct d_consumer_cpu *cpu;
    struct d_snap *snap;
    const uint8_t *read;
    size_t size;
};

static void take_principal(void *arg)
{
    struct taking *t = arg;
    struct d_buffer *b = &t->cpu->principal;

    t->snap->taken = d_port_timestamp();
    t->snap->drops = b->drops;
    t->snap->errors = b->errors;
    b->drops = 0;
    b->errors = 0;
    if (b->policy == D_POLICY_SWITCH && b->active) {
        t->read = d_buffer_swap(b, &t->size);
    }
}

static __attribute__((noinline)) int check_taking(struct d_consumer *c, unsigned cpu)
{
    if (state_of(c) == D_STATE_KILLED) {
        return -ESHUTDOWN_;
    }
    note_alive(c);
    return cpu < c->ncpus ? 0 : -D_EINVAL;
}

int d_buffer_snap(struct d_consumer *c, unsigned cpu, void *to, size_t room, struct d_snap *snap)
{
    int error = check_taking(c, cpu);

    *snap = (struct d_snap){0};
    if (error || !c->cpus[cpu].traced) {
        return error;
    }
    struct d_buffer *b = &c->cpus[cpu].principal;
    struct taking t = {.cpu = &c->cpus[cpu], .snap = snap};
    if (room < b->size || (b->policy == D_POLICY_RING && state_of(c) != D_STATE_STOPPED)) {
        return -D_EINVAL;
    }
    d_port_run_on(cpu, take_principal, &t);
    if (t.read) {
        __builtin_memcpy(to, t.read, t.size);
        snap->size = t.size;
    } else if (b->policy != D_POLICY_SWITCH && b->active && state_of(c) == D_STATE_STOPPED) {
        snap->size = d_buffer_copy(b, to);
        b->offset = b->oldest = b->end = 0;
    }
    return 0;
}

static void take_aggregation(void *arg)
{
    struct taking *t = arg;
    struct d_aggbuf *b = &t->cpu->agg;

    t->snap->taken = d_port_timestamp();
    t->snap->drops = b->drops;
    b->drops = 0;
    if (b->active) {
        t->read = d_agg_swap(b, &t->size);
    }
}

int d_aggregation_take(struct d_consumer *c, unsigned cpu, size_t room, const uint8_t **read,
                       struct d_snap *snap)
{
    int error = check_taking(c, cpu);

    *snap = (struct d_snap){0};
    *read = NULL;
    if (error || !c->cpus[cpu].traced) {
        return error;
    }
    struct taking t = {.cpu = &c->cpus[cpu], .snap = snap};
    if (room < c->cpus[cpu].agg.limit || (c->retains && state_of(c) != D_STATE_STOPPED)) {
        return -D_EINVAL;
    }
    if (c->cpus[cpu].agg.active) {
        d_agg_ready(&c->cpus[cpu].agg);
    }
    d_port_run_on(cpu, take_aggregation, &t);
    *read = t.read;
    snap->size = t.size;
    return 0;
}

/* ---- descriptions ------------------------------------------------------------------------------
 */

static void add_rec(struct d_recdesc *recs, uint32_t room, uint32_t *n, const struct d_recdesc *r)
{
    if (*n < room) {
        recs[*n] = *r;
    }
    ++*n;
}

int d_epid_describe(const struct d_consumer *c, uint32_t epid, struct d_epid_desc *desc,
                    struct d_recdesc *recs, uint32_t *nrecs)
{
    uint32_t n = 0;

    if (epid == 0 || epid > c->necbs) {
        return -ENOENT_;
    }
    const struct d_ecb *e = &c->ecbs[epid - 1];
    for (uint32_t i = 0; i < e->nactions; i++) {
        if (e->actions[i].described) {
            add_rec(recs, *nrecs, &n, &e->actions[i].rec);
        }
    }
    *desc = (struct d_epid_desc){epid, e->probe->id, e->clause, e->size, n};
    *nrecs = n;
    return 0;
}

int d_agg_describe(const struct d_consumer *c, uint32_t id, struct d_agg_desc *desc,
                   struct d_recdesc *recs, uint32_t *nrecs)
{
    uint32_t n = 0;

    if (id == 0 || id > c->naggs) {
        return -ENOENT_;
    }
    const struct d_aggregation *a = &c->aggs[id - 1];
    for (uint32_t i = 0; i < a->nkeys; i++) {
        add_rec(recs, *nrecs, &n, &a->keys[i].rec);
    }
    add_rec(recs, *nrecs, &n, &a->rec);
    *desc = (struct d_agg_desc){a->id, a->epid, a->variable, a->size, n};
    *nrecs = n;
    return 0;
}

/* ---- the cleaner -------------------------------------------------------------------------------
 */

/* Silent for too long: nobody will take what it records. */
static void kill_silent(struct d_consumer *c)
{
    set_state(c, D_STATE_KILLED);
    disable_all(c);
    d_memory_free(c);
}

uint64_t d_machine_clean(void)
{
    uint64_t now = d_port_timestamp();
    uint32_t next = D_CLEAN_IDLE;

    for (struct d_consumer *c = d_consumers; c; c = c->next) {
        uint32_t state = state_of(c);
        if (state == D_STATE_KILLED || state == D_STATE_STOPPED) {
            continue;
        }
        bool silent = now > c->alive && now - c->alive > DEADMAN && !c->unattended;
        if (state != D_STATE_INACTIVE && silent) {
            kill_silent(c);
            continue;
        }
        clean(c);
        /* Many chunks that were freed since the last cleaning may soon be all that there are. */
        if (c->dynvars.rinsing.count > c->dynvars.nchunks / CLEAN_MANY && next > CLEAN_SOON) {
            next = CLEAN_SOON;
        }
        next = c->clean_interval < next ? (uint32_t)c->clean_interval : next;
    }
    return next < CLEAN_LEAST ? CLEAN_LEAST : next;
}
