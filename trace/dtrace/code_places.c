/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program's variables, merged from its objects' declarations. Two declarations of one variable
 * must agree. See code.h. Control context. Tested by test/d_machine/image_test.c.
 */
#include "trace/dtrace/code.h"

#include "trace/dtrace/image_check.h"
#include "trace/dtrace/port.h"

static struct dtrace_place *slot_of(const struct dtrace_places *p, uint8_t scope, uint16_t id)
{
    uint32_t at = (id * 0x9e3779b1u >> 12) + scope;

    for (;; at++) { /* terminates: half of the table is free */
        struct dtrace_place *slot = &p->slots[at & p->mask];
        if (!slot->variable || (slot->variable->id == id && slot->variable->scope == scope)) {
            return slot;
        }
    }
}

const struct dtrace_place *dtrace_places_find(const struct dtrace_places *p, uint8_t scope,
                                              uint16_t id)
{
    return slot_of(p, scope, id);
}

static __attribute__((noinline)) uint16_t next_place(struct dtrace_places *p,
                                                     const struct dif_variable *v)
{
    bool global = v->scope == DIF_SCOPE_GLOBAL;

    if (v->scope == DIF_SCOPE_THREAD || v->kind == DIF_KIND_ARRAY) {
        return (uint16_t)p->ndynamics++;
    }
    if (v->type.ref) {
        return (uint16_t)(global ? p->nglobals++ : p->nlocals++);
    }
    return (uint16_t)(global ? p->global_values++ : p->local_values++);
}

static enum dtrace_reason code_places_add(struct dtrace_places *p, const struct dif_variable *v)
{
    struct dtrace_place *slot = slot_of(p, v->scope, v->id);
    const struct dif_variable *old = slot->variable;
    bool string = v->type.kind == DIF_TYPE_STRING;
    uint32_t size = string && v->type.size == 0 ? p->strsize : v->type.size;

    size = v->type.ref ? size : 8;
    if (string && size > p->strsize) {
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
    if (p->ndynamics > UINT16_MAX) { /* their numbers have 16 bits */
        return DTRACE_REASON_VARIABLES;
    }
    *slot = (struct dtrace_place){v, size, next_place(p, v)};
    return DTRACE_REASON_NONE;
}

static int add_all(struct dtrace_places *p, const struct dtrace_image *image,
                   struct dtrace_refusal *refusal)
{
    struct dif_object o;

    for (uint32_t n = 0; n < image->objects.count; n++) {
        dtrace_image_object_at(image, n, &o);
        for (uint32_t v = 0; v < o.nvars; v++) {
            enum dtrace_reason reason = o.vars[v].id < DIF_VAR_OTHER_USER
                                            ? DTRACE_REASON_NONE
                                            : code_places_add(p, &o.vars[v]);
            if (reason) {
                dtrace_refuse(refusal, reason);
                refusal->object = n;
                return -DTRACE_EINVAL;
            }
        }
    }
    return 0;
}

int dtrace_places_open(struct dtrace_places *p, const struct dtrace_image *image, uint32_t strsize,
                       struct dtrace_refusal *refusal)
{
    uint32_t slots = 2;

    while (slots < image->variables.count * 2) {
        slots *= 2;
    }
    *p = (struct dtrace_places){.mask = slots - 1, .strsize = strsize};
    p->slots = dtrace_port_alloc(slots * sizeof(*p->slots));
    if (!p->slots) {
        return dtrace_refuse(refusal, DTRACE_REASON_NO_SPACE);
    }
    int error = add_all(p, image, refusal);
    if (error) {
        dtrace_places_close(p);
    }
    return error;
}

void dtrace_places_close(struct dtrace_places *p)
{
    dtrace_port_free(p->slots, (p->mask + (size_t)1) * sizeof(*p->slots));
}

static void code_places_fill(const struct dtrace_place *place, struct dtrace_static *to)
{
    to->size = place->size;
    to->string = place->variable->type.kind == DIF_TYPE_STRING;
}

void dtrace_places_fill(const struct dtrace_places *p, struct dtrace_static *globals,
                        struct dtrace_static *locals, struct dtrace_dynamic *dynamics)
{
    for (uint32_t i = 0; i <= p->mask; i++) {
        const struct dtrace_place *place = &p->slots[i];
        const struct dif_variable *v = place->variable;
        if (!v) {
            continue;
        }
        bool array = v->kind == DIF_KIND_ARRAY;
        if (v->scope == DIF_SCOPE_THREAD || array) {
            dynamics[place->place] = (struct dtrace_dynamic){
                v->id, v->scope, array, v->type.ref, v->type.kind == DIF_TYPE_STRING, place->size};
        } else if (v->type.ref) {
            code_places_fill(place,
                             &(v->scope == DIF_SCOPE_GLOBAL ? globals : locals)[place->place]);
        }
    }
}

uint32_t dtrace_places_lay(uint32_t words, struct dtrace_static *all, uint32_t n)
{
    uint32_t at = words * 8;

    for (uint32_t i = 0; i < n; i++) {
        all[i].offset = at + 8;
        at += 8 + ((all[i].size + 7) & ~7u);
    }
    return at;
}
