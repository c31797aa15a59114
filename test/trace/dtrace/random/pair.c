/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See pair.h.
 */
#include "test/trace/dtrace/random/pair.h"

#include "test/trace/dtrace/machine/fake.h"
#include "trace/dtrace/code.h"
#include "trace/dtrace/cost.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair pair;
static struct dtrace_consumer_cpu cpus[FAKE_CPUS];
static struct dtrace_speculation speculations[2];
enum { BIG = 8 << 20 };
static uint8_t *scratch;
static uint8_t *map[N_MAPS]; /* on the heap, so that ASan guards them; the copies follow */
static uint8_t map_copy[N_MAPS][PAIR_MAP], scratch_copy[PAIR_SCRATCH], scratch_known[PAIR_SCRATCH];
static uint8_t block_copy[BIG], block_known[BIG], dynamic_copy[BIG], dynamic_known[BIG];

uint64_t counted;
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    counted++;
}

#define WRONG(...) snprintf(pair.wrong, sizeof(pair.wrong), __VA_ARGS__)

static uint64_t sixth(uint32_t probe, void *arg, unsigned n)
{
    (void)probe;
    (void)arg;
    return 1000 + n;
}

/* ---- the world --------------------------------------------------------------------- */

/* Where the machine has the strings that are its own. */
static void find_strings(void)
{
    static struct dtrace_code code = {.strsize = 64};
    struct dtrace_context *c = pair.context;

    *c = (struct dtrace_context){.code = &code, .consumer = &pair.consumer};
    for (unsigned i = 0; i < N_WINDOWS; i++) {
        dtrace_context_clause(c, &pair.ecb, pair.args);
        c->strtok = 0;
        pair.naive.string_at[i] = dtrace_builtin(c, n_strings[i]);
        pair.naive.string_is[i] = (const char *)(uintptr_t)pair.naive.string_at[i];
    }
}

void pair_init(void)
{
    static struct dtrace_probe probe;

    static const struct dtrace_provider_ops ops = {.argument = sixth};
    pair.provider = (struct dtrace_provider){"prov", &ops};
    probe = (struct dtrace_probe){
        .provider = &pair.provider, .module = "mod", .function = "func", .name = "name", .id = 17};
    pair_init_on(&probe);
}

void pair_init_on(struct dtrace_probe *probe)
{
    fake_reset();
    pair.probe = probe;
    pair.context = &cpus[0].context;
    pair.consumer = (struct dtrace_consumer){.cpus = cpus, .ncpus = FAKE_CPUS};
    pair.consumer.speculations = (struct dtrace_speculations){.all = speculations, .count = 2};
    pair.ecb = (struct dtrace_ecb){.probe = probe, .epid = 5, .consumer = &pair.consumer};
    find_strings();
    for (unsigned i = 0; i < N_MAPS; i++) {
        map[i] = malloc(PAIR_MAP);
    }
}

static void fill(uint8_t *p, size_t size)
{
    static const char letters[] = "ab/.,{}:\"[]019 -x";

    for (size_t i = 0; i < size; i++) {
        p[i] = r_chance(85)   ? (uint8_t)letters[r_below(sizeof(letters) - 1)]
               : r_chance(50) ? 0
                              : (uint8_t)r_next();
    }
}

/* One map of the kernel, one of the process, one of both, one that nobody may look at. */
static void make_maps(void)
{
    static const bool kernel[N_MAPS] = {true, false, true, true};
    static const bool user[N_MAPS] = {false, true, true, true};

    fake.nmaps = 0;
    for (unsigned i = 0; i < N_MAPS; i++) {
        size_t size = r_chance(30) ? 1 + r_below(PAIR_MAP) : PAIR_MAP - 8 * r_below(4);
        uint8_t *at = map[i] + PAIR_MAP - size; /* ends where ASan watches */
        bool toxic = i == 3;
        fill(at, size);
        memcpy(map_copy[i], at, size);
        if (toxic) {
            fake_toxic(at, size);
        } else {
            fake_map(at, size, kernel[i], user[i]);
        }
        pair.naive.maps[i] = (struct n_region){.base = (uintptr_t)at,
                                               .size = size,
                                               .bytes = map_copy[i],
                                               .kernel = kernel[i],
                                               .user = user[i],
                                               .toxic = toxic};
        for (unsigned k = 0; k < (toxic    ? 1
                                  : i == 1 ? 2
                                           : 4) &&
                             pair.program.naddresses < 12;
             k++) {
            pair.program.addresses[pair.program.naddresses++] =
                (uintptr_t)at + (k == 3 ? size - 8 : 0);
        }
    }
    pair.naive.nmaps = N_MAPS;
}

