/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loading: validates and decodes an image's objects, merges their declarations of variables, and
 * puts both in one block, so that probe context allocates nothing. Control context. Tested by
 * test/trace/dtrace/machine/image_test.c.
 */
#include "trace/dtrace/code.h"

#include "trace/assert.h"
#include "trace/dtrace/helper.h"
#include "trace/dtrace/port.h"

enum { AREA_MAX = 1 << 29 }; /* bytes of all CPUs' variables: offsets have 32 bits */

static int refuse_object(struct dtrace_refusal *refusal, enum dtrace_reason reason, uint32_t object,
                         uint32_t offset)
{
    int error = dtrace_refuse(refusal, reason);

    refusal->object = object;
    refusal->offset = offset;
    return error;
}

static int validate_all(const struct dtrace_image *image, uint32_t strsize,
                        struct dtrace_refusal *refusal)
{
    bool destructive = dtrace_image_option_value(image, DTRACE_OPT_DESTRUCTIVE, 0) != 0;

    for (uint32_t n = 0; n < image->objects.count; n++) {
        struct dif_object o;
        uint32_t offset;

        dtrace_window();
        dtrace_image_object_at(image, n, &o);
        enum dtrace_reason reason = dtrace_validate(&o, &offset);
        if (!reason && o.result.kind == DIF_TYPE_STRING && o.result.size > strsize) {
            reason = DTRACE_REASON_STRING_SIZE;
            offset = UINT32_MAX;
        }
        if (reason) {
            return refuse_object(refusal, reason, n, offset);
        }
        if (dtrace_decode_flags(&o) & DTRACE_OBJECT_DESTRUCTIVE && !destructive) {
            return refuse_object(refusal, DTRACE_REASON_DESTRUCTIVE, n, UINT32_MAX);
        }
    }
    return 0;
}

/* Checks helpers. Only objects that are not helpers are unrestricted. */
static int validate_helpers(const struct dtrace_image *image, uint32_t strsize,
                            struct dtrace_refusal *refusal)
{
    const struct dtrace_image_action *a =
        DTRACE_IMAGE_TABLE(image, actions, struct dtrace_image_action);
    int error = 0;

    for (uint32_t i = 0; DTRACE_PORT_HELPERS && i < image->actions.count && !error; i++) {
        if (dtrace_helper_kind(a[i].kind)) {
            error = dtrace_helpers_check(image, &a[i], strsize, refusal);
        }
    }
    return error;
}

/* ---- variables --------------------------------------------------------------------- */

struct dtrace_var_slot *dtrace_var_find(const struct dtrace_var_table *vars, uint8_t scope,
                                        uint16_t id)
{
    uint32_t at = (id * 0x9e3779b1u >> 12) + scope;

    for (;; at++) { /* terminates: half of the table is free */
        struct dtrace_var_slot *slot = &vars->slots[at & vars->mask];
        if (!slot->variable || (slot->variable->id == id && slot->variable->scope == scope)) {
            return slot;
        }
    }
}

/* Adds an object's declaration. Two declarations of one variable must agree. */
static enum dtrace_reason add_variable(struct dtrace_var_table *vars, const struct dif_variable *v)
{
    struct dtrace_var_slot *slot = dtrace_var_find(vars, v->scope, v->id);
    const struct dif_variable *old = slot->variable;
    bool string = v->type.kind == DIF_TYPE_STRING;
    uint32_t size = string && v->type.size == 0 ? vars->strsize : v->type.size;

    size = v->type.ref ? size : 8;
    if (string && size > vars->strsize) {
        return DTRACE_REASON_STRING_SIZE;
    }
    if (old) {
        return old->kind != v->kind || old->type.kind != v->type.kind ||
                       old->type.ref != v->type.ref || slot->size != size
                   ? DTRACE_REASON_TWO_WAYS
                   : DTRACE_REASON_NONE;
    }
    if (v->kind == DIF_KIND_SCALAR && size > DIF_STATIC_VAR_MAX) {
        return DTRACE_REASON_VARIABLE_SIZE;
    }
    if (vars->ndynamics > UINT16_MAX) { /* their numbers have 16 bits */
        return DTRACE_REASON_VARIABLES;
    }
    bool global = v->scope == DIF_SCOPE_GLOBAL;
    uint32_t *next;
    if (v->scope == DIF_SCOPE_THREAD || v->kind == DIF_KIND_ARRAY) {
        next = &vars->ndynamics;
    } else if (v->type.ref) {
        next = global ? &vars->nglobals : &vars->nlocals;
    } else {
        next = global ? &vars->global_values : &vars->local_values;
    }
    *slot = (struct dtrace_var_slot){v, size, (uint16_t)(*next)++};
    return DTRACE_REASON_NONE;
}

static void free_variables(struct dtrace_var_table *vars)
{
    dtrace_port_free(vars->slots, (vars->mask + (size_t)1) * sizeof(*vars->slots));
}

/* Merges the declarations of all objects into one table. Returns 0, -ENOMEM or -EINVAL; after an
 * error there is nothing to free. */
