/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types from DWARF. Structs, unions and enums are made by elf_tagged.c.
 */
#include "host/d/elf_maker.h"
#include "host/d/type_name.h"

#include <dwarf.h>

enum { DEPTH_MAX = 200 };

/* ---- attributes --------------------------------------------------------------------------------
 */

bool d_elf_number(Dwarf_Die *die, unsigned name, uint64_t *value)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word;

    if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &word) != 0) {
        return false;
    }
    *value = word;
    return true;
}

uint64_t d_elf_number_or(Dwarf_Die *die, unsigned name, uint64_t otherwise)
{
    uint64_t value;

    return d_elf_number(die, name, &value) ? value : otherwise;
}

static bool die_of(Dwarf_Die *die, unsigned name, Dwarf_Die *other)
{
    Dwarf_Attribute attribute;

    return dwarf_attr_integrate(die, name, &attribute) && dwarf_formref_die(&attribute, other);
}

/* What a type refers to; none is void. */
const struct d_type *d_elf_target(struct d_elf_maker *m, Dwarf_Die *die)
{
    Dwarf_Die other;

    return die_of(die, DW_AT_type, &other) ? d_elf_make(m, &other) : m->d->basics[D_BASIC_VOID];
}

const char *d_elf_name_of(struct d_elf_maker *m, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);

    return name ? d_strdup(m->d, name) : NULL;
}

uint32_t d_elf_natural_align(uint64_t size)
{
    return size >= 8 ? 8 : size >= 4 ? 4 : size >= 2 ? 2 : 1;
}

/* ---- plain types -------------------------------------------------------------------------------
 */

/* "long unsigned int" is D's unsigned long, if it is as large. */
static const struct d_type *own_type(struct d_elf_maker *m, const char *name, uint64_t size,
                                     bool is_signed)
{
    const struct d_type *own = name ? d_type_lookup(m->d, "D", name) : NULL;
    bool same =
        own && own->size == size &&
        (own->kind == D_TYPE_FLOAT || (own->kind == D_TYPE_INTEGER && own->is_signed == is_signed));

    return same ? own : NULL;
}

static const struct d_type *make_base(struct d_elf_maker *m, Dwarf_Die *die)
{
    uint64_t encoding = d_elf_number_or(die, DW_AT_encoding, DW_ATE_signed);
    uint64_t size = d_elf_number_or(die, DW_AT_byte_size, 0);
    bool is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
    const char *name = d_elf_name_of(m, die);
    const struct d_type *own = own_type(m, name, size, is_signed);
    struct d_type t = {.kind = encoding == DW_ATE_float ? D_TYPE_FLOAT : D_TYPE_INTEGER,
                       .name = name,
                       .size = size,
                       .align = d_elf_natural_align(size),
                       .is_signed = is_signed};

    if (own) {
        return own;
    }
    if (t.kind == D_TYPE_INTEGER) {
        const struct d_type *named = name ? d_type_lookup(m->d, "D", name) : NULL;
        t.name = named ? named->name : name;
        t.bits = (uint32_t)size * 8;
        t.is_char = encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char;
        t.is_bool = encoding == DW_ATE_boolean;
    }
    return d_type_new(m->d, &t);
}

static const struct d_type *make_pointer(struct d_elf_maker *m, Dwarf_Die *die)
{
    struct d_type t = {.kind = D_TYPE_POINTER, .to = d_elf_target(m, die)};
    uint8_t bytes = 0;
    Dwarf_Die unit;

    dwarf_diecu(die, &unit, &bytes, NULL);
    t.size = d_elf_number_or(die, DW_AT_byte_size, bytes);
    t.align = d_elf_natural_align(t.size);
    return d_type_new(m->d, &t);
}

static const struct d_type *make_named(struct d_elf_maker *m, Dwarf_Die *die, enum d_type_kind kind)
{
    const struct d_type *to = d_elf_target(m, die);

    return d_type_new(
        m->d, &(struct d_type){.kind = kind,
                               .name = kind == D_TYPE_TYPEDEF ? d_elf_name_of(m, die) : NULL,
                               .size = to->size,
                               .align = to->align,
                               .to = to});
}

/* The elements of one dimension; 0: not said. */
static uint64_t count_of(Dwarf_Die *range)
{
    uint64_t bound, count;

    if (d_elf_number(range, DW_AT_count, &count)) {
        return count;
    }
    return d_elf_number(range, DW_AT_upper_bound, &bound) && bound != UINT64_MAX ? bound + 1 : 0;
}

