/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loading: an image's objects validated, decoded and put into one block with the program's
 * variables, so that a firing allocates nothing. Control context. Tested by
 * test/d_machine/image_test.c.
 */
#include "trace/d/code.h"

#include "trace/d/image_check.h"
#include "trace/d/port.h"

enum { AREA_MAX = 1 << 29 }; /* bytes of all CPUs' variables: offsets have 32 bits */

static int refuse_object(struct d_refusal *refusal, enum d_reason reason, uint32_t object,
                         uint32_t offset)
{
    int error = d_refuse(refusal, reason);

    refusal->object = object;
    refusal->offset = offset;
    return error;
}

static int validate_all(const struct d_image *image, uint32_t strsize, struct d_refusal *refusal)
{
    bool destructive = d_image_option_value(image, D_OPT_DESTRUCTIVE, 0) != 0;

    for (uint32_t n = 0; n < image->objects.count; n++) {
        struct dif_object o;
        uint32_t offset;

        d_image_object_at(image, n, &o);
        enum d_reason reason = d_validate(&o, &offset);
        if (!reason && o.result.kind == DIF_TYPE_STRING && o.result.size > strsize) {
            reason = D_REASON_STRING_SIZE;
            offset = UINT32_MAX;
        }
        if (reason) {
            return refuse_object(refusal, reason, n, offset);
        }
        if (d_decode_flags(&o) & D_OBJECT_DESTRUCTIVE && !destructive) {
            return refuse_object(refusal, D_REASON_DESTRUCTIVE, n, UINT32_MAX);
        }
    }
    return 0;
}

/* Cuts a block into parts aligned to 8. Without a block it measures. */
struct carver {
    uint8_t *block;
    size_t used;
};

/* No sum of parts overflows: an image is small, and each area at most AREA_MAX. */
static void *carve(struct carver *k, size_t bytes)
{
    void *part = k->block ? k->block + k->used : NULL;

    k->used += (bytes + 7) & ~(size_t)7;
    return part;
}

/* What the code has, beside its variables' areas. */
struct parts {
    struct d_static *globals, *locals;
    struct d_dynamic *dynamics;
    struct d_insn *text;
    uint64_t *ints;
    char *strings;
};

static void carve_tables(struct carver *k, const struct d_image *image, const struct d_places *p,
                         struct d_code *code, struct parts *parts)
{
    const struct d_image_object *o = D_IMAGE_TABLE(image, objects, struct d_image_object);
    size_t ntext = 0;

    for (uint32_t n = 0; n < image->objects.count; n++) {
        ntext += o[n].ntext;
    }
    code->objects = carve(k, image->objects.count * sizeof(*code->objects));
    parts->globals = carve(k, p->nglobals * sizeof(*parts->globals));
    parts->locals = carve(k, p->nlocals * sizeof(*parts->locals));
    parts->dynamics = carve(k, p->ndynamics * sizeof(*parts->dynamics));
    parts->text = carve(k, ntext * sizeof(*parts->text));
    parts->ints = carve(k, image->ints.count * sizeof(*parts->ints));
    parts->strings = carve(k, image->strings.count);
}

struct areas {
    uint32_t global, local, zeros, datum; /* bytes; of the largest datum */
};

/* Stays at the most that an area may be. */
static void widen(uint32_t *area, uint32_t bytes)
{
    *area = bytes < AREA_MAX - *area ? *area + bytes : AREA_MAX;
}

/* From the places alone. */
static __attribute__((noinline)) void measure_areas(const struct d_places *p, struct areas *a)
{
    *a = (struct areas){p->global_values * 8, p->local_values * 8, 0, 0};
    for (uint32_t i = 0; i <= p->mask; i++) {
        const struct dif_variable *v = p->slots[i].variable;
        uint32_t size = p->slots[i].size;
        if (!v) {
            continue;
        }
        if (v->scope == DIF_SCOPE_THREAD || v->kind == DIF_KIND_ARRAY) {
            a->datum = size > a->datum ? size : a->datum;
            a->zeros = v->type.ref && size > a->zeros ? size : a->zeros;
        } else if (v->type.ref) {
            widen(v->scope == DIF_SCOPE_GLOBAL ? &a->global : &a->local, 8 + ((size + 7) & ~7u));
        }
    }
}

