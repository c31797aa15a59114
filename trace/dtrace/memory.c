/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A consumer's memory: principal and aggregation buffers per CPU, speculations, dynamic variables.
 * A size that can't be allocated is halved until it can (bufresize=auto) or refused (manual).
 * Control context.
 */
#include "trace/assert.h"
#include "trace/dtrace/consumer.h"
#include "trace/dtrace/limit.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/retained.h"

enum { SCRATCH_LEAST = 16 * 1024 };

bool dtrace_block_make(struct dtrace_block *b, size_t bytes)
{
    b->at = dtrace_port_alloc(bytes);
    b->bytes = b->at ? bytes : 0;
    return b->at != NULL;
}

void dtrace_block_free(struct dtrace_block *b)
{
    if (b->at) {
        dtrace_port_free(b->at, b->bytes);
    }
    *b = (struct dtrace_block){0};
}

/* ---- sizes ------------------------------------------------------------------------- */

/* Memory being allocated. */
struct making {
    struct dtrace_consumer *c;
    bool may_halve;
    struct dtrace_block kept_free[2]; /* while the rest is allocated: see make_resized() */
    unsigned nkept;
};

/* Tries make() with the size, halved as long as that is allowed and the size is not 0. With undo():
 * the same amount of memory must be free in the end, so it is allocated, too, until the rest is
 * allocated. The machine hands out its data without a copy, but the process that reads it needs a
 * buffer, and the commands need blocks for their answers. */
static bool make_resized(struct making *m, size_t *size,
                         bool (*make)(struct dtrace_consumer *, size_t size),
                         void (*undo)(struct dtrace_consumer *))
{
    trace_assert(!undo || m->nkept < sizeof(m->kept_free) / sizeof(m->kept_free[0]));
    for (;; *size /= 2) {
        *size &= ~(size_t)7;
        if (*size <= SIZE_MAX / 8 && make(m->c, *size)) {
            if (!undo ||
                dtrace_block_make(&m->kept_free[m->nkept], *size + sizeof(struct dtrace_snap))) {
                m->nkept += undo != NULL;
                return true;
            }
            undo(m->c);
        }
        if (!m->may_halve || *size < 16) {
            return false;
        }
    }
}

static void free_principal(struct dtrace_consumer *c)
{
    for (uint32_t i = 0; i < c->ncpus; i++) {
        dtrace_block_free(&c->cpus[i].principal_block);
    }
}

static bool make_principal(struct dtrace_consumer *c, size_t size)
{
    for (uint32_t i = 0; i < c->ncpus; i++) {
        struct dtrace_consumer_cpu *cpu = &c->cpus[i];
        if (!cpu->traced) {
            continue;
        }
        if (!dtrace_block_make_kept(c, &cpu->principal_block, size * 2)) {
            free_principal(c);
            return false;
        }
        cpu->principal.active = cpu->principal_block.at;
        cpu->principal.spare = cpu->principal.active + size;
        cpu->principal.size = size;
    }
    return true;
}

static void free_aggs(struct dtrace_consumer *c)
{
    for (uint32_t i = 0; i < c->ncpus; i++) {
        dtrace_block_free(&c->cpus[i].agg_block);
    }
}

/* The room after the entries is for one that turns out not to be new. There is a chain for every 4
 * possible entries: hash.h. */
static bool make_agg(struct dtrace_consumer *c, size_t size)
{
    uint32_t smallest = UINT32_MAX, largest = 0, chains = 8;

    for (uint32_t i = 0; i < c->naggs; i++) {
        largest = c->aggs[i].size > largest ? c->aggs[i].size : largest;
        smallest = c->aggs[i].size < smallest ? c->aggs[i].size : smallest;
        if (i % 64 == 63) {
            dtrace_window();
        }
    }
    while (chains < size / smallest / 4 && chains < 1u << 26) {
        chains *= 2;
    }
    for (uint32_t i = 0; i < c->ncpus; i++) {
        struct dtrace_consumer_cpu *cpu = &c->cpus[i];
        size_t half = size + largest;
        dtrace_window();
        if (!cpu->traced) {
            continue;
        }
        size_t bytes = half * 2 + (size_t)chains * 2 * sizeof(uint32_t);
        if (!dtrace_block_make_kept(c, &cpu->agg_block, bytes)) {
            free_aggs(c);
            return false;
        }
        cpu->agg.active = cpu->agg_block.at;
        cpu->agg.spare = cpu->agg.active + half;
        cpu->agg.heads = (void *)(cpu->agg.spare + half);
        cpu->agg.spare_heads = cpu->agg.heads + chains;
        cpu->agg.chains = chains;
        cpu->agg.limit = size;
    }
    return true;
}

