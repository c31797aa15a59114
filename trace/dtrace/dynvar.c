/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of dynamic variables: the clauses' operations on it, and the cleaner. See dynvar.h;
 * dynvar_memory.c allocates its memory.
 */
#include "trace/dtrace/dynvar.h"

#include "trace/atomic.h"
#include "trace/dtrace/chain.h"
#include "trace/dtrace/consumer.h"
#include "trace/dtrace/counter.h"
#include "trace/dtrace/dynvar_table.h"
#include "trace/dtrace/hash.h"
#include "trace/dtrace/port.h"

/* ---- the key that is looked for ---------------------------------------------------- */

/* Hashes both halves of the thread key: first threads of many processes have the same lower
 * half. */
static uint32_t hash_of(const struct dtrace_chunk *w)
{
    uint64_t hash = DTRACE_HASH_START;

    if (w->thread) {
        hash = dtrace_hash_add(hash, w->thread);
    }
    for (uint32_t i = 0; i < w->key_bytes / 8; i++) {
        hash = dtrace_hash_add(hash, w->keys[i]);
    }
    return dtrace_hash_end(hash, w->variable);
}

/* Appends a part of the key, padded with zeros. Returns false if it doesn't fit or faulted. */
static bool add_key(struct dtrace_context *c, const struct dtrace_dynvars *v,
                    struct dtrace_chunk *w, unsigned i)
{
    const struct dtrace_key *k = &c->keys[i];
    size_t bytes = k->ref ? dtrace_round_up(k->size) : 8;
    uint8_t *to = (uint8_t *)w->keys + w->key_bytes;

    if (bytes > v->key_room - w->key_bytes) {
        return false;
    }
    w->key_bytes += (uint32_t)bytes;
    if (!k->ref) {
        __builtin_memcpy(to, &k->value, 8);
        return true;
    }
    w->sizes[i] = (uint16_t)(k->size + 1);
    __builtin_memset(to, 0, bytes);
    return dtrace_load_block(c, to, k->value, k->size, false);
}

static bool make_key(struct dtrace_context *c, const struct dtrace_dynvars *v,
                     const struct dtrace_dynamic *d, unsigned nkeys, struct dtrace_chunk *w)
{
    __builtin_memset(w, 0, sizeof(*w));
    w->variable = (uint32_t)(d - c->code->dynamics);
    w->thread = d->scope == DIF_SCOPE_THREAD ? dtrace_port_thread_key() : 0;
    for (unsigned i = 0; i < nkeys; i++) {
        if (!add_key(c, v, w, i)) {
            return false;
        }
    }
    w->hash = hash_of(w);
    return true;
}

enum { IDENTITY = offsetof(struct dtrace_chunk, hash) };

static size_t identity_bytes(const struct dtrace_chunk *w)
{
    return sizeof(*w) - IDENTITY + w->key_bytes;
}

static bool is_wanted(const struct dtrace_chunk *chunk, const struct dtrace_chunk *w)
{
    return chunk->hash == w->hash &&
           __builtin_memcmp(&chunk->hash, &w->hash, identity_bytes(w)) == 0;
}

/* ---- lists ------------------------------------------------------------------------- */

/* Waits only for other CPUs in the same chain, each for a few steps. */
static void dynvar_lock(struct dtrace_chain *chain)
{
    while (trace_atomic_exchange(&chain->lock, 1, __ATOMIC_ACQUIRE)) {
    }
}

static void dynvar_unlock(struct dtrace_chain *chain)
{
    trace_atomic_store(&chain->lock, 0, __ATOMIC_RELEASE);
}

static void count_drop(struct dtrace_dynvars *v)
{
    bool rinsing = trace_atomic_load(&v->rinsing.count, __ATOMIC_RELAXED) != 0;
    bool dirty = trace_atomic_load(&v->dirty_count, __ATOMIC_RELAXED) != 0;
    uint64_t *drops = rinsing ? &v->rinsing_drops : dirty ? &v->dirty_drops : &v->drops;

    dtrace_count(drops);
}