static int collect_variables(struct dtrace_var_table *vars, const struct dtrace_image *image,
                             uint32_t strsize, struct dtrace_refusal *refusal)
{
    uint32_t slots = 2;

    while (slots < image->variables.count * 2) {
        slots *= 2;
    }
    *vars = (struct dtrace_var_table){.mask = slots - 1, .strsize = strsize};
    vars->slots = dtrace_port_alloc(slots * sizeof(*vars->slots));
    if (!vars->slots) {
        return dtrace_refuse(refusal, DTRACE_REASON_NO_SPACE);
    }
    for (uint32_t n = 0; n < image->objects.count; n++) {
        struct dif_object o;

        dtrace_window();
        dtrace_image_object_at(image, n, &o);
        for (uint32_t v = 0; v < o.nvars; v++) {
            bool own = o.vars[v].id >= DIF_VAR_OTHER_USER;
            enum dtrace_reason reason = own ? add_variable(vars, &o.vars[v]) : DTRACE_REASON_NONE;
            if (reason) {
                free_variables(vars);
                return refuse_object(refusal, reason, n, UINT32_MAX);
            }
        }
    }
    return 0;
}

/* Fills the code's tables of variables. */
static uint32_t last_unique; /* [k] */

static void fill_variables(const struct dtrace_var_table *vars, struct dtrace_static *globals,
                           struct dtrace_static *locals, struct dtrace_dynamic *dynamics)
{
    for (uint32_t i = 0; i <= vars->mask; i++) {
        const struct dtrace_var_slot *slot = &vars->slots[i];
        const struct dif_variable *v = slot->variable;
        if (!v) {
            continue;
        }
        bool array = v->kind == DIF_KIND_ARRAY, string = v->type.kind == DIF_TYPE_STRING;
        if (v->scope == DIF_SCOPE_THREAD || array) {
            last_unique += last_unique == UINT32_MAX ? 2 : 1; /* 0 is none */
            dynamics[slot->index] = (struct dtrace_dynamic){
                v->id,  v->scope,   array,       v->type.ref,
                string, slot->size, last_unique, v->scope == DIF_SCOPE_THREAD && !array};
        } else if (v->type.ref) {
            struct dtrace_static *to = v->scope == DIF_SCOPE_GLOBAL ? globals : locals;
            to[slot->index].size = slot->size;
            to[slot->index].string = string;
        }
    }
}

/* Sets the offsets of these statics in an area that begins with `words` words. */
static void lay_out_statics(uint32_t words, struct dtrace_static *all, uint32_t n)
{
    uint32_t at = words * 8;

    for (uint32_t i = 0; i < n; i++) {
        all[i].offset = at + 8;
        at += 8 + ((all[i].size + 7) & ~7u);
    }
}

/* ---- the block --------------------------------------------------------------------- */

/* Divides a block into parts aligned to 8. Without a block it only measures. */
struct carver {
    uint8_t *block;
    size_t used;
};

/* No sum of parts overflows: an image is small, and each area has at most AREA_MAX. */
static void *code_carve(struct carver *k, size_t bytes)
{
    void *part = k->block ? k->block + k->used : NULL;

    k->used += (bytes + 7) & ~(size_t)7;
    return part;
}

/* The tables that a program's code consists of, except the objects and its variables' areas. */
struct code_tables {
    struct dtrace_static *globals, *locals;
    struct dtrace_dynamic *dynamics;
    struct dtrace_insn *text;
    uint64_t *ints;
    char *strings;
};

/* Sizes in bytes of the areas of variables. */
struct areas {
    uint32_t global, local, zeros;
    uint32_t datum; /* the largest datum of a dynamic variable */
};

/* Computes the sizes of the areas from the variables alone. An area saturates at AREA_MAX. */
static void measure_areas(const struct dtrace_var_table *vars, struct areas *areas)
{
    *areas = (struct areas){vars->global_values * 8, vars->local_values * 8, 0, 0};
    for (uint32_t i = 0; i <= vars->mask; i++) {
        const struct dif_variable *v = vars->slots[i].variable;
        uint32_t size = vars->slots[i].size;
        if (!v) {
            continue;
        }
        if (v->scope == DIF_SCOPE_THREAD || v->kind == DIF_KIND_ARRAY) {
            areas->datum = size > areas->datum ? size : areas->datum;
            areas->zeros = v->type.ref && size > areas->zeros ? size : areas->zeros;
        } else if (v->type.ref) {
            uint32_t *area = v->scope == DIF_SCOPE_GLOBAL ? &areas->global : &areas->local;
            uint32_t bytes = 8 + ((size + 7) & ~7u);
            *area = bytes < AREA_MAX - *area ? *area + bytes : AREA_MAX;
        }
    }
}