static void fill_objects(const struct d_image *image, const struct d_places *p, struct d_code *code,
                         const struct parts *parts)
{
    const struct d_image_object *from = D_IMAGE_TABLE(image, objects, struct d_image_object);
    struct d_insn *text = parts->text;

    for (uint32_t n = 0; n < image->objects.count; n++) {
        struct d_object *to = &code->objects[n];
        struct dif_object o;
        uint32_t key_bytes;

        d_image_object_at(image, n, &o);
        d_decode(&o, p, text);
        *to = (struct d_object){text,
                                parts->ints + from[n].first_int,
                                parts->strings + from[n].first_string,
                                o.result,
                                o.ntext,
                                d_decode_flags(&o)};
        if (o.result.kind == DIF_TYPE_STRING && o.result.size == 0) {
            to->result.size = code->strsize;
        }
        key_bytes = d_decode_key_bytes(&o, code->strsize);
        code->key_bytes = key_bytes > code->key_bytes ? key_bytes : code->key_bytes;
        text += o.ntext;
    }
}

static void fill_tables(const struct d_image *image, const struct d_places *p, struct d_code *code,
                        const struct parts *parts)
{
    __builtin_memcpy(parts->ints, D_IMAGE_TABLE(image, ints, uint64_t), image->ints.count * 8ull);
    __builtin_memcpy(parts->strings, D_IMAGE_TABLE(image, strings, char), image->strings.count);
    d_places_fill(p, parts->globals, parts->locals, parts->dynamics);
    d_places_lay(p->global_values, parts->globals, p->nglobals);
    d_places_lay(p->local_values, parts->locals, p->nlocals);
    code->globals = parts->globals;
    code->locals = parts->locals;
    code->dynamics = parts->dynamics;
    code->nobjects = image->objects.count;
    code->nglobals = p->nglobals;
    code->nlocals = p->nlocals;
    code->ndynamics = p->ndynamics;
    fill_objects(image, p, code, parts);
}

static int load_into_block(struct d_code *code, const struct d_image *image,
                           const struct d_places *p, struct d_refusal *refusal)
{
    uint32_t ncpus = d_port_cpu_count();
    struct carver k = {NULL, 0};
    struct parts parts;
    struct areas a;

    measure_areas(p, &a);
    if (a.global >= AREA_MAX || a.local >= AREA_MAX / ncpus) {
        return d_refuse(refusal, D_REASON_NO_SPACE);
    }
    for (unsigned pass = 0; pass < 2; pass++) { /* measures, then carves */
        k.used = 8;                             /* so that it is never empty */
        carve_tables(&k, image, p, code, &parts);
        code->zeros = carve(&k, a.zeros);
        code->global_area = carve(&k, a.global);
        code->local_area = carve(&k, a.local * ncpus);
        if (!k.block) {
            k.block = d_port_alloc(k.used);
        }
        if (!k.block) {
            return d_refuse(refusal, D_REASON_NO_SPACE);
        }
    }
    code->block = k.block;
    code->block_bytes = k.used;
    code->global_bytes = a.global;
    code->local_bytes = a.local;
    code->zero_bytes = a.zeros;
    code->datum_bytes = a.datum;
    fill_tables(image, p, code, &parts);
    return 0;
}

int d_code_load(struct d_code *code, const struct d_image *image, uint32_t strsize,
                struct d_refusal *refusal)
{
    struct d_places places;
    int error = validate_all(image, strsize, refusal);

    *code = (struct d_code){.strsize = strsize};
    error = error ? error : d_places_open(&places, image, strsize, refusal);
    if (error) {
        return error;
    }
    error = load_into_block(code, image, &places, refusal);
    d_places_close(&places);
    return error;
}

void d_code_unload(struct d_code *code)
{
    d_port_free(code->block, code->block_bytes);
    code->block = NULL;
}

void d_context_init(struct d_context *c, const struct d_code *code, struct d_consumer *consumer,
                    struct d_speculations *speculations, uint32_t cpu, struct d_region dynamic)
{
    *c = (struct d_context){
        .code = code,
        .consumer = consumer,
        .speculations = speculations,
        .globals = (uint64_t *)(void *)code->global_area,
        .locals = (uint64_t *)(void *)(code->local_area + cpu * code->local_bytes),
        .own = {{(uintptr_t)code->block, code->block_bytes}, dynamic},
        .cpu = cpu,
    };
}