/* The dimensions from `die` on, among its siblings. */
static const struct d_type *dimensions(struct d_elf_maker *m, Dwarf_Die *die,
                                       const struct d_type *of)
{
    Dwarf_Die next;
    uint64_t count = count_of(die);

    if (m->depth < DEPTH_MAX && dwarf_siblingof(die, &next) == 0 &&
        dwarf_tag(&next) == DW_TAG_subrange_type) {
        m->depth++;
        of = dimensions(m, &next, of);
        m->depth--;
    }
    if (of->size && count > INT64_MAX / of->size) {
        count = 0;
    }
    return d_type_array(m->d, of, count);
}

static const struct d_type *make_array(struct d_elf_maker *m, Dwarf_Die *die)
{
    const struct d_type *of = d_elf_target(m, die);
    Dwarf_Die range;

    if (dwarf_child(die, &range) != 0) {
        return d_type_array(m->d, of, 0);
    }
    return dimensions(m, &range, of);
}

static const struct d_type *make_function(struct d_elf_maker *m, Dwarf_Die *die)
{
    struct d_type t = {.kind = D_TYPE_FUNCTION, .align = 1, .to = d_elf_target(m, die)};
    struct d_array parameters = {0};
    Dwarf_Die child;

    if (dwarf_child(die, &child) == 0) {
        do {
            int tag = dwarf_tag(&child);
            t.varargs |= tag == DW_TAG_unspecified_parameters;
            if (tag == DW_TAG_formal_parameter) {
                d_room(m->d, &parameters, sizeof(struct d_member));
                ((struct d_member *)parameters.data)[parameters.n] = (struct d_member){
                    .name = d_elf_name_of(m, &child), .type = d_elf_target(m, &child)};
                parameters.n++;
            }
        } while (dwarf_siblingof(&child, &child) == 0);
    }
    t.members = parameters.data;
    t.nmembers = parameters.n;
    return d_type_new(m->d, &t);
}

/* ---- any type ----------------------------------------------------------------------------------
 */

static const struct d_type *make_new(struct d_elf_maker *m, Dwarf_Die *die)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_base_type:
        return make_base(m, die);
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return make_pointer(m, die);
    case DW_TAG_typedef:
        return make_named(m, die, D_TYPE_TYPEDEF);
    case DW_TAG_const_type:
        return make_named(m, die, D_TYPE_CONST);
    case DW_TAG_volatile_type:
        return make_named(m, die, D_TYPE_VOLATILE);
    case DW_TAG_restrict_type:
        return make_named(m, die, D_TYPE_RESTRICT);
    case DW_TAG_atomic_type:
        return d_elf_target(m, die);
    case DW_TAG_array_type:
        return make_array(m, die);
    case DW_TAG_subroutine_type:
    case DW_TAG_subprogram:
        return make_function(m, die);
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
        return d_elf_make_tagged(m, die);
    default:
        return m->d->basics[D_BASIC_VOID];
    }
}

static struct d_elf_type **bucket_of(struct d_elf_maker *m, Dwarf_Off die)
{
    if (!m->e->types) {
        m->e->types = d_alloc(m->d, D_ELF_BUCKETS * sizeof(struct d_elf_type *));
    }
    return &m->e->types[die / 2 % D_ELF_BUCKETS];
}

const struct d_type *d_elf_make(struct d_elf_maker *m, Dwarf_Die *die)
{
    Dwarf_Off offset = dwarf_dieoffset(die);
    struct d_elf_type **bucket = bucket_of(m, offset), *known = *bucket;

    while (known && known->die != offset) {
        known = known->next;
    }
    if (known) {
        return known->type;
    }
    if (m->depth > DEPTH_MAX) {
        return m->d->basics[D_BASIC_VOID];
    }
    m->depth++;
    const struct d_type *type = make_new(m, die);
    m->depth--;
    known = d_alloc(m->d, sizeof(*known));
    *known = (struct d_elf_type){offset, (struct d_type *)type, *bucket};
    *bucket = known;
    return type;
}

const struct d_type *d_elf_type_of(struct d_session *d, struct d_elf *e, Dwarf_Die *die)
{
    struct d_elf_maker m = {.d = d, .e = e};
    const struct d_type *type = d_elf_make(&m, die);

    d_elf_complete_all(&m);
    return type->kind == D_TYPE_FORWARD && type->completed ? type->completed : type;
}

const struct d_type *d_elf_type_of_object(struct d_session *d, struct d_elf *e, Dwarf_Die *die)
{
    struct d_elf_maker m = {.d = d, .e = e};
    const struct d_type *type =
        dwarf_tag(die) == DW_TAG_subprogram ? d_elf_make(&m, die) : d_elf_target(&m, die);

    d_elf_complete_all(&m);
    return type;
}
