/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types from DWARF, made when they are asked for. Structs, unions and enums are first made
 * incomplete and put on a list, so that they may refer to each other in circles; the list is worked
 * off before anyone sees them. Damaged DWARF gives fewer types, never a wrong access. Tested by
 * test/host/dt/elf_test.c, layouts_test.c.
 */
#include "host/dt/types/elf_file.h"
#include "host/dt/types/type_name.h"

#include <dwarf.h>

enum { DEPTH_MAX = 200 };

struct maker {
    struct dt_session *d;
    struct dt_elf *e;
    unsigned depth;
};

static const struct dt_type *elf_types_make(struct maker *m, Dwarf_Die *die);

/* ---- attributes -------------------------------------------------------------------- */

/* An attribute that is a number. False: the DIE has none. */
static bool elf_types_number_of(Dwarf_Die *die, unsigned name, uint64_t *value)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word;

    if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &word) != 0) {
        return false;
    }
    *value = word;
    return true;
}

static uint64_t number_or(Dwarf_Die *die, unsigned name, uint64_t otherwise)
{
    uint64_t value;

    return elf_types_number_of(die, name, &value) ? value : otherwise;
}

/* Returns the type to which a type refers; void if it names none. */
static const struct dt_type *elf_types_target(struct maker *m, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die other;
    bool any =
        dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, &other);

    return any ? elf_types_make(m, &other) : m->d->basics[DT_BASIC_VOID];
}

/* NULL: it has no name. */
static const char *elf_types_name_of(struct maker *m, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);

    return name ? dt_strdup(m->d, name) : NULL;
}

static uint32_t natural_align(uint64_t size)
{
    return size >= 8 ? 8 : size >= 4 ? 4 : size >= 2 ? 2 : 1;
}

/* ---- plain types ------------------------------------------------------------------- */

/* "long unsigned int" is D's unsigned long, if it is as large. */
static const struct dt_type *make_base(struct maker *m, Dwarf_Die *die)
{
    uint64_t encoding = number_or(die, DW_AT_encoding, DW_ATE_signed);
    uint64_t size = number_or(die, DW_AT_byte_size, 0);
    bool is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
    const char *name = elf_types_name_of(m, die);
    const struct dt_type *own = name ? dt_type_lookup(m->d, "D", name) : NULL;
    struct dt_type t = {.kind = encoding == DW_ATE_float ? DT_TYPE_FLOAT : DT_TYPE_INTEGER,
                        .name = name,
                        .size = size,
                        .align = natural_align(size),
                        .is_signed = is_signed};

    if (own && own->size == size &&
        (own->kind == DT_TYPE_FLOAT ||
         (own->kind == DT_TYPE_INTEGER && own->is_signed == is_signed))) {
        return own;
    }
    if (t.kind == DT_TYPE_INTEGER) {
        t.name = own ? own->name : name;
        t.bits = (uint32_t)size * 8;
        t.is_char = encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char;
        t.is_bool = encoding == DW_ATE_boolean;
    }
    return dt_type_new(m->d, &t);
}

static const struct dt_type *make_named(struct maker *m, Dwarf_Die *die, enum dt_type_kind kind)
{
    const struct dt_type *to = elf_types_target(m, die);

    return dt_type_new(
        m->d, &(struct dt_type){.kind = kind,
                                .name = kind == DT_TYPE_TYPEDEF ? elf_types_name_of(m, die) : NULL,
                                .size = to->size,
                                .align = to->align,
                                .to = to});
}

/* The dimensions from `die` on, among its siblings. */
static const struct dt_type *elf_types_add_dimensions(struct maker *m, Dwarf_Die *die,
                                                      const struct dt_type *of)
{
    Dwarf_Die next;
    uint64_t count, bound; /* count: the elements of this dimension; 0: not said */

    if (!elf_types_number_of(die, DW_AT_count, &count)) {
        bool bounded = elf_types_number_of(die, DW_AT_upper_bound, &bound) && bound != UINT64_MAX;
        count = bounded ? bound + 1 : 0;
    }
    if (m->depth < DEPTH_MAX && dwarf_siblingof(die, &next) == 0 &&
        dwarf_tag(&next) == DW_TAG_subrange_type) {
        m->depth++;
        of = elf_types_add_dimensions(m, &next, of);
        m->depth--;
    }
    if (of->size && count > INT64_MAX / of->size) {
        count = 0;
    }
    return dt_type_array(m->d, of, count);
}

