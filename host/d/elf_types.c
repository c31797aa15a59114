/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types from DWARF. Structs are first made incomplete and put on a list, so that they may refer to
 * each other in circles; the list is worked off before anyone sees them.
 */
#include "host/d/elf.h"
#include "host/d/type_name.h"

#include <dwarf.h>
#include <string.h>

enum { DEPTH_MAX = 200, COUNT_MAX = 1 << 20 };

struct maker {
    struct d_session *d;
    struct d_elf *e;
    unsigned depth;
};

static const struct d_type *make(struct maker *m, Dwarf_Die *die);

/* ---- attributes --------------------------------------------------------------------------------
 */

static bool number(Dwarf_Die *die, unsigned name, uint64_t *value)
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

    return number(die, name, &value) ? value : otherwise;
}

static bool die_of(Dwarf_Die *die, unsigned name, Dwarf_Die *other)
{
    Dwarf_Attribute attribute;

    return dwarf_attr_integrate(die, name, &attribute) && dwarf_formref_die(&attribute, other);
}

/* What a type refers to; none is void. */
static const struct d_type *target(struct maker *m, Dwarf_Die *die)
{
    Dwarf_Die other;

    return die_of(die, DW_AT_type, &other) ? make(m, &other) : m->d->basics[D_BASIC_VOID];
}

static const char *name_of(struct maker *m, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);

    return name ? d_strdup(m->d, name) : NULL;
}

static uint32_t natural_align(uint64_t size)
{
    return size >= 8 ? 8 : size >= 4 ? 4 : size >= 2 ? 2 : 1;
}

/* ---- plain types -------------------------------------------------------------------------------
 */

/* "long unsigned int" is D's unsigned long, if it is as large. */
static const struct d_type *own_type(struct maker *m, const char *name, uint64_t size,
                                     bool is_signed)
{
    const struct d_type *own = name ? d_type_lookup(m->d, "D", name) : NULL;
    bool same =
        own && own->size == size &&
        (own->kind == D_TYPE_FLOAT || (own->kind == D_TYPE_INTEGER && own->is_signed == is_signed));

    return same ? own : NULL;
}