static uint64_t random_arg(void)
{
    static const uint64_t some[] = {0, 1, 3, 42, UINT64_MAX, 0x8000000000000000u};

    return r_chance(50)   ? pair.program.addresses[r_below(pair.program.naddresses)]
           : r_chance(80) ? R_PICK(some)
                          : r_next();
}

void pair_world(void)
{
    static const uint16_t strsizes[] = {1, 2, 3, 6, 8, 15, 16, 17, 32, 64, 100, 256};
    static const uint16_t sizes[] = {0, 1, 8, 40, 128, 300, 700, 2000, PAIR_SCRATCH};

    fake.align = r_chance(50);
    fake.now = r_next() >> 8;
    fake.lookups = r_below(100);
    fake.thread = 1 + r_below(3);
    fake.random = r_next();
    fake.toxic_read = 0;
    fake.state.predicate_cache = 99;
    memset(speculations, 0, sizeof(speculations));
    pair.strsize = R_PICK(strsizes);
    pair.scratch_size = R_PICK(sizes);
    pair.program.naddresses = 0;
    make_maps();
    free(scratch);
    scratch = malloc(pair.scratch_size ? pair.scratch_size : 1);
    memset(scratch, 0xa5, pair.scratch_size);
    for (unsigned i = 0; i < 5; i++) {
        pair.args[i] = random_arg();
    }
    cpus[0].principal = (struct dtrace_buffer){.policy = DTRACE_POLICY_FILL,
                                               .active = scratch,
                                               .spare = scratch,
                                               .size = pair.scratch_size};
}

/* ---- loading ----------------------------------------------------------------------- */

static void find_vars(struct naive *n);

void pair_copy(struct naive *n, uint64_t scratch_at, size_t scratch_size)
{
    const struct dtrace_code *code = &pair.consumer.code;
    const struct dtrace_dynvars *v = &pair.consumer.dynvars;

    assert(code->block_bytes <= sizeof(block_copy));
    memcpy(block_copy, code->block, code->block_bytes);
    memset(block_known, 1, code->block_bytes);
    n->block = (struct n_region){.base = (uintptr_t)code->block,
                                 .size = code->block_bytes,
                                 .bytes = block_copy,
                                 .known = block_known};
    n->scratch = (struct n_region){
        .base = scratch_at, .size = scratch_size, .bytes = scratch_copy, .known = scratch_known};
    n->dynamic = (struct n_region){.base = (uintptr_t)v->chunks,
                                   .size = (size_t)v->nchunks * v->chunk_bytes,
                                   .bytes = dynamic_copy,
                                   .known = dynamic_known};
    assert(n->dynamic.size <= sizeof(dynamic_copy));
    memset(dynamic_copy, 0, n->dynamic.size);
    memset(dynamic_known, 0, n->dynamic.size);
    for (uint32_t i = 0; i < v->nchunks; i++) {
        memset(dynamic_known + i * v->chunk_bytes + v->data_at, 1, v->data_room);
    }
    n->elements_max = v->nchunks;
    n->key_room = v->key_room;
    n->chunk_bytes = v->chunk_bytes;
    n->data_at = v->data_at;
    n->zeros = (uintptr_t)code->zeros;
    find_vars(n);
}