static const struct dt_type *make_function(struct maker *m, Dwarf_Die *die)
{
    struct dt_type t = {.kind = DT_TYPE_FUNCTION, .align = 1, .to = elf_types_target(m, die)};
    struct dt_array parameters = {0};
    Dwarf_Die child;

    if (dwarf_child(die, &child) == 0) {
        do {
            int tag = dwarf_tag(&child);
            t.varargs |= tag == DW_TAG_unspecified_parameters;
            if (tag == DW_TAG_formal_parameter) {
                dt_room(m->d, &parameters, sizeof(struct dt_member));
                ((struct dt_member *)parameters.data)[parameters.n] = (struct dt_member){
                    .name = elf_types_name_of(m, &child), .type = elf_types_target(m, &child)};
                parameters.n++;
            }
        } while (dwarf_siblingof(&child, &child) == 0);
    }
    t.members = parameters.data;
    t.nmembers = parameters.n;
    return dt_type_new(m->d, &t);
}

/* ---- structs, unions and enums ------------------------------------------------------ */

enum { COUNT_MAX = 1 << 20 };

static enum dt_type_kind tag_kind(int tag)
{
    return tag == DW_TAG_union_type         ? DT_TYPE_UNION
           : tag == DW_TAG_enumeration_type ? DT_TYPE_ENUM
                                            : DT_TYPE_STRUCT;
}

/* Incomplete at first; what is only declared here may be defined elsewhere in the ELF. */
static struct dt_type *make_tagged(struct maker *m, Dwarf_Die *die)
{
    struct dt_type *t = dt_alloc(m->d, sizeof(*t));
    struct dt_elf_todo *todo;
    Dwarf_Die definition = *die;

    *t = (struct dt_type){.kind = DT_TYPE_FORWARD,
                          .tag_kind = tag_kind(dwarf_tag(die)),
                          .name = elf_types_name_of(m, die),
                          .align = 1};
    if (dwarf_hasattr(die, DW_AT_declaration)) {
        bool found = t->name && dt_elf_find(m->d, m->e, (int)t->tag_kind, t->name, &definition);
        if (!found || dwarf_hasattr(&definition, DW_AT_declaration)) {
            return t;
        }
    }
    t->size = number_or(&definition, DW_AT_byte_size, 0);
    todo = dt_alloc(m->d, sizeof(*todo));
    *todo = (struct dt_elf_todo){dwarf_dieoffset(&definition), t, m->e->todo};
    m->e->todo = todo;
    return t;
}

static uint64_t byte_of_member(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t n;
    uint64_t value;

    if (elf_types_number_of(die, DW_AT_data_member_location, &value)) {
        return value;
    }
    bool expression = dwarf_attr_integrate(die, DW_AT_data_member_location, &attribute) &&
                      dwarf_getlocation(&attribute, &ops, &n) == 0 && n == 1 &&
                      ops[0].atom == DW_OP_plus_uconst;
    return expression ? ops[0].number : 0;
}

/* Returns the bit at which a member begins. Old DWARF counts a bit-field from the other end of its
 * unit. */
static uint64_t bit_of_member(Dwarf_Die *die, uint64_t bits, uint64_t unit)
{
    uint64_t bit;

    if (elf_types_number_of(die, DW_AT_data_bit_offset, &bit)) {
        return bit;
    }
    uint64_t byte = byte_of_member(die);
    if (bits && elf_types_number_of(die, DW_AT_bit_offset, &bit)) {
        return byte * 8 + number_or(die, DW_AT_byte_size, unit) * 8 - bit - bits;
    }
    return byte * 8;
}

static void add_member(struct maker *m, struct dt_array *members, Dwarf_Die *die, uint64_t size)
{
    const struct dt_type *type = elf_types_target(m, die);
    uint64_t bits = number_or(die, DW_AT_bit_size, 0);
    struct dt_member member = {.name = elf_types_name_of(m, die), .type = type};

    member.bit_offset = bit_of_member(die, bits, dt_type_resolve(type)->size);
    struct dt_type field = *dt_type_resolve(type);
    if (bits && field.kind == DT_TYPE_INTEGER && bits < field.size * 8) {
        field.bits = (uint32_t)bits;
        member.type = dt_type_new(m->d, &field);
    }
    /* Damaged DWARF may have members outside; a printed value has its struct's bytes only. */
    bool part = field.kind == DT_TYPE_INTEGER && field.bits < field.size * 8;
    uint64_t first = member.bit_offset / 8;
    uint64_t used = part ? (member.bit_offset % 8 + field.bits + 7) / 8 : field.size;
    if (first > size || used > size - first) {
        return;
    }
    dt_room(m->d, members, sizeof(member));
    ((struct dt_member *)members->data)[members->n++] = member;
}