static const struct d_type *make_base(struct maker *m, Dwarf_Die *die)
{
    uint64_t encoding = number_or(die, DW_AT_encoding, DW_ATE_signed);
    uint64_t size = number_or(die, DW_AT_byte_size, 0);
    bool is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
    const char *name = name_of(m, die);
    const struct d_type *own = own_type(m, name, size, is_signed);
    struct d_type t = {.kind = encoding == DW_ATE_float ? D_TYPE_FLOAT : D_TYPE_INTEGER,
                       .name = name,
                       .size = size,
                       .align = natural_align(size),
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

static const struct d_type *make_pointer(struct maker *m, Dwarf_Die *die)
{
    struct d_type t = {.kind = D_TYPE_POINTER, .to = target(m, die)};
    uint8_t bytes = 0;
    Dwarf_Die unit;

    dwarf_diecu(die, &unit, &bytes, NULL);
    t.size = number_or(die, DW_AT_byte_size, bytes);
    t.align = natural_align(t.size);
    return d_type_new(m->d, &t);
}

static const struct d_type *make_named(struct maker *m, Dwarf_Die *die, enum d_type_kind kind)
{
    const struct d_type *to = target(m, die);

    return d_type_new(m->d,
                      &(struct d_type){.kind = kind,
                                       .name = kind == D_TYPE_TYPEDEF ? name_of(m, die) : NULL,
                                       .size = to->size,
                                       .align = to->align,
                                       .to = to});
}

/* The elements of one dimension; 0: not said. */
static uint64_t count_of(Dwarf_Die *range)
{
    uint64_t bound, count;

    if (number(range, DW_AT_count, &count)) {
        return count;
    }
    return number(range, DW_AT_upper_bound, &bound) && bound != UINT64_MAX ? bound + 1 : 0;
}

/* The dimensions from `die` on, among its siblings. */
static const struct d_type *dimensions(struct maker *m, Dwarf_Die *die, const struct d_type *of)
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

static const struct d_type *make_array(struct maker *m, Dwarf_Die *die)
{
    const struct d_type *of = target(m, die);
    Dwarf_Die range;

    if (dwarf_child(die, &range) != 0) {
        return d_type_array(m->d, of, 0);
    }
    return dimensions(m, &range, of);
}

static const struct d_type *make_function(struct maker *m, Dwarf_Die *die)
{
    struct d_type t = {.kind = D_TYPE_FUNCTION, .align = 1, .to = target(m, die)};
    struct d_array parameters = {0};
    Dwarf_Die child;

    if (dwarf_child(die, &child) == 0) {
        do {
            int tag = dwarf_tag(&child);
            t.varargs |= tag == DW_TAG_unspecified_parameters;
            if (tag == DW_TAG_formal_parameter) {
                d_room(m->d, &parameters, sizeof(struct d_member));
                ((struct d_member *)parameters.data)[parameters.n] =
                    (struct d_member){.name = name_of(m, &child), .type = target(m, &child)};
                parameters.n++;
            }
        } while (dwarf_siblingof(&child, &child) == 0);
    }
    t.members = parameters.data;
    t.nmembers = parameters.n;
    return d_type_new(m->d, &t);
}

/* ---- structs, unions, enums --------------------------------------------------------------------
 */

static enum d_type_kind tag_kind(int tag)
{
    return tag == DW_TAG_union_type         ? D_TYPE_UNION
           : tag == DW_TAG_enumeration_type ? D_TYPE_ENUM
                                            : D_TYPE_STRUCT;
}

/* Incomplete at first; what is only declared here may be defined elsewhere in the ELF. */
static struct d_type *make_tagged(struct maker *m, Dwarf_Die *die)
{
    struct d_type *t = d_alloc(m->d, sizeof(*t));
    struct d_elf_todo *todo;
    Dwarf_Die definition = *die;

    *t = (struct d_type){.kind = D_TYPE_FORWARD,
                         .tag_kind = tag_kind(dwarf_tag(die)),
                         .name = name_of(m, die),
                         .align = 1};
    if (dwarf_hasattr(die, DW_AT_declaration)) {
        bool found = t->name && d_elf_find(m->d, m->e, (int)t->tag_kind, t->name, &definition);
        if (!found || dwarf_hasattr(&definition, DW_AT_declaration)) {
            return t;
        }
    }
    t->size = number_or(&definition, DW_AT_byte_size, 0);
    todo = d_alloc(m->d, sizeof(*todo));
    *todo = (struct d_elf_todo){dwarf_dieoffset(&definition), t, m->e->todo};
    m->e->todo = todo;
    return t;
}

static uint64_t byte_of_member(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t n;
    uint64_t value;

    if (number(die, DW_AT_data_member_location, &value)) {
        return value;
    }
    bool expression = dwarf_attr_integrate(die, DW_AT_data_member_location, &attribute) &&
                      dwarf_getlocation(&attribute, &ops, &n) == 0 && n == 1 &&
                      ops[0].atom == DW_OP_plus_uconst;
    return expression ? ops[0].number : 0;
}

/* Where a member begins. Old DWARF counts a bit-field's place from the other end of its unit. */
static uint64_t bit_of_member(Dwarf_Die *die, uint64_t bits, uint64_t unit)
{
    uint64_t bit;

    if (number(die, DW_AT_data_bit_offset, &bit)) {
        return bit;
    }
    uint64_t byte = byte_of_member(die);
    if (bits && number(die, DW_AT_bit_offset, &bit)) {
        return byte * 8 + number_or(die, DW_AT_byte_size, unit) * 8 - bit - bits;
    }
    return byte * 8;
}

static const struct d_type *bit_field(struct maker *m, const struct d_type *type, uint64_t bits)
{
    const struct d_type *t = d_type_resolve(type);
    struct d_type field = *t;

    if (t->kind != D_TYPE_INTEGER || bits >= t->size * 8) {
        return type;
    }
    field.bits = (uint32_t)bits;
    return d_type_new(m->d, &field);
}

/* Damaged DWARF may say otherwise; who prints a value has its struct's bytes only. */
static bool is_inside(const struct d_member *member, uint64_t size)
{
    const struct d_type *t = d_type_resolve(member->type);
    bool field = t->kind == D_TYPE_INTEGER && t->bits < t->size * 8;
    uint64_t first = member->bit_offset / 8;
    uint64_t used = field ? (member->bit_offset % 8 + t->bits + 7) / 8 : t->size;

    return first <= size && used <= size - first;
}

static void add_member(struct maker *m, struct d_array *members, Dwarf_Die *die, uint64_t size)
{
    const struct d_type *type = target(m, die);
    uint64_t bits = number_or(die, DW_AT_bit_size, 0);
    struct d_member member = {.name = name_of(m, die), .type = type};

    member.bit_offset = bit_of_member(die, bits, d_type_resolve(type)->size);
    if (bits) {
        member.type = bit_field(m, type, bits);
    }
    if (!is_inside(&member, size)) {
        return;
    }
    d_room(m->d, members, sizeof(member));
    ((struct d_member *)members->data)[members->n++] = member;
}

/* Negative values have the form sdata; libdw would extend the sign of the shorter forms too. */
int64_t d_elf_enumerator_value(Dwarf_Die *die)
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

static void add_enumerator(struct maker *m, struct d_array *list, Dwarf_Die *die)
{
    d_room(m->d, list, sizeof(struct d_enumerator));
    ((struct d_enumerator *)list->data)[list->n++] =
        (struct d_enumerator){name_of(m, die), d_elf_enumerator_value(die)};
}

static void complete(struct maker *m, const struct d_elf_todo *todo)
{
    struct d_type *forward = todo->type, *t = d_alloc(m->d, sizeof(*t));
    struct d_array members = {0}, enumerators = {0};
    Dwarf_Die die, child;

    if (!dwarf_offdie(m->e->dwarf, todo->die, &die)) {
        return;
    }
    *t = (struct d_type){.kind = forward->tag_kind,
                         .name = forward->name,
                         .size = forward->size,
                         .align = (uint32_t)number_or(&die, DW_AT_alignment, 0),
                         .is_signed = forward->tag_kind == D_TYPE_ENUM};
    forward->completed = t;
    if (dwarf_child(&die, &child) == 0) {
        do {
            int tag = dwarf_tag(&child);
            if (tag == DW_TAG_member && members.n < COUNT_MAX) {
                add_member(m, &members, &child, t->size);
            } else if (tag == DW_TAG_enumerator && enumerators.n < COUNT_MAX) {
                add_enumerator(m, &enumerators, &child);
            }
        } while (dwarf_siblingof(&child, &child) == 0);
    }
    t->members = members.data;
    t->nmembers = members.n;
    t->enumerators = enumerators.data;
    t->nenumerators = enumerators.n;
    t->align = t->align ? t->align : natural_align(t->size);
}

/* ---- any type ----------------------------------------------------------------------------------
 */

static const struct d_type *make_new(struct maker *m, Dwarf_Die *die)
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
        return target(m, die);
    case DW_TAG_array_type:
        return make_array(m, die);
    case DW_TAG_subroutine_type:
    case DW_TAG_subprogram:
        return make_function(m, die);
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
        return make_tagged(m, die);
    default:
        return m->d->basics[D_BASIC_VOID];
    }
}

static struct d_elf_type **bucket_of(struct maker *m, Dwarf_Off die)
{
    if (!m->e->types) {
        m->e->types = d_alloc(m->d, D_ELF_BUCKETS * sizeof(struct d_elf_type *));
    }
    return &m->e->types[die / 2 % D_ELF_BUCKETS];
}

static const struct d_type *make(struct maker *m, Dwarf_Die *die)
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

static void complete_all(struct maker *m)
{
    while (m->e->todo) {
        struct d_elf_todo *todo = m->e->todo;
        m->e->todo = todo->next;
        complete(m, todo);
    }
}

const struct d_type *d_elf_type_of(struct d_session *d, struct d_elf *e, Dwarf_Die *die)
{
    struct maker m = {.d = d, .e = e};
    const struct d_type *type = make(&m, die);

    complete_all(&m);
    return type->kind == D_TYPE_FORWARD && type->completed ? type->completed : type;
}

const struct d_type *d_elf_type_of_object(struct d_session *d, struct d_elf *e, Dwarf_Die *die)
{
    struct maker m = {.d = d, .e = e};
    const struct d_type *type =
        dwarf_tag(die) == DW_TAG_subprogram ? make(&m, die) : target(&m, die);

    complete_all(&m);
    return type;
}