void pair_copy_fake(struct naive *n)
{
    n->strsize = pair.strsize;
    n->align = fake.align;
    n->thread = fake.thread;
    n->now = fake.now;
    n->random = fake.random;
    n->lookups = fake.lookups;
    n->predicate_cache = fake.state.predicate_cache;
    n->speculations = 0;
    n->speculations_max = 2;
    n->dynamic_drops = 0;
    n->unknown = false;
    n->epid = pair.ecb.epid;
    n->id = pair.probe->id;
    memcpy(n->args, pair.args, sizeof(n->args));
}

/* The place of a variable, as an instruction that uses it was decoded; 0: none does. */
static uint64_t place_of(const struct dif_variable *v)
{
    const struct dtrace_code *code = &pair.consumer.code;
    bool global = v->scope == DIF_SCOPE_GLOBAL;
    uint8_t load = global ? DIF_OP_ldgs : DIF_OP_ldls, store = global ? DIF_OP_stgs : DIF_OP_stls;

    for (uint32_t n = 0; n < pair.program.nobjects; n++) {
        const struct dif_object *o = &pair.program.objects[n].object;
        for (uint32_t i = 0; i < o->ntext; i++) {
            uint32_t op = DIF_INSN_OP(o->text[i]), index = code->objects[n].text[i].index;
            uint8_t *area = global ? code->global_area : code->local_area;
            if ((op != load && op != store) || DIF_INSN_INDEX(o->text[i]) != v->id) {
                continue;
            }
            const struct dtrace_static *s = &(global ? code->globals : code->locals)[index];
            return (uintptr_t)area + (v->type.ref ? s->offset : index * 8);
        }
    }
    return 0;
}

static bool overlap(const struct n_var *a, const struct n_var *b)
{
    uint64_t size_a = a->ref ? a->size : 8, size_b = b->ref ? b->size : 8;

    return a->address < b->address + size_b && b->address < a->address + size_a;
}

/* No two variables may share a place. */
static void add_var(struct naive *n, const struct n_var *v)
{
    for (unsigned i = 0; i < n->nvars && v->address; i++) {
        if (n->vars[i].address && overlap(&n->vars[i], v)) {
            WRONG("variables %x and %x overlap", n->vars[i].id, v->id);
        }
    }
    n->vars[n->nvars++] = *v;
}

/* One that no instruction uses has a place all the same, and may be stored to through a pointer. */
static void add_unused(struct naive *n, const struct dtrace_static *all, uint32_t count,
                       uint8_t *area)
{
    for (uint32_t i = 0; i < count; i++) {
        struct n_var v = {.ref = true,
                          .scope = 9,
                          .string = all[i].string,
                          .size = all[i].size,
                          .address = (uintptr_t)area + all[i].offset};
        bool known = false;
        for (unsigned k = 0; k < n->nvars; k++) {
            known |= n->vars[k].address == v.address;
        }
        if (!known) {
            add_var(n, &v);
        }
    }
}

static void find_vars(struct naive *n)
{
    const struct dtrace_code *code = &pair.consumer.code;

    n->nvars = 0;
    for (uint32_t i = 0; i < pair.program.nobjects; i++) {
        const struct dif_object *o = &pair.program.objects[i].object;
        for (uint32_t k = 0; k < o->nvars; k++) {
            const struct dif_variable *d = &o->vars[k];
            bool string = d->type.kind == DIF_TYPE_STRING, known = false;
            struct n_var v = {.id = d->id,
                              .scope = d->scope,
                              .kind = d->kind,
                              .ref = d->type.ref,
                              .string = string,
                              .size = string && d->type.size == 0 ? pair.strsize : d->type.size};
            for (unsigned j = 0; j < n->nvars; j++) {
                known |= n->vars[j].id == v.id && n->vars[j].scope == v.scope;
            }
            if (d->id < DIF_VAR_OTHER_USER || known) {
                continue;
            }
            if (v.kind == DIF_KIND_SCALAR && v.scope != DIF_SCOPE_THREAD) {
                v.address = place_of(d);
            }
            add_var(n, &v);
        }
    }
    add_unused(n, code->globals, code->nglobals, code->global_area);
    add_unused(n, code->locals, code->nlocals, code->local_area);
}