/* Negative values have the form sdata; libdw would extend the sign of the shorter forms too. */
int64_t dt_elf_enumerator_value(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Sword value = 0;
    Dwarf_Word bits = 0;

    if (!dwarf_attr_integrate(die, DW_AT_const_value, &attribute)) {
        return 0;
    }
    unsigned form = dwarf_whatform(&attribute);
    if (form == DW_FORM_data1 || form == DW_FORM_data2 || form == DW_FORM_data4) {
        dwarf_formudata(&attribute, &bits);
        return (int64_t)bits;
    }
    dwarf_formsdata(&attribute, &value);
    return value;
}

static void elf_types_complete_todo(struct maker *m, const struct dt_elf_todo *todo)
{
    struct dt_type *forward = todo->type, *t = dt_alloc(m->d, sizeof(*t));
    struct dt_array members = {0}, enumerators = {0};
    Dwarf_Die die, child;

    if (!dwarf_offdie(m->e->dwarf, todo->die, &die)) {
        return;
    }
    *t = (struct dt_type){.kind = forward->tag_kind,
                          .name = forward->name,
                          .size = forward->size,
                          .align = (uint32_t)number_or(&die, DW_AT_alignment, 0),
                          .is_signed = forward->tag_kind == DT_TYPE_ENUM};
    forward->completed = t;
    if (dwarf_child(&die, &child) == 0) {
        do {
            int tag = dwarf_tag(&child);
            if (tag == DW_TAG_member && members.n < COUNT_MAX) {
                add_member(m, &members, &child, t->size);
            } else if (tag == DW_TAG_enumerator && enumerators.n < COUNT_MAX) {
                dt_room(m->d, &enumerators, sizeof(struct dt_enumerator));
                ((struct dt_enumerator *)enumerators.data)[enumerators.n++] =
                    (struct dt_enumerator){elf_types_name_of(m, &child),
                                           dt_elf_enumerator_value(&child)};
            }
        } while (dwarf_siblingof(&child, &child) == 0);
    }
    t->members = members.data;
    t->nmembers = members.n;
    t->enumerators = enumerators.data;
    t->nenumerators = enumerators.n;
    t->align = t->align ? t->align : natural_align(t->size);
}

static void complete_all(struct maker *m)
{
    while (m->e->todo) {
        struct dt_elf_todo *todo = m->e->todo;
        m->e->todo = todo->next;
        elf_types_complete_todo(m, todo);
    }
}

/* ---- any type ---------------------------------------------------------------------- */

static const struct dt_type *make_new(struct maker *m, Dwarf_Die *die)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_base_type:
        return make_base(m, die);
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type: {
        struct dt_type t = {.kind = DT_TYPE_POINTER, .to = elf_types_target(m, die)};
        uint8_t bytes = 0;
        Dwarf_Die unit;
        dwarf_diecu(die, &unit, &bytes, NULL);
        t.size = number_or(die, DW_AT_byte_size, bytes);
        t.align = natural_align(t.size);
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
        return elf_types_target(m, die);
    case DW_TAG_array_type: {
        const struct dt_type *of = elf_types_target(m, die);
        Dwarf_Die range;
        return dwarf_child(die, &range) == 0 ? elf_types_add_dimensions(m, &range, of)
                                             : dt_type_array(m->d, of, 0);
    }
    case DW_TAG_subroutine_type:
    case DW_TAG_subprogram:
        return make_function(m, die);
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
        return make_tagged(m, die);
    default:
        return m->d->basics[DT_BASIC_VOID];
    }
}

/* The type of a DIE, made once. */
static const struct dt_type *elf_types_make(struct maker *m, Dwarf_Die *die)
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
    struct maker m = {.d = d, .e = e};
    const struct dt_type *type = elf_types_make(&m, die);

    complete_all(&m);
    return type->kind == DT_TYPE_FORWARD && type->completed ? type->completed : type;
}

const struct dt_type *dt_elf_type_of_object(struct dt_session *d, struct dt_elf *e, Dwarf_Die *die)
{
    struct maker m = {.d = d, .e = e};
    const struct dt_type *type =
        dwarf_tag(die) == DW_TAG_subprogram ? elf_types_make(&m, die) : elf_types_target(&m, die);

    complete_all(&m);
    return type;
}