static void fill_tables(struct dtrace_code *code, const struct dtrace_image *image,
                        const struct dtrace_var_table *vars, const struct code_tables *to)
{
    const struct dtrace_image_object *from =
        DTRACE_IMAGE_TABLE(image, objects, struct dtrace_image_object);
    struct dtrace_insn *text = to->text;

    __builtin_memcpy(to->ints, DTRACE_IMAGE_TABLE(image, ints, uint64_t), image->ints.count * 8ull);
    __builtin_memcpy(to->strings, DTRACE_IMAGE_TABLE(image, strings, char), image->strings.count);
    fill_variables(vars, to->globals, to->locals, to->dynamics);
    lay_out_statics(vars->global_values, to->globals, vars->nglobals);
    lay_out_statics(vars->local_values, to->locals, vars->nlocals);
    code->globals = to->globals;
    code->locals = to->locals;
    code->dynamics = to->dynamics;
    code->nobjects = image->objects.count;
    code->nglobals = vars->nglobals;
    code->nlocals = vars->nlocals;
    code->ndynamics = vars->ndynamics;
    for (uint32_t n = 0; n < image->objects.count; n++) {
        struct dtrace_object *object = &code->objects[n];
        struct dif_object o;

        dtrace_image_object_at(image, n, &o);
        dtrace_window();
        dtrace_decode(&o, vars, text);
        *object = (struct dtrace_object){
            text,    to->ints + from[n].first_int, to->strings + from[n].first_string, o.result,
            o.ntext, dtrace_decode_flags(&o)};
        if (o.result.kind == DIF_TYPE_STRING && o.result.size == 0) {
            object->result.size = code->strsize;
        }
        uint32_t key_bytes = dtrace_decode_key_bytes(&o, code->strsize);
        code->key_bytes = key_bytes > code->key_bytes ? key_bytes : code->key_bytes;
        text += o.ntext;
    }
}

static int load_into_block(struct dtrace_code *code, const struct dtrace_image *image,
                           const struct dtrace_var_table *vars, struct dtrace_refusal *refusal)
{
    const struct dtrace_image_object *objects =
        DTRACE_IMAGE_TABLE(image, objects, struct dtrace_image_object);
    uint32_t nobjects = image->objects.count, ncpus = dtrace_port_cpu_count();
    struct carver k = {NULL, 0};
    struct code_tables to;
    struct areas areas;
    size_t ntext = 0, measured = 0;

    measure_areas(vars, &areas);
    if (areas.global >= AREA_MAX || areas.local >= AREA_MAX / ncpus) {
        return dtrace_refuse(refusal, DTRACE_REASON_NO_SPACE);
    }
    for (uint32_t n = 0; n < nobjects; n++) {
        ntext += objects[n].ntext;
    }
    for (unsigned pass = 0; pass < 2; pass++) { /* first measures, then carves */
        k.used = 8;                             /* so that it is never empty */
        code->objects = code_carve(&k, nobjects * sizeof(*code->objects));
        to.globals = code_carve(&k, vars->nglobals * sizeof(*to.globals));
        to.locals = code_carve(&k, vars->nlocals * sizeof(*to.locals));
        to.dynamics = code_carve(&k, vars->ndynamics * sizeof(*to.dynamics));
        to.text = code_carve(&k, ntext * sizeof(*to.text));
        to.ints = code_carve(&k, image->ints.count * sizeof(*to.ints));
        to.strings = code_carve(&k, image->strings.count);
        code->zeros = code_carve(&k, areas.zeros);
        code->global_area = code_carve(&k, areas.global);
        code->local_area = code_carve(&k, areas.local * ncpus);
        if (!k.block) {
            measured = k.used;
            k.block = dtrace_port_alloc(measured);
        }
        if (!k.block) {
            return dtrace_refuse(refusal, DTRACE_REASON_NO_SPACE);
        }
    }
    trace_assert(k.used == measured);
    code->block = k.block;
    code->block_bytes = measured;
    code->global_bytes = areas.global;
    code->local_bytes = areas.local;
    code->zero_bytes = areas.zeros;
    code->datum_bytes = areas.datum;
    fill_tables(code, image, vars, &to);
    return 0;
}

int dtrace_code_load(struct dtrace_code *code, const struct dtrace_image *image, uint32_t strsize,
                     struct dtrace_refusal *refusal)
{
    struct dtrace_var_table vars;
    int error = validate_all(image, strsize, refusal);

    *code = (struct dtrace_code){.strsize = strsize};
    dtrace_window();
    error = error ? error : validate_helpers(image, strsize, refusal);
    error = error ? error : collect_variables(&vars, image, strsize, refusal);
    if (error) {
        return error;
    }
    error = load_into_block(code, image, &vars, refusal);
    free_variables(&vars);
    return error;
}

void dtrace_code_unload(struct dtrace_code *code)
{
    dtrace_port_free(code->block, code->block_bytes);
    code->block = NULL;
}

void dtrace_context_init(struct dtrace_context *c, const struct dtrace_code *code,
                         struct dtrace_consumer *consumer, struct dtrace_speculations *speculations,
                         uint32_t cpu, struct dtrace_region dynamic)
{
    *c = (struct dtrace_context){
        .code = code,
        .consumer = consumer,
        .speculations = speculations,
        .globals = (uint64_t *)(void *)code->global_area,
        .locals = (uint64_t *)(void *)(code->local_area + cpu * code->local_bytes),
        .own = {{(uintptr_t)code->block, code->block_bytes}, dynamic},
        .cpu = cpu,
    };
}
