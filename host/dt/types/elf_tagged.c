/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structs, unions and enums from DWARF. They are first made incomplete and put on a list, so that
 * they may refer to each other in circles; the list is worked off before anyone sees them.
 */
#include "host/dt/types/elf_maker.h"

#include <dwarf.h>

enum { COUNT_MAX = 1 << 20 };

static enum dt_type_kind tag_kind(int tag)
{
    return tag == DW_TAG_union_type         ? DT_TYPE_UNION
           : tag == DW_TAG_enumeration_type ? DT_TYPE_ENUM
                                            : DT_TYPE_STRUCT;
}

/* Incomplete at first; what is only declared here may be defined elsewhere in the ELF. */
struct dt_type *dt_elf_make_tagged(struct dt_elf_maker *m, Dwarf_Die *die)
{
    struct dt_type *t = dt_alloc(m->d, sizeof(*t));
    struct dt_elf_todo *todo;
    Dwarf_Die definition = *die;

    *t = (struct dt_type){.kind = DT_TYPE_FORWARD,
                          .tag_kind = tag_kind(dwarf_tag(die)),
                          .name = dt_elf_name_of(m, die),
                          .align = 1};
    if (dwarf_hasattr(die, DW_AT_declaration)) {
        bool found = t->name && dt_elf_find(m->d, m->e, (int)t->tag_kind, t->name, &definition);
        if (!found || dwarf_hasattr(&definition, DW_AT_declaration)) {
            return t;
        }
    }
    t->size = dt_elf_number_or(&definition, DW_AT_byte_size, 0);
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

    if (dt_elf_number(die, DW_AT_data_member_location, &value)) {
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

    if (dt_elf_number(die, DW_AT_data_bit_offset, &bit)) {
        return bit;
    }
    uint64_t byte = byte_of_member(die);
    if (bits && dt_elf_number(die, DW_AT_bit_offset, &bit)) {
        return byte * 8 + dt_elf_number_or(die, DW_AT_byte_size, unit) * 8 - bit - bits;
    }
    return byte * 8;
}

static const struct dt_type *bit_field(struct dt_elf_maker *m, const struct dt_type *type,
                                       uint64_t bits)
{
    const struct dt_type *t = dt_type_resolve(type);
    struct dt_type field = *t;

    if (t->kind != DT_TYPE_INTEGER || bits >= t->size * 8) {
        return type;
    }
    field.bits = (uint32_t)bits;
    return dt_type_new(m->d, &field);
}

static void add_member(struct dt_elf_maker *m, struct dt_array *members, Dwarf_Die *die,
                       uint64_t size)
{
    const struct dt_type *type = dt_elf_target(m, die);
    uint64_t bits = dt_elf_number_or(die, DW_AT_bit_size, 0);
    struct dt_member member = {.name = dt_elf_name_of(m, die), .type = type};

    member.bit_offset = bit_of_member(die, bits, dt_type_resolve(type)->size);
    if (bits) {
        member.type = bit_field(m, type, bits);
    }
    /* Damaged DWARF may have members outside; a printed value has its struct's bytes only. */
    const struct dt_type *t = dt_type_resolve(member.type);
    bool field = t->kind == DT_TYPE_INTEGER && t->bits < t->size * 8;
    uint64_t first = member.bit_offset / 8;
    uint64_t used = field ? (member.bit_offset % 8 + t->bits + 7) / 8 : t->size;
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

static void complete(struct dt_elf_maker *m, const struct dt_elf_todo *todo)
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
                          .align = (uint32_t)dt_elf_number_or(&die, DW_AT_alignment, 0),
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
                    (struct dt_enumerator){dt_elf_name_of(m, &child),
                                           dt_elf_enumerator_value(&child)};
            }
        } while (dwarf_siblingof(&child, &child) == 0);
    }
    t->members = members.data;
    t->nmembers = members.n;
    t->enumerators = enumerators.data;
    t->nenumerators = enumerators.n;
    t->align = t->align ? t->align : dt_elf_natural_align(t->size);
}

void dt_elf_complete_all(struct dt_elf_maker *m)
{
    while (m->e->todo) {
        struct dt_elf_todo *todo = m->e->todo;
        m->e->todo = todo->next;
        complete(m, todo);
    }
}
