/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loading: validates and decodes an image's objects and places them in one block with the program's
 * variables, so that probe context allocates nothing. Control context. Tested by
 * test/d_machine/image_test.c.
 */
#include "trace/dtrace/code.h"

#include "trace/dtrace/image_check.h"
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

/* Divides a block into parts aligned to 8. Without a block it only measures. */
struct carver {
    uint8_t *block;
    size_t used;
};

/* No sum of parts overflows: an image is small, and each area at most AREA_MAX. */
static void *code_carve(struct carver *k, size_t bytes)
{
    void *part = k->block ? k->block + k->used : NULL;

    k->used += (bytes + 7) & ~(size_t)7;
    return part;
}

/* The parts of the code, except its variables' areas. */
struct parts {
    struct dtrace_static *globals, *locals;
    struct dtrace_dynamic *dynamics;
    struct dtrace_insn *text;
    uint64_t *ints;
    char *strings;
};

static void carve_tables(struct carver *k, const struct dtrace_image *image,
                         const struct dtrace_places *p, struct dtrace_code *code,
                         struct parts *parts)
{
    const struct dtrace_image_object *o =
        DTRACE_IMAGE_TABLE(image, objects, struct dtrace_image_object);
    size_t ntext = 0;

    for (uint32_t n = 0; n < image->objects.count; n++) {
        ntext += o[n].ntext;
    }
    code->objects = code_carve(k, image->objects.count * sizeof(*code->objects));
    parts->globals = code_carve(k, p->nglobals * sizeof(*parts->globals));
    parts->locals = code_carve(k, p->nlocals * sizeof(*parts->locals));
    parts->dynamics = code_carve(k, p->ndynamics * sizeof(*parts->dynamics));
    parts->text = code_carve(k, ntext * sizeof(*parts->text));
    parts->ints = code_carve(k, image->ints.count * sizeof(*parts->ints));
    parts->strings = code_carve(k, image->strings.count);
}

struct areas {
    uint32_t global, local, zeros, datum; /* bytes; of the largest datum */
};

/* Saturates at the largest allowed area. */
static void code_widen(uint32_t *area, uint32_t bytes)
{
    *area = bytes < AREA_MAX - *area ? *area + bytes : AREA_MAX;
}

/* Computed from the locations alone. */
static __attribute__((noinline)) void measure_areas(const struct dtrace_places *p, struct areas *a)
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
            code_widen(v->scope == DIF_SCOPE_GLOBAL ? &a->global : &a->local,
                       8 + ((size + 7) & ~7u));
        }
    }
}

static void fill_objects(const struct dtrace_image *image, const struct dtrace_places *p,
                         struct dtrace_code *code, const struct parts *parts)
{
    const struct dtrace_image_object *from =
        DTRACE_IMAGE_TABLE(image, objects, struct dtrace_image_object);
    struct dtrace_insn *text = parts->text;

    for (uint32_t n = 0; n < image->objects.count; n++) {
        struct dtrace_object *to = &code->objects[n];
        struct dif_object o;
        uint32_t key_bytes;

        dtrace_image_object_at(image, n, &o);
        dtrace_decode(&o, p, text);
        *to = (struct dtrace_object){text,
                                     parts->ints + from[n].first_int,
                                     parts->strings + from[n].first_string,
                                     o.result,
                                     o.ntext,
                                     dtrace_decode_flags(&o)};
        if (o.result.kind == DIF_TYPE_STRING && o.result.size == 0) {
            to->result.size = code->strsize;
        }
        key_bytes = dtrace_decode_key_bytes(&o, code->strsize);
        code->key_bytes = key_bytes > code->key_bytes ? key_bytes : code->key_bytes;
        text += o.ntext;
    }
}

static void fill_tables(const struct dtrace_image *image, const struct dtrace_places *p,
                        struct dtrace_code *code, const struct parts *parts)
{
    __builtin_memcpy(parts->ints, DTRACE_IMAGE_TABLE(image, ints, uint64_t),
                     image->ints.count * 8ull);
    __builtin_memcpy(parts->strings, DTRACE_IMAGE_TABLE(image, strings, char),
                     image->strings.count);
    dtrace_places_fill(p, parts->globals, parts->locals, parts->dynamics);
    dtrace_places_lay(p->global_values, parts->globals, p->nglobals);
    dtrace_places_lay(p->local_values, parts->locals, p->nlocals);
    code->globals = parts->globals;
    code->locals = parts->locals;
    code->dynamics = parts->dynamics;
    code->nobjects = image->objects.count;
    code->nglobals = p->nglobals;
    code->nlocals = p->nlocals;
    code->ndynamics = p->ndynamics;
    fill_objects(image, p, code, parts);
}

static int load_into_block(struct dtrace_code *code, const struct dtrace_image *image,
                           const struct dtrace_places *p, struct dtrace_refusal *refusal)
{
    uint32_t ncpus = dtrace_port_cpu_count();
    struct carver k = {NULL, 0};
    struct parts parts;
    struct areas a;

    measure_areas(p, &a);
    if (a.global >= AREA_MAX || a.local >= AREA_MAX / ncpus) {
        return dtrace_refuse(refusal, DTRACE_REASON_NO_SPACE);
    }
    for (unsigned pass = 0; pass < 2; pass++) { /* measures, then carves */
        k.used = 8;                             /* so that it is never empty */
        carve_tables(&k, image, p, code, &parts);
        code->zeros = code_carve(&k, a.zeros);
        code->global_area = code_carve(&k, a.global);
        code->local_area = code_carve(&k, a.local * ncpus);
        if (!k.block) {
            k.block = dtrace_port_alloc(k.used);
        }
        if (!k.block) {
            return dtrace_refuse(refusal, DTRACE_REASON_NO_SPACE);
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

int dtrace_code_load(struct dtrace_code *code, const struct dtrace_image *image, uint32_t strsize,
                     struct dtrace_refusal *refusal)
{
    struct dtrace_places places;
    int error = validate_all(image, strsize, refusal);

    *code = (struct dtrace_code){.strsize = strsize};
    error = error ? error : dtrace_places_open(&places, image, strsize, refusal);
    if (error) {
        return error;
    }
    error = load_into_block(code, image, &places, refusal);
    dtrace_places_close(&places);
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