/* Not so if two objects declare a variable in two ways, each right by itself, or a string is longer
 * than strings are. */
static bool agree(void)
{
    const struct dif_variable *all[P_OBJECTS * P_VARS];
    uint32_t sizes[P_OBJECTS * P_VARS], count = 0;

    for (uint32_t i = 0; i < pair.program.nobjects; i++) {
        const struct dif_object *o = &pair.program.objects[i].object;
        if (o->result.kind == DIF_TYPE_STRING && o->result.size > pair.strsize) {
            return false;
        }
        for (uint32_t k = 0; k < o->nvars; k++) {
            const struct dif_variable *v = &o->vars[k];
            bool string = v->type.kind == DIF_TYPE_STRING;
            uint32_t size = string && v->type.size == 0 ? pair.strsize : v->type.size;
            size = v->type.ref ? size : 8;
            if (v->id < DIF_VAR_OTHER_USER) {
                continue;
            }
            if (string && size > pair.strsize) {
                return false;
            }
            for (uint32_t j = 0; j < count; j++) {
                const struct dif_variable *old = all[j];
                if (old->id == v->id && old->scope == v->scope &&
                    (old->kind != v->kind || old->type.kind != v->type.kind ||
                     old->type.ref != v->type.ref || sizes[j] != size)) {
                    return false;
                }
            }
            sizes[count] = size;
            all[count++] = v;
        }
    }
    return true;
}

static bool should_load(void)
{
    for (uint32_t i = 0; i < pair.program.nobjects; i++) {
        if (n_valid(&pair.program.objects[i].object)) {
            return false;
        }
    }
    return agree();
}

static bool load(void)
{
    struct dtrace_image *image;

    pair.image.noptions = 0;
    pair.image.necbs = 0;
    pair.image.nactions = 0;
    p_option(&pair.image, DTRACE_OPT_DESTRUCTIVE, 1);
    image = p_image(&pair.image, &pair.program);
    return dtrace_image_check(image, pair.image.size, &pair.refusal) == 0 &&
           dtrace_code_load(&pair.consumer.code, image, pair.strsize, &pair.refusal) == 0;
}

bool pair_load(void)
{
    bool should = should_load(), does = load();
    struct dtrace_dynvars *v = &pair.consumer.dynvars;

    pair.wrong[0] = '\0';
    if (should != does) {
        WRONG(does ? "loaded what should be refused" : "refused: %s (object %u, instruction %u)",
              dtrace_refusal_text(&pair.refusal), pair.refusal.object, pair.refusal.offset);
    }
    if (!does) {
        return false;
    }
    *v = (struct dtrace_dynvars){0};
    assert(dtrace_dynvars_make(v, &pair.consumer.code, r_below(800), FAKE_CPUS));
    v->batch = 1; /* so that they are taken in order */
    struct dtrace_region dynamic = {(uintptr_t)v->chunks, (size_t)v->nchunks * v->chunk_bytes};
    dtrace_context_init(pair.context, &pair.consumer.code, &pair.consumer,
                        &pair.consumer.speculations, 0, dynamic);
    pair_copy_fake(&pair.naive);
    pair_copy(&pair.naive, (uintptr_t)scratch, pair.scratch_size);
    pair_clause();
    return should;
}

void pair_unload(void)
{
    n_forget(&pair.naive);
    dtrace_dynvars_free(&pair.consumer.dynvars);
    dtrace_code_unload(&pair.consumer.code);
}

void pair_clause(void)
{
    dtrace_context_clause(pair.context, &pair.ecb, pair.args);
    pair.context->strtok = 0;
    memset(scratch_known, 0, pair.scratch_size);
    n_firing(&pair.naive);
    n_clause(&pair.naive);
}

/* ---- comparing --------------------------------------------------------------------- */

static void compare_bytes(const char *what, const struct n_region *r)
{
    const uint8_t *real = (const uint8_t *)(uintptr_t)r->base;

    for (size_t i = 0; i < r->size && !pair.wrong[0]; i++) {
        if (real[i] != r->bytes[i] && (!r->known || r->known[i])) {
            WRONG("%s differs at %zu: %02x, naive %02x", what, i, real[i], r->bytes[i]);
        }
    }
}

