/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making types of DWARF. Internal to elf_types.c and elf_tagged.c.
 */
#ifndef HOST_DT_TYPES_ELF_MAKER_H
#define HOST_DT_TYPES_ELF_MAKER_H

#include "host/dt/types/elf_file.h"

struct dt_elf_maker {
    struct dt_session *d;
    struct dt_elf *e;
    unsigned depth;
};

/* An attribute that is a number. False: the DIE has none. */
bool dt_elf_number(Dwarf_Die *, unsigned name, uint64_t *value);
uint64_t dt_elf_number_or(Dwarf_Die *, unsigned name, uint64_t otherwise);
/* NULL: it has no name. */
const char *dt_elf_name_of(struct dt_elf_maker *, Dwarf_Die *);
uint32_t dt_elf_natural_align(uint64_t size);

/* The type of a DIE, made once. */
const struct dt_type *dt_elf_make(struct dt_elf_maker *, Dwarf_Die *);
/* Returns the type to which a type refers; none is void. */
const struct dt_type *dt_elf_target(struct dt_elf_maker *, Dwarf_Die *);

/* Incomplete at first; what is only declared here may be defined elsewhere in the ELF. */
struct dt_type *dt_elf_make_tagged(struct dt_elf_maker *, Dwarf_Die *);
void dt_elf_complete_all(struct dt_elf_maker *);

#endif
