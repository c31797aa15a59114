/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of dynamic variables: the clauses' operations on it, the cleaner, and its memory, which
 * is allocated with its consumer. See dynvar.h.
 */
#include "abi/compiler.h"
#include "trace/dtrace/dynvar.h"

#include "trace/assert.h"
#include "trace/atomic.h"
#include "trace/dtrace/consumer.h"
#include "trace/dtrace/counter.h"
#include "trace/dtrace/hash.h"
#include "trace/dtrace/port.h"

static size_t dynvar_round_up(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

/* ---- the key to be found ----------------------------------------------------------- */

/* Appends a part of the key, padded with zeros. Returns false if it doesn't fit or faulted. */
static COLD bool add_key(struct dtrace_context *c, const struct dtrace_dynvars *v,
                         struct dtrace_chunk *w, unsigned i)
{
    const struct dtrace_key *k = &c->keys[i];
    size_t bytes = k->ref ? dynvar_round_up(k->size) : 8;
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

/* Assembles the identity of the variable to be found. Returns false if the key doesn't fit or
 * reading it faulted. */
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
    /* Hashes both halves of the thread key: first threads of many processes have the same lower
     * half. */
    uint64_t hash = DTRACE_HASH_START;
    if (w->thread) {
        hash = dtrace_hash_add(hash, w->thread);
    }
    for (uint32_t i = 0; i < w->key_bytes / 8; i++) {
        hash = dtrace_hash_add(hash, w->keys[i]);
    }
    w->hash = dtrace_hash_end(hash, w->variable);
    return true;
}

enum { IDENTITY = offsetof(struct dtrace_chunk, hash) };

static size_t identity_bytes(const struct dtrace_chunk *w)
{
    return sizeof(*w) - IDENTITY + w->key_bytes;
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

static COLD void count_drop(struct dtrace_dynvars *v)
{
    bool rinsing = trace_atomic_load(&v->rinsing.count, __ATOMIC_RELAXED) != 0;
    bool dirty = trace_atomic_load(&v->dirty_count, __ATOMIC_RELAXED) != 0;
    uint64_t *drops = rinsing ? &v->rinsing_drops : dirty ? &v->dirty_drops : &v->drops;

    dtrace_count(drops);
}

/* Takes a batch of the clean chunks. */
static COLD void dynvar_refill(struct dtrace_dynvars *v, struct dtrace_dynvar_cpu *cpu)
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

/* Inserts a chunk with zeroed data into the chain; the caller, which holds the lock, fills in its
 * identity. Returns NULL if there is no room, which is counted. */
static struct dtrace_chunk *dynvar_insert(struct dtrace_dynvars *v, struct dtrace_chain *chain,
                                          uint32_t hash, uint32_t cpu, uint32_t size)
{
    struct dtrace_chain_room room = {0, 0};
    uint32_t *free = &v->cpus[cpu].free;

    trace_assert(v->ncpus == 1 || trace_atomic_load(&chain->lock, __ATOMIC_RELAXED) == 1);
    for (uint32_t link = chain->first; link; link = dtrace_chunk_at(v, link)->next) {
        dtrace_chain_pass(&room, dtrace_chunk_at(v, link)->hash == hash);
    }
    bool full = dtrace_chain_full(&room, DTRACE_CHAIN_DYNAMIC);
    if (!full && !*free) {
        dynvar_refill(v, &v->cpus[cpu]);
    }
    uint32_t link = *free;
    if (full || !link) {
        count_drop(v);
        return NULL;
    }
    struct dtrace_chunk *chunk = dtrace_chunk_at(v, link);
    trace_assert(!chunk->used && size <= v->data_room);
    *free = chunk->next;
    chunk->used = 1;
    chunk->next = chain->first;
    if (size == 8) { /* data is aligned to 8 */
        *(uint64_t *)(void *)((uint8_t *)chunk + v->data_at) = 0;
    } else {
        __builtin_memset((uint8_t *)chunk + v->data_at, 0, dynvar_round_up(size));
    }
    chain->first = link;
    return chunk;
}

/* Removes the chunk that *link refers to from its chain. Caller holds the chain's lock. */
static void dynvar_remove(struct dtrace_dynvars *v, uint32_t *link, uint32_t cpu)
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

/* Finds the variable, or inserts it into the table, or removes it. Caller holds the chain's
 * lock. */
static struct dtrace_chunk *dynvar_find(struct dtrace_dynvars *v, struct dtrace_chain *chain,
                                        const struct dtrace_chunk *w, enum dtrace_dynvar_how how,
                                        uint32_t cpu, uint32_t size)
{
    uint32_t *link = &chain->first, number;
    struct dtrace_chunk *chunk = NULL;

    while ((number = *link) != 0) {
        chunk = dtrace_chunk_at(v, number);
        if (chunk->hash == w->hash &&
            __builtin_memcmp(&chunk->hash, &w->hash, identity_bytes(w)) == 0) {
            break;
        }
        link = &chunk->next;
    }
    if (number && how == DTRACE_DYNVAR_FREE) {
        dynvar_remove(v, link, cpu);
        return NULL;
    }
    if (!number) {
        chunk = how == DTRACE_DYNVAR_ALLOCATE ? dynvar_insert(v, chain, w->hash, cpu, size) : NULL;
        if (chunk) {
            __builtin_memcpy(&chunk->hash, &w->hash, identity_bytes(w));
        }
    }
    return chunk;
}

static COLD uint8_t *dynvar_keyed(struct dtrace_context *c, const struct dtrace_dynamic *d,
                                  unsigned nkeys, enum dtrace_dynvar_how how)
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

/* ---- thread-local scalars ----------------------------------------------------------
 *
 * Their identity is three words, which are compared one by one: they have no key but the thread,
 * and no other variable has their number. */

struct scalar {
    uint64_t thread;
    uint32_t variable, hash;
};

/* Returns the link to the variable's chunk, or the last one, which is 0. */
static inline uint32_t *scalar_link(const struct dtrace_dynvars *v, struct dtrace_chain *chain,
                                    const struct scalar *s)
{
    uint32_t *link = &chain->first;

    while (*link) {
        struct dtrace_chunk *chunk = dtrace_chunk_at(v, *link);
        if (chunk->hash == s->hash && chunk->variable == s->variable &&
            chunk->thread == s->thread) {
            break;
        }
        link = &chunk->next;
    }
    return link;
}

/* With one CPU the chain needs no lock. */
static inline void scalar_lock(const struct dtrace_dynvars *v, struct dtrace_chain *chain)
{
    if (v->ncpus > 1) {
        dynvar_lock(chain);
    }
}

static inline void scalar_unlock(const struct dtrace_dynvars *v, struct dtrace_chain *chain)
{
    if (v->ncpus > 1) {
        dynvar_unlock(chain);
    }
}

/* Creates the variable, which doesn't exist: only this thread could create it, and it runs on this
 * CPU. */
static __attribute__((noinline)) uint8_t *scalar_make(struct dtrace_context *c,
                                                      struct dtrace_chain *chain,
                                                      const struct scalar *s, uint32_t size)
{
    struct dtrace_dynvars *v = &c->consumer->dynvars;

    scalar_lock(v, chain);
    struct dtrace_chunk *chunk = dynvar_insert(v, chain, s->hash, c->cpu, size);
    if (chunk) {
        chunk->hash = s->hash;
        chunk->variable = s->variable;
        chunk->thread = s->thread;
        chunk->key_bytes = chunk->pad = 0;
        _Static_assert(offsetof(struct dtrace_chunk, sizes) % 8 == 0, "words are stored");
        __builtin_memset(__builtin_assume_aligned(chunk->sizes, 8), 0, sizeof(chunk->sizes));
    }
    scalar_unlock(v, chain);
    return chunk ? (uint8_t *)chunk + v->data_at : NULL;
}

static __attribute__((noinline)) uint8_t *
dynvar_scalar(struct dtrace_context *c, const struct dtrace_dynamic *d, enum dtrace_dynvar_how how)
{
    struct dtrace_dynvars *v = &c->consumer->dynvars;
    struct dtrace_thread *t = dtrace_port_thread_state();
    struct scalar s = {.thread = dtrace_port_thread_key(),
                       .variable = (uint32_t)(d - c->code->dynamics)};

    trace_assert(v->nchunks); /* a consumer whose program has such a variable has memory for it */
    s.hash = dtrace_hash_end(s.thread, s.variable); /* for a thread's key this suffices */
    struct dtrace_chain *chain = &v->chains[s.hash & (v->nchains - 1)];
    scalar_lock(v, chain);
    uint32_t *link = scalar_link(v, chain, &s), number = *link;
    if (number && how == DTRACE_DYNVAR_FREE) {
        dynvar_remove(v, link, c->cpu);
        number = 0;
    }
    scalar_unlock(v, chain);
    uint8_t *data = number ? (uint8_t *)dtrace_chunk_at(v, number) + v->data_at : NULL;
    if (!data && how == DTRACE_DYNVAR_ALLOCATE) {
        data = scalar_make(c, chain, &s, d->size);
    }
    t->scalar = data ? d->unique : 0;
    t->scalar_data = data;
    return data;
}

uint8_t *dtrace_dynvar(struct dtrace_context *c, const struct dtrace_dynamic *d, unsigned nkeys,
                       enum dtrace_dynvar_how how)
{
    return d->scalar ? dynvar_scalar(c, d, how) : dynvar_keyed(c, d, nkeys, how);
}

COLD bool dtrace_dynvar_holds(struct dtrace_context *c, uintptr_t address, size_t bytes)
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

/* Runs on each CPU: prepends its dirty chunks to the others'. */
static COLD void dynvar_collect(void *arg)
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

COLD void dtrace_dynvars_clean(struct dtrace_dynvars *v)
{
    struct collected all = {.vars = v};
    struct dtrace_chunk_list *rinsing = &v->rinsing;

    if (v->nchunks == 0 ||
        (rinsing->count == 0 && !trace_atomic_load(&v->dirty_count, __ATOMIC_RELAXED))) {
        return;
    }
    for (uint32_t cpu = 0; cpu < v->ncpus; cpu++) {
        dtrace_port_run_on(cpu, dynvar_collect, &all);
    }
    if (rinsing->count) { /* every CPU was visited since these left the table: they are clean */
        uintptr_t irq = dtrace_port_irq_save();
        dynvar_lock(&v->clean);
        dtrace_chunk_at(v, rinsing->last)->next = v->clean.first;
        v->clean.first = rinsing->first;
        dynvar_unlock(&v->clean);
        dtrace_port_irq_restore(irq);
        trace_atomic_store(&rinsing->count, 0, __ATOMIC_RELAXED);
    }
    rinsing->first = all.list.first;
    rinsing->last = all.list.last;
    trace_atomic_store(&rinsing->count, all.list.count, __ATOMIC_RELEASE);
    trace_atomic_sub(&v->dirty_count, all.list.count, __ATOMIC_RELEASE);
}

/* ---- memory ------------------------------------------------------------------------ */

COLD bool dtrace_dynvars_make(struct dtrace_dynvars *v, const struct dtrace_code *code,
                              size_t bytes, uint32_t ncpus)
{
    if (code->datum_bytes == 0) {
        return true; /* the program has no such variables */
    }
    v->key_room = (uint32_t)dynvar_round_up(code->key_bytes);
    v->data_room = (uint32_t)dynvar_round_up(code->datum_bytes);
    v->data_at = (uint32_t)(sizeof(struct dtrace_chunk) + v->key_room);
    v->chunk_bytes = v->data_at + v->data_room;
    if (bytes / v->chunk_bytes > INT32_MAX) {
        return false; /* more than links can distinguish */
    }
    v->nchunks = (uint32_t)(bytes / v->chunk_bytes);
    v->nchunks += v->nchunks == 0;
    for (v->nchains = 1; v->nchains < v->nchunks && v->nchains < 1u << 28;) {
        v->nchains *= 2;
    }
    v->ncpus = ncpus;
    size_t cpus = dynvar_round_up(sizeof(*v->cpus) * ncpus), keys = (size_t)v->data_at * ncpus;
    size_t chains = sizeof(*v->chains) * v->nchains;
    v->block_bytes = cpus + keys + chains + (size_t)v->chunk_bytes * v->nchunks;
    v->block = dtrace_port_alloc(v->block_bytes);
    if (!v->block) {
        return false;
    }
    v->cpus = v->block;
    v->chains = (void *)((uint8_t *)v->block + cpus + keys);
    v->chunks = (uint8_t *)v->chains + chains;
    for (uint32_t i = 0; i < ncpus; i++) {
        v->cpus[i].wanted = (void *)((uint8_t *)v->block + cpus + (size_t)v->data_at * i);
    }
    for (uint32_t i = v->nchunks; i > 0; i--) { /* all chunks are clean */
        dtrace_chunk_at(v, i)->next = v->clean.first;
        v->clean.first = i;
    }
    uint32_t share = v->nchunks / (8 * ncpus) + 1;
    v->batch = share < DTRACE_DYNVAR_BATCH ? share : DTRACE_DYNVAR_BATCH;
    return true;
}

COLD void dtrace_dynvars_free(struct dtrace_dynvars *v)
{
    if (v->block) {
        dtrace_port_free(v->block, v->block_bytes);
        v->block = NULL;
        v->nchunks = 0;
    }
}