void pair_compare_memory(void)
{
    struct naive *n = &pair.naive;
    const struct dtrace_dynvars *v = &pair.consumer.dynvars;

    if (memcmp((void *)(uintptr_t)n->block.base, n->block.bytes, n->block.size)) {
        compare_bytes("the block", &n->block);
    }
    for (unsigned i = 0; i < n->nmaps; i++) {
        compare_bytes("a map", &n->maps[i]);
    }
    compare_bytes("dynamic memory", &n->dynamic);
    if (n->fault == DIF_FAULT_NONE) {
        struct n_region used = n->scratch;
        used.size = n->scratch_used;
        compare_bytes("scratch", &used);
    }
    uint64_t drops = v->drops + v->rinsing_drops + v->dirty_drops;
    if (drops != n->dynamic_drops) {
        WRONG("%d dynamic drops, naive %d", (int)drops, (int)n->dynamic_drops);
    }
}

static void compare(uint64_t value, uint64_t naive)
{
    const struct naive *n = &pair.naive;
    const struct dtrace_context *c = pair.context;

    if (c->fault.kind != n->fault ||
        (n->fault != DIF_FAULT_NONE &&
         (c->fault.offset != n->fault_offset || c->fault.address != n->fault_address))) {
        WRONG("fault %d at %u (%llx), naive %d at %u (%llx)", c->fault.kind, c->fault.offset / 4,
              (unsigned long long)c->fault.address, n->fault, n->fault_offset / 4,
              (unsigned long long)n->fault_address);
    } else if (value != naive) {
        WRONG("value %llx, naive %llx", (unsigned long long)value, (unsigned long long)naive);
    } else if (n->fault == DIF_FAULT_NONE && c->scratch_used != n->scratch_used) {
        WRONG("scratch %zu, naive %zu", c->scratch_used, n->scratch_used);
    } else if (fake.state.predicate_cache != n->predicate_cache) {
        WRONG("predicate cache %u, naive %u", fake.state.predicate_cache, n->predicate_cache);
    } else {
        pair_compare_memory();
    }
    if (fake.toxic_read) {
        WRONG("toxic memory was read");
    }
}

/* Every program ends within the bound that is known beforehand. */
static void check_cost(const struct dif_object *o, uint64_t work)
{
    bool reads = false;
    struct dtrace_cost_limits limits = {.weights = &dtrace_weights_steps,
                                        .strsize = pair.strsize,
                                        .scratch = pair.scratch_size,
                                        .element = 8,
                                        .nspec = 2,
                                        .reads = &reads};

    for (uint32_t i = 0; i < pair.consumer.code.ndynamics; i++) {
        uint32_t size = pair.consumer.code.dynamics[i].size;
        limits.element = size > limits.element ? size : limits.element;
    }
    uint64_t steps = dtrace_cost_object(o, &limits);
    if ((double)work / (double)steps > pair.dearest) {
        pair.dearest = (double)work / (double)steps;
        pair.most_work = work;
        pair.most_steps = steps;
    }
    if (work / PAIR_WORK_STEP > steps) {
        WRONG("%llu blocks and bytes, for %llu steps", (unsigned long long)work,
              (unsigned long long)steps);
    }
}

bool pair_run(uint32_t object)
{
    struct naive *n = &pair.naive;
    struct dif_object o = pair.program.objects[object].object;
    const struct dtrace_object *real = &pair.consumer.code.objects[object];
    uint64_t before = counted;
    uint64_t value =
        r_chance(50) ? dtrace_run(pair.context, real) : dtrace_eval(pair.context, real);
    uint64_t work = counted - before;

    check_cost(&o, work);
    if (pair.wrong[0]) {
        return false;
    }
    o.strings = real->strings; /* where the machine has them */
    uint64_t naive = n_run(n, &o);
    if (n->unknown) {
        return false;
    }
    compare(value, naive);
    return pair.wrong[0] == '\0' && n->fault == DIF_FAULT_NONE;
}
