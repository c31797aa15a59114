/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types from DWARF. Structs, unions and enums are made by elf_tagged.c.
 */
#include "host/dt/types/elf_maker.h"
#include "host/dt/types/type_name.h"

#include <dwarf.h>

enum { DEPTH_MAX = 200 };

/* ---- attributes -------------------------------------------------------------------- */

bool dt_elf_number(Dwarf_Die *die, unsigned name, uint64_t *value)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word;

    if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &word) != 0) {
        return false;
    }
    *value = word;
    return true;
}

uint64_t dt_elf_number_or(Dwarf_Die *die, unsigned name, uint64_t otherwise)
{
    uint64_t value;

    return dt_elf_number(die, name, &value) ? value : otherwise;
}

/* Returns the type to which a type refers; none is void. */
const struct dt_type *dt_elf_target(struct dt_elf_maker *m, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die other;
    bool any =
        dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, &other);

    return any ? dt_elf_make(m, &other) : m->d->basics[DT_BASIC_VOID];
}

const char *dt_elf_name_of(struct dt_elf_maker *m, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);

    return name ? dt_strdup(m->d, name) : NULL;
}

uint32_t dt_elf_natural_align(uint64_t size)
{
    return size >= 8 ? 8 : size >= 4 ? 4 : size >= 2 ? 2 : 1;
}

/* ---- plain types ------------------------------------------------------------------- */

/* "long unsigned int" is D's unsigned long, if it is as large. */
static const struct dt_type *own_type(struct dt_elf_maker *m, const char *name, uint64_t size,
                                      bool is_signed)
{
    const struct dt_type *own = name ? dt_type_lookup(m->d, "D", name) : NULL;
    bool same = own && own->size == size &&
                (own->kind == DT_TYPE_FLOAT ||
                 (own->kind == DT_TYPE_INTEGER && own->is_signed == is_signed));

    return same ? own : NULL;
}

static const struct dt_type *make_base(struct dt_elf_maker *m, Dwarf_Die *die)
{
    uint64_t encoding = dt_elf_number_or(die, DW_AT_encoding, DW_ATE_signed);
    uint64_t size = dt_elf_number_or(die, DW_AT_byte_size, 0);
    bool is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
    const char *name = dt_elf_name_of(m, die);
    const struct dt_type *own = own_type(m, name, size, is_signed);
    struct dt_type t = {.kind = encoding == DW_ATE_float ? DT_TYPE_FLOAT : DT_TYPE_INTEGER,
                        .name = name,
                        .size = size,
                        .align = dt_elf_natural_align(size),
                        .is_signed = is_signed};

    if (own) {
        return own;
    }
    if (t.kind == DT_TYPE_INTEGER) {
        const struct dt_type *named = name ? dt_type_lookup(m->d, "D", name) : NULL;
        t.name = named ? named->name : name;
        t.bits = (uint32_t)size * 8;
        t.is_char = encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char;
        t.is_bool = encoding == DW_ATE_boolean;
    }
    return dt_type_new(m->d, &t);
}

static const struct dt_type *make_named(struct dt_elf_maker *m, Dwarf_Die *die,
                                        enum dt_type_kind kind)
{
    const struct dt_type *to = dt_elf_target(m, die);

    return dt_type_new(
        m->d, &(struct dt_type){.kind = kind,
                                .name = kind == DT_TYPE_TYPEDEF ? dt_elf_name_of(m, die) : NULL,
                                .size = to->size,
                                .align = to->align,
                                .to = to});
}

/* The dimensions from `die` on, among its siblings. */
static const struct dt_type *dimensions(struct dt_elf_maker *m, Dwarf_Die *die,
                                        const struct dt_type *of)
{
    Dwarf_Die next;
    uint64_t count, bound; /* count: the elements of this dimension; 0: not said */

    if (!dt_elf_number(die, DW_AT_count, &count)) {
        bool bounded = dt_elf_number(die, DW_AT_upper_bound, &bound) && bound != UINT64_MAX;
        count = bounded ? bound + 1 : 0;
    }
    if (m->depth < DEPTH_MAX && dwarf_siblingof(die, &next) == 0 &&
        dwarf_tag(&next) == DW_TAG_subrange_type) {
        m->depth++;
        of = dimensions(m, &next, of);
        m->depth--;
    }
    if (of->size && count > INT64_MAX / of->size) {
        count = 0;
    }
    return dt_type_array(m->d, of, count);
}

