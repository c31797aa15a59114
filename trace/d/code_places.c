/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program's variables: its objects' declarations brought together. Two that declare one variable
 * must agree. See code.h. Control context. Tested by test/d_machine/image_test.c.
 */
#include "trace/d/code.h"

#include "trace/d/image_check.h"
#include "trace/d/port.h"

static struct d_place *slot_of(const struct d_places *p, uint8_t scope, uint16_t id)
{
    uint32_t at = (id * 0x9e3779b1u >> 12) + scope;

    for (;; at++) { /* ends: half of the slots are free */
        struct d_place *slot = &p->slots[at & p->mask];
        if (!slot->variable || (slot->variable->id == id && slot->variable->scope == scope)) {
            return slot;
        }
    }
}

const struct d_place *d_places_find(const struct d_places *p, uint8_t scope, uint16_t id)
{
    return slot_of(p, scope, id);
}

static __attribute__((noinline)) uint16_t next_place(struct d_places *p,
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

static enum d_reason add(struct d_places *p, const struct dif_variable *v)
{
    struct d_place *slot = slot_of(p, v->scope, v->id);
    const struct dif_variable *old = slot->variable;
    bool string = v->type.kind == DIF_TYPE_STRING;
    uint32_t size = string && v->type.size == 0 ? p->strsize : v->type.size;

    size = v->type.ref ? size : 8;
    if (string && size > p->strsize) {
        return D_REASON_STRING_SIZE;
    }
    if (old) {
        return old->kind != v->kind || old->type.kind != v->type.kind ||
                       old->type.ref != v->type.ref || slot->size != size
                   ? D_REASON_TWO_WAYS
                   : D_REASON_NONE;
    }
    if (v->kind == DIF_KIND_SCALAR && size > DIF_STATIC_VAR_MAX) {
        return D_REASON_VARIABLE_SIZE;
    }
    if (p->ndynamics > UINT16_MAX) { /* their numbers have 16 bits */
        return D_REASON_VARIABLES;
    }
    *slot = (struct d_place){v, size, next_place(p, v)};
    return D_REASON_NONE;
}

static int add_all(struct d_places *p, const struct d_image *image, struct d_refusal *refusal)
{
    struct dif_object o;

    for (uint32_t n = 0; n < image->objects.count; n++) {
        d_image_object_at(image, n, &o);
        for (uint32_t v = 0; v < o.nvars; v++) {
            enum d_reason reason =
                o.vars[v].id < DIF_VAR_OTHER_USER ? D_REASON_NONE : add(p, &o.vars[v]);
            if (reason) {
                d_refuse(refusal, reason);
                refusal->object = n;
                return -D_EINVAL;
            }
        }
    }
    return 0;
}

int d_places_open(struct d_places *p, const struct d_image *image, uint32_t strsize,
                  struct d_refusal *refusal)
{
    uint32_t slots = 2;

    while (slots < image->variables.count * 2) {
        slots *= 2;
    }
    *p = (struct d_places){.mask = slots - 1, .strsize = strsize};
    p->slots = d_port_alloc(slots * sizeof(*p->slots));
    if (!p->slots) {
        return d_refuse(refusal, D_REASON_NO_SPACE);
    }
    int error = add_all(p, image, refusal);
    if (error) {
        d_places_close(p);
    }
    return error;
}

void d_places_close(struct d_places *p)
{
    d_port_free(p->slots, (p->mask + (size_t)1) * sizeof(*p->slots));
}

static void fill(const struct d_place *place, struct d_static *to)
{
    to->size = place->size;
    to->string = place->variable->type.kind == DIF_TYPE_STRING;
}

void d_places_fill(const struct d_places *p, struct d_static *globals, struct d_static *locals,
                   struct d_dynamic *dynamics)
{
    for (uint32_t i = 0; i <= p->mask; i++) {
        const struct d_place *place = &p->slots[i];
        const struct dif_variable *v = place->variable;
        if (!v) {
            continue;
        }
        bool array = v->kind == DIF_KIND_ARRAY;
        if (v->scope == DIF_SCOPE_THREAD || array) {
            dynamics[place->place] = (struct d_dynamic){
                v->id, v->scope, array, v->type.ref, v->type.kind == DIF_TYPE_STRING, place->size};
        } else if (v->type.ref) {
            fill(place, &(v->scope == DIF_SCOPE_GLOBAL ? globals : locals)[place->place]);
        }
    }
}

uint32_t d_places_lay(uint32_t words, struct d_static *all, uint32_t n)
{
    uint32_t at = words * 8;

    for (uint32_t i = 0; i < n; i++) {
        all[i].offset = at + 8;
        at += 8 + ((all[i].size + 7) & ~7u);
    }
    return at;
}