static bool make_speculations(struct dtrace_consumer *c, size_t size)
{
    uint32_t n = c->speculations.count, nbuffers = c->ncpus * n;
    size_t head = sizeof(struct dtrace_speculation) * n,
           table = sizeof(struct dtrace_buffer) * nbuffers;

    if ((n && size > SIZE_MAX / 2 / nbuffers) ||
        !dtrace_block_make(&c->spec_block, head + table + size * nbuffers + 1)) {
        return false;
    }
    struct dtrace_buffer *buffers = (void *)((char *)c->spec_block.at + head);
    uint8_t *data = (uint8_t *)buffers + table;
    c->speculations.all = c->spec_block.at;
    for (uint32_t i = 0; i < n; i++) {
        c->speculations.all[i].buffers = &buffers[i * c->ncpus];
        for (uint32_t cpu = 0; cpu < c->ncpus; cpu++, data += size) {
            buffers[i * c->ncpus + cpu] = (struct dtrace_buffer){.active = data, .size = size};
        }
    }
    return true;
}

static bool make_dynvars(struct dtrace_consumer *c, size_t size)
{
    return dtrace_dynvars_make(&c->dynvars, &c->code, size, c->ncpus);
}

/* ---- all of it --------------------------------------------------------------------- */

static int no_memory(struct dtrace_refusal *why)
{
    return dtrace_refuse(why, DTRACE_REASON_NO_SPACE);
}

static int memory_make_all(struct dtrace_consumer *c, const struct dtrace_image *image,
                           struct dtrace_refusal *why)
{
    struct making m = {.c = c};
    bool records = false, speculates = false;
    uint64_t end = 0; /* fill: room for END's clauses, each record at its worst alignment */
    /* Without records a principal buffer is only scratch. */
    size_t scratch = dtrace_amount_product(c->code.strsize, 32);

    scratch = scratch < SCRATCH_LEAST ? SCRATCH_LEAST : scratch;
    scratch = c->sizes.bufsize < scratch ? c->sizes.bufsize : scratch;
    for (uint32_t i = 0; i < c->necbs; i++) {
        const struct dtrace_ecb *e = &c->ecbs[i];
        if (i % 64 == 63) {
            dtrace_window();
        }
        records |= e->size && e->clause != DTRACE_CLAUSE_FAULT;
        speculates |= e->speculates;
        if (e->probe->id == DTRACE_PROBE_END && e->size) {
            end += e->size + (e->align - 4);
        }
    }
    if (records && c->sizes.bufsize < 8) {
        return dtrace_refuse(why, DTRACE_REASON_NO_BUFFER);
    }
    m.may_halve = dtrace_image_option_value(image, DTRACE_OPT_BUFRESIZE, DTRACE_RESIZE_AUTO) ==
                  DTRACE_RESIZE_AUTO;
    size_t *principal = records ? &c->sizes.bufsize : &scratch;
    bool ok = (*principal == 0 || make_resized(&m, principal, make_principal, free_principal)) &&
              (c->naggs == 0 || c->sizes.aggsize == 0 ||
               make_resized(&m, &c->sizes.aggsize, make_agg, free_aggs)) &&
              (!speculates || make_resized(&m, &c->sizes.specsize, make_speculations, NULL)) &&
              make_resized(&m, &c->sizes.dynvarsize, make_dynvars, NULL);
    dtrace_block_free(&m.kept_free[0]);
    dtrace_block_free(&m.kept_free[1]);
    if (!ok) {
        return dtrace_refuse(why, DTRACE_REASON_NO_SPACE);
    }
    enum dtrace_policy policy = (enum dtrace_policy)dtrace_image_option_value(
        image, DTRACE_OPT_BUFPOLICY, DTRACE_POLICY_SWITCH);
    uint64_t reserve = policy == DTRACE_POLICY_FILL ? end : 0;
    if (reserve > c->sizes.bufsize) {
        return dtrace_refuse(why, DTRACE_REASON_END_RESERVE);
    }
    for (uint32_t i = 0; i < c->ncpus; i++) {
        c->cpus[i].principal.policy = policy;
        c->cpus[i].principal.reserve = (size_t)reserve;
    }
    return 0;
}