/* Takes a batch of the clean chunks. */
static void dynvar_refill(struct dtrace_dynvars *v, struct dtrace_dynvar_cpu *cpu)
{
    dynvar_lock(&v->clean);
    for (uint32_t i = 0; i < v->batch && v->clean.first; i++) {
        struct dtrace_chunk *chunk = dtrace_chunk_at(v, v->clean.first);
        uint32_t link = v->clean.first;
        v->clean.first = chunk->next;
        chunk->next = cpu->free;
        cpu->free = link;
    }
    dynvar_unlock(&v->clean);
}

/* Returns 0 if there is none, which is counted. */
static uint32_t take_free(struct dtrace_dynvars *v, struct dtrace_dynvar_cpu *cpu)
{
    if (!cpu->free) {
        dynvar_refill(v, cpu);
    }
    uint32_t link = cpu->free;
    if (!link) {
        count_drop(v);
        return 0;
    }
    cpu->free = dtrace_chunk_at(v, link)->next;
    return link;
}

static bool dynvar_chain_full(const struct dtrace_dynvars *v, const struct dtrace_chain *chain,
                              uint32_t hash)
{
    struct dtrace_chain_room room = {0, 0};

    for (uint32_t link = chain->first; link; link = dtrace_chunk_at(v, link)->next) {
        dtrace_chain_pass(&room, dtrace_chunk_at(v, link)->hash == hash);
    }
    return dtrace_chain_full(&room, DTRACE_CHAIN_DYNAMIC);
}

static struct dtrace_chunk *dynvar_insert(struct dtrace_dynvars *v, struct dtrace_chain *chain,
                                          const struct dtrace_chunk *w, uint32_t cpu, uint32_t size)
{
    if (dynvar_chain_full(v, chain, w->hash)) {
        count_drop(v);
        return NULL;
    }
    uint32_t link = take_free(v, &v->cpus[cpu]);

    if (!link) {
        return NULL;
    }
    struct dtrace_chunk *chunk = dtrace_chunk_at(v, link);
    __builtin_memcpy(&chunk->hash, &w->hash, identity_bytes(w));
    chunk->used = 1;
    chunk->next = chain->first;
    __builtin_memset((uint8_t *)chunk + v->data_at, 0, dtrace_round_up(size));
    chain->first = link;
    return chunk;
}

static void dynvar_discard(struct dtrace_dynvars *v, uint32_t *link, uint32_t cpu)
{
    struct dtrace_chunk_list *dirty = &v->cpus[cpu].dirty;
    uint32_t number = *link;
    struct dtrace_chunk *chunk = dtrace_chunk_at(v, number);

    *link = chunk->next;
    chunk->used = 0;
    chunk->next = dirty->first;
    dirty->first = number;
    if (dirty->count++ == 0) {
        dirty->last = number;
    }
    trace_atomic_add(&v->dirty_count, 1, __ATOMIC_RELAXED);
}

/* Under the chain's lock. */
static struct dtrace_chunk *dynvar_find(struct dtrace_dynvars *v, struct dtrace_chain *chain,
                                        const struct dtrace_chunk *w, enum dtrace_dynvar_how how,
                                        uint32_t cpu, uint32_t size)
{
    uint32_t *link = &chain->first;

    while (*link && !is_wanted(dtrace_chunk_at(v, *link), w)) {
        link = &dtrace_chunk_at(v, *link)->next;
    }
    if (!*link) {
        return how == DTRACE_DYNVAR_ALLOCATE ? dynvar_insert(v, chain, w, cpu, size) : NULL;
    }
    if (how == DTRACE_DYNVAR_FREE) {
        dynvar_discard(v, link, cpu);
        return NULL;
    }
    return dtrace_chunk_at(v, *link);
}

