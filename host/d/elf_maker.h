/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making types of DWARF. Internal to elf_types.c and elf_tagged.c.
 */
#ifndef HOST_D_ELF_MAKER_H
#define HOST_D_ELF_MAKER_H

#include "host/d/elf.h"

struct d_elf_maker {
    struct d_session *d;
    struct d_elf *e;
    unsigned depth;
};

/* An attribute that is a number. False: the DIE has none. */
bool d_elf_number(Dwarf_Die *, unsigned name, uint64_t *value);
uint64_t d_elf_number_or(Dwarf_Die *, unsigned name, uint64_t otherwise);
/* NULL: it has no name. */
const char *d_elf_name_of(struct d_elf_maker *, Dwarf_Die *);
uint32_t d_elf_natural_align(uint64_t size);

/* The type of a DIE, made once. */
const struct d_type *d_elf_make(struct d_elf_maker *, Dwarf_Die *);
/* What a type refers to; none is void. */
const struct d_type *d_elf_target(struct d_elf_maker *, Dwarf_Die *);

/* Incomplete at first; what is only declared here may be defined elsewhere in the ELF. */
struct d_type *d_elf_make_tagged(struct d_elf_maker *, Dwarf_Die *);
void d_elf_complete_all(struct d_elf_maker *);

#endif