/* Stores the number of the last CPU in the refusal's text. */
static int no_cpu(uint32_t ncpus, struct dtrace_refusal *why)
{
    int error = dtrace_refuse(why, DTRACE_REASON_NO_CPU);
    struct dtrace_line line = dtrace_line_begin(why);

    dtrace_line_add(&line, "There is no such CPU: the last one is CPU ");
    dtrace_line_number(&line, ncpus - 1);
    return error;
}

int dtrace_memory_make(struct dtrace_consumer *c, const struct dtrace_image *image,
                       struct dtrace_refusal *why)
{
    size_t only = dtrace_image_option_value(image, DTRACE_OPT_CPU, SIZE_MAX);

    c->ncpus = dtrace_port_cpu_count();
    if (!dtrace_block_make_kept(c, &c->cpu_block, sizeof(*c->cpus) * c->ncpus)) {
        return no_memory(why);
    }
    c->cpus = c->cpu_block.at;
    for (uint32_t i = 0; i < c->ncpus; i++) {
        c->cpus[i].traced = only == SIZE_MAX || only == i;
    }
    if (only != SIZE_MAX && only >= c->ncpus) {
        return no_cpu(c->ncpus, why);
    }
    c->first_cpu = only == SIZE_MAX ? 0 : (unsigned)only;
    size_t nspec = dtrace_image_option_value(image, DTRACE_OPT_NSPEC, 1);
    c->speculations.count = nspec > 65536 ? 65536 : (uint32_t)nspec;
    c->sizes.bufsize = dtrace_image_option_value(image, DTRACE_OPT_BUFSIZE, 0);
    c->sizes.aggsize = dtrace_image_option_value(image, DTRACE_OPT_AGGSIZE, 0);
    c->sizes.specsize = dtrace_image_option_value(image, DTRACE_OPT_SPECSIZE, 0);
    c->sizes.dynvarsize = dtrace_image_option_value(image, DTRACE_OPT_DYNVARSIZE, 0);
    dtrace_window();
    int error = memory_make_all(c, image, why);
    dtrace_window();
    if (error) {
        return error;
    }
    /* speculation() works without a buffer too, as long as nothing speculates */
    if (!c->speculations.all && c->speculations.count > 0 && !make_speculations(c, 0)) {
        return no_memory(why);
    }
    struct dtrace_region dynamic = {(uintptr_t)c->dynvars.chunks,
                                    (uint64_t)c->dynvars.chunk_bytes * c->dynvars.nchunks};
    for (uint32_t i = 0; i < c->ncpus; i++) {
        dtrace_context_init(&c->cpus[i].context, &c->code, c, &c->speculations, i, dynamic);
    }
    return 0;
}

/* The consumer has stopped, so at the windows no other code uses its memory. */
void dtrace_memory_free(struct dtrace_consumer *c)
{
    if (DTRACE_PORT_COUNTS) {
        dtrace_counters_end(c);
    }
    dtrace_kept_free(c);
    if (c->cpus) {
        free_principal(c);
        dtrace_window();
        free_aggs(c);
    }
    dtrace_window();
    dtrace_dynvars_free(&c->dynvars);
    dtrace_window();
    dtrace_block_free(&c->notes);
    dtrace_block_free(&c->spec_block);
    dtrace_block_free(&c->cpu_block);
    dtrace_block_free(&c->ecb_block);
    dtrace_code_unload(&c->code);
    c->cpus = NULL;
    c->ecbs = NULL;
    c->necbs = c->naggs = 0;
}
