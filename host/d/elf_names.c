/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which DIE a name means, in all of an ELF's compilation units. Made once, at the first question.
 */
#include "host/d/elf.h"

#include <dwarf.h>
#include <string.h>

static unsigned bucket_of(int space, const char *name)
{
    uint32_t hash = (uint32_t)space;

    for (; *name; name++) {
        hash = hash * 31 + (unsigned char)*name;
    }
    return hash % D_ELF_BUCKETS;
}

/* 0: nothing that has a name here. */
static int space_of(int tag)
{
    switch (tag) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
        return D_TYPE_STRUCT;
    case DW_TAG_union_type:
        return D_TYPE_UNION;
    case DW_TAG_enumeration_type:
        return D_TYPE_ENUM;
    case DW_TAG_typedef:
    case DW_TAG_base_type:
        return D_TYPE_TYPEDEF;
    case DW_TAG_variable:
        return D_ELF_VARIABLE;
    case DW_TAG_subprogram:
        return D_ELF_FUNCTION;
    default:
        return 0;
    }
}

static struct d_elf_name *find(const struct d_elf *e, int space, const char *name)
{
    struct d_elf_name *n = e->names[bucket_of(space, name)];

    while (n && (n->space != space || strcmp(n->name, name) != 0)) {
        n = n->next;
    }
    return n;
}

/* A definition takes the place of a declaration, otherwise the first one stays. */
static void add(struct d_session *d, struct d_elf *e, Dwarf_Die *die, int space, const char *name)
{
    struct d_elf_name *n = find(e, space, name);
    bool declaration = dwarf_hasattr(die, DW_AT_declaration) != 0;

    if (!n) {
        struct d_elf_name **bucket = &e->names[bucket_of(space, name)];
        n = d_alloc(d, sizeof(*n));
        *n = (struct d_elf_name){
            .space = space, .name = d_strdup(d, name), .is_declaration = true, .next = *bucket};
        *bucket = n;
    } else if (!n->is_declaration || declaration) {
        return;
    }
    n->die = dwarf_dieoffset(die);
    n->is_declaration = declaration;
}

static void index_enumerators(struct d_session *d, struct d_elf *e, Dwarf_Die *type)
{
    Dwarf_Die die;

    if (dwarf_child(type, &die) != 0) {
        return;
    }
    do {
        const char *name = dwarf_tag(&die) == DW_TAG_enumerator ? dwarf_diename(&die) : NULL;
        if (name) {
            add(d, e, &die, D_ELF_ENUMERATOR, name);
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

static void index_unit(struct d_session *d, struct d_elf *e, Dwarf_Die *unit)
{
    Dwarf_Die die;

    if (dwarf_child(unit, &die) != 0) {
        return;
    }
    do {
        int space = space_of(dwarf_tag(&die));
        const char *name = space ? dwarf_diename(&die) : NULL;
        if (name) {
            add(d, e, &die, space, name);
        }
        if (space == D_TYPE_ENUM) {
            index_enumerators(d, e, &die);
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

static void index_all(struct d_session *d, struct d_elf *e)
{
    Dwarf_Off at = 0, next;
    size_t header;

    e->names = d_alloc(d, D_ELF_BUCKETS * sizeof(struct d_elf_name *));
    while (e->dwarf && dwarf_nextcu(e->dwarf, at, &next, &header, NULL, NULL, NULL) == 0) {
        Dwarf_Die unit;
        if (dwarf_offdie(e->dwarf, at + header, &unit)) {
            index_unit(d, e, &unit);
        }
        at = next;
    }
    e->is_indexed = true;
}

bool d_elf_find(struct d_session *d, struct d_elf *e, int space, const char *name, Dwarf_Die *die)
{
    if (!e->is_indexed) {
        index_all(d, e);
    }
    const struct d_elf_name *n = find(e, space, name);
    return n && dwarf_offdie(e->dwarf, n->die, die);
}