static const struct dt_type *make_function(struct dt_elf_maker *m, Dwarf_Die *die)
{
    struct dt_type t = {.kind = DT_TYPE_FUNCTION, .align = 1, .to = dt_elf_target(m, die)};
    struct dt_array parameters = {0};
    Dwarf_Die child;

    if (dwarf_child(die, &child) == 0) {
        do {
            int tag = dwarf_tag(&child);
            t.varargs |= tag == DW_TAG_unspecified_parameters;
            if (tag == DW_TAG_formal_parameter) {
                dt_room(m->d, &parameters, sizeof(struct dt_member));
                ((struct dt_member *)parameters.data)[parameters.n] = (struct dt_member){
                    .name = dt_elf_name_of(m, &child), .type = dt_elf_target(m, &child)};
                parameters.n++;
            }
        } while (dwarf_siblingof(&child, &child) == 0);
    }
    t.members = parameters.data;
    t.nmembers = parameters.n;
    return dt_type_new(m->d, &t);
}

/* ---- any type ---------------------------------------------------------------------- */

static const struct dt_type *make_new(struct dt_elf_maker *m, Dwarf_Die *die)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_base_type:
        return make_base(m, die);
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type: {
        struct dt_type t = {.kind = DT_TYPE_POINTER, .to = dt_elf_target(m, die)};
        uint8_t bytes = 0;
        Dwarf_Die unit;
        dwarf_diecu(die, &unit, &bytes, NULL);
        t.size = dt_elf_number_or(die, DW_AT_byte_size, bytes);
        t.align = dt_elf_natural_align(t.size);
        return dt_type_new(m->d, &t);
    }
    case DW_TAG_typedef:
        return make_named(m, die, DT_TYPE_TYPEDEF);
    case DW_TAG_const_type:
        return make_named(m, die, DT_TYPE_CONST);
    case DW_TAG_volatile_type:
        return make_named(m, die, DT_TYPE_VOLATILE);
    case DW_TAG_restrict_type:
        return make_named(m, die, DT_TYPE_RESTRICT);
    case DW_TAG_atomic_type:
        return dt_elf_target(m, die);
    case DW_TAG_array_type: {
        const struct dt_type *of = dt_elf_target(m, die);
        Dwarf_Die range;
        return dwarf_child(die, &range) == 0 ? dimensions(m, &range, of)
                                             : dt_type_array(m->d, of, 0);
    }
    case DW_TAG_subroutine_type:
    case DW_TAG_subprogram:
        return make_function(m, die);
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
        return dt_elf_make_tagged(m, die);
    default:
        return m->d->basics[DT_BASIC_VOID];
    }
}

const struct dt_type *dt_elf_make(struct dt_elf_maker *m, Dwarf_Die *die)
{
    Dwarf_Off offset = dwarf_dieoffset(die);

    if (!m->e->types) {
        m->e->types = dt_alloc(m->d, DT_ELF_BUCKETS * sizeof(struct dt_elf_type *));
    }
    struct dt_elf_type **bucket = &m->e->types[offset / 2 % DT_ELF_BUCKETS], *known = *bucket;
    while (known && known->die != offset) {
        known = known->next;
    }
    if (known) {
        return known->type;
    }
    if (m->depth > DEPTH_MAX) {
        return m->d->basics[DT_BASIC_VOID];
    }
    m->depth++;
    const struct dt_type *type = make_new(m, die);
    m->depth--;
    known = dt_alloc(m->d, sizeof(*known));
    *known = (struct dt_elf_type){offset, (struct dt_type *)type, *bucket};
    *bucket = known;
    return type;
}

const struct dt_type *dt_elf_type_of(struct dt_session *d, struct dt_elf *e, Dwarf_Die *die)
{
    struct dt_elf_maker m = {.d = d, .e = e};
    const struct dt_type *type = dt_elf_make(&m, die);

    dt_elf_complete_all(&m);
    return type->kind == DT_TYPE_FORWARD && type->completed ? type->completed : type;
}

const struct dt_type *dt_elf_type_of_object(struct dt_session *d, struct dt_elf *e, Dwarf_Die *die)
{
    struct dt_elf_maker m = {.d = d, .e = e};
    const struct dt_type *type =
        dwarf_tag(die) == DW_TAG_subprogram ? dt_elf_make(&m, die) : dt_elf_target(&m, die);

    dt_elf_complete_all(&m);
    return type;
}