uint8_t *dtrace_dynvar(struct dtrace_context *c, const struct dtrace_dynamic *d, unsigned nkeys,
                       enum dtrace_dynvar_how how)
{
    struct dtrace_dynvars *v = &c->consumer->dynvars;
    struct dtrace_chunk *w = v->nchunks ? v->cpus[c->cpu].wanted : NULL;

    if (!w || !make_key(c, v, d, nkeys, w)) {
        if (how == DTRACE_DYNVAR_ALLOCATE && c->fault.kind == DIF_FAULT_NONE) {
            count_drop(v);
        }
        return NULL;
    }
    struct dtrace_chain *chain = &v->chains[w->hash & (v->nchains - 1)];
    dynvar_lock(chain);
    struct dtrace_chunk *chunk = dynvar_find(v, chain, w, how, c->cpu, d->size);
    dynvar_unlock(chain);
    return chunk ? (uint8_t *)chunk + v->data_at : NULL;
}

bool dtrace_dynvar_holds(struct dtrace_context *c, uintptr_t address, size_t bytes)
{
    const struct dtrace_dynvars *v = &c->consumer->dynvars;
    size_t from = address - (uintptr_t)v->chunks;

    if (v->nchunks == 0 || from >= (size_t)v->nchunks * v->chunk_bytes) {
        return false;
    }
    const struct dtrace_chunk *chunk = (void *)(v->chunks + from / v->chunk_bytes * v->chunk_bytes);
    /* an offset before the data wraps to a large number */
    size_t at = from % v->chunk_bytes - v->data_at;
    uint32_t size = chunk->used ? c->code->dynamics[chunk->variable].size : 0;
    return at < size && bytes <= size - at;
}

/* ---- cleaning ---------------------------------------------------------------------- */

struct collected {
    struct dtrace_dynvars *vars;
    struct dtrace_chunk_list list;
};

/* On each CPU: prepends its dirty chunks to the others'. */
static void dynvar_collect(void *arg)
{
    struct collected *all = arg;
    struct dtrace_dynvars *v = all->vars;
    struct dtrace_chunk_list *dirty = &v->cpus[dtrace_port_cpu()].dirty;

    if (dirty->count) {
        dtrace_chunk_at(v, dirty->last)->next = all->list.first;
        all->list.first = dirty->first;
        all->list.last = all->list.count ? all->list.last : dirty->last;
        all->list.count += dirty->count;
        *dirty = (struct dtrace_chunk_list){0};
    }
}

/* The rinsing chunks have been out of the table while every CPU passed: makes them clean. */
static void make_clean(struct dtrace_dynvars *v)
{
    struct dtrace_chunk_list *list = &v->rinsing;

    if (list->count == 0) {
        return;
    }
    uintptr_t irq = dtrace_port_irq_save();
    dynvar_lock(&v->clean);
    dtrace_chunk_at(v, list->last)->next = v->clean.first;
    v->clean.first = list->first;
    dynvar_unlock(&v->clean);
    dtrace_port_irq_restore(irq);
    trace_atomic_store(&list->count, 0, __ATOMIC_RELAXED);
}

void dtrace_dynvars_clean(struct dtrace_dynvars *v)
{
    struct collected all = {.vars = v};

    if (v->nchunks == 0 ||
        (v->rinsing.count == 0 && !trace_atomic_load(&v->dirty_count, __ATOMIC_RELAXED))) {
        return;
    }
    for (uint32_t cpu = 0; cpu < v->ncpus; cpu++) {
        dtrace_port_run_on(cpu, dynvar_collect, &all);
    }
    make_clean(v);
    v->rinsing.first = all.list.first;
    v->rinsing.last = all.list.last;
    trace_atomic_store(&v->rinsing.count, all.list.count, __ATOMIC_RELEASE);
    trace_atomic_sub(&v->dirty_count, all.list.count, __ATOMIC_RELEASE);
}
