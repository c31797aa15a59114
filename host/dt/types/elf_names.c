/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which DIE a name means, in all of an ELF's compilation units. Made once, at the first question.
 */
#include "host/dt/types/elf_file.h"

#include <dwarf.h>
#include <string.h>

static unsigned elf_names_bucket_of(int space, const char *name)
{
    uint32_t hash = (uint32_t)space;

    for (; *name; name++) {
        hash = hash * 31 + (unsigned char)*name;
    }
    return hash % DT_ELF_BUCKETS;
}

/* 0: nothing that has a name here. */
static int space_of(int tag)
{
    switch (tag) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
        return DT_TYPE_STRUCT;
    case DW_TAG_union_type:
        return DT_TYPE_UNION;
    case DW_TAG_enumeration_type:
        return DT_TYPE_ENUM;
    case DW_TAG_typedef:
    case DW_TAG_base_type:
        return DT_TYPE_TYPEDEF;
    case DW_TAG_variable:
        return DT_ELF_VARIABLE;
    case DW_TAG_subprogram:
        return DT_ELF_FUNCTION;
    default:
        return 0;
    }
}

static struct dt_elf_name *elf_names_find_entry(const struct dt_elf *e, int space, const char *name)
{
    struct dt_elf_name *n = e->names[elf_names_bucket_of(space, name)];

    while (n && (n->space != space || strcmp(n->name, name) != 0)) {
        n = n->next;
    }
    return n;
}

/* A definition takes the place of a declaration, otherwise the first one stays. */
static void elf_names_add_entry(struct dt_session *d, struct dt_elf *e, Dwarf_Die *die, int space,
                                const char *name)
{
    struct dt_elf_name *n = elf_names_find_entry(e, space, name);
    bool declaration = dwarf_hasattr(die, DW_AT_declaration) != 0;

    if (!n) {
        struct dt_elf_name **bucket = &e->names[elf_names_bucket_of(space, name)];
        n = dt_alloc(d, sizeof(*n));
        *n = (struct dt_elf_name){
            .space = space, .name = dt_strdup(d, name), .is_declaration = true, .next = *bucket};
        *bucket = n;
    } else if (!n->is_declaration || declaration) {
        return;
    }
    n->die = dwarf_dieoffset(die);
    n->is_declaration = declaration;
}

static void index_enumerators(struct dt_session *d, struct dt_elf *e, Dwarf_Die *type)
{
    Dwarf_Die die;

    if (dwarf_child(type, &die) != 0) {
        return;
    }
    do {
        const char *name = dwarf_tag(&die) == DW_TAG_enumerator ? dwarf_diename(&die) : NULL;
        if (name) {
            elf_names_add_entry(d, e, &die, DT_ELF_ENUMERATOR, name);
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

static void index_unit(struct dt_session *d, struct dt_elf *e, Dwarf_Die *unit)
{
    Dwarf_Die die;

    if (dwarf_child(unit, &die) != 0) {
        return;
    }
    do {
        int space = space_of(dwarf_tag(&die));
        const char *name = space ? dwarf_diename(&die) : NULL;
        if (name) {
            elf_names_add_entry(d, e, &die, space, name);
        }
        if (space == DT_TYPE_ENUM) {
            index_enumerators(d, e, &die);
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

static void index_all(struct dt_session *d, struct dt_elf *e)
{
    Dwarf_Off at = 0, next;
    size_t header;

    e->names = dt_alloc(d, DT_ELF_BUCKETS * sizeof(struct dt_elf_name *));
    while (e->dwarf && dwarf_nextcu(e->dwarf, at, &next, &header, NULL, NULL, NULL) == 0) {
        Dwarf_Die unit;
        if (dwarf_offdie(e->dwarf, at + header, &unit)) {
            index_unit(d, e, &unit);
        }
        at = next;
    }
    e->is_indexed = true;
}

bool dt_elf_find(struct dt_session *d, struct dt_elf *e, int space, const char *name,
                 Dwarf_Die *die)
{
    if (!e->is_indexed) {
        index_all(d, e);
    }
    const struct dt_elf_name *n = elf_names_find_entry(e, space, name);
    return n && dwarf_offdie(e->dwarf, n->die, die);
}
