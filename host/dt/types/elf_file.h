/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An open ELF: its symbols, and its types, which are made when they are asked for. Internal to
 * elf*.c.
 */
#ifndef HOST_DT_TYPES_ELF_FILE_H
#define HOST_DT_TYPES_ELF_FILE_H

#include "host/dt/base/session.h"

#include <elfutils/libdw.h>
#include <gelf.h>

struct dt_elf_name { /* of a type, variable, function or enumerator: which DIE it is */
    int space;       /* enum dt_type_kind, or one of enum dt_elf_space */
    const char *name;
    Dwarf_Off die;
    bool is_declaration;
    struct dt_elf_name *next;
};
enum dt_elf_space { DT_ELF_VARIABLE = 1000, DT_ELF_FUNCTION, DT_ELF_ENUMERATOR };

struct dt_elf_type {
    Dwarf_Off die;
    struct dt_type *type;
    struct dt_elf_type *next;
};

struct dt_elf_todo { /* a struct that is only named so far */
    Dwarf_Off die;
    struct dt_type *type;
    struct dt_elf_todo *next;
};

struct dt_elf_symbol {
    const char *name;
    uint64_t address, size;
    bool is_function, is_global;
};

struct dt_elf_segment {
    uint64_t start, end;
    bool is_text;
};

enum { DT_ELF_BUCKETS = 1024 };

struct dt_elf {
    const char *name;
    bool kernel, is_indexed;
    uint64_t bias; /* where it is loaded, minus where it was linked */
    int fd;
    Elf *elf;
    Dwarf *dwarf; /* NULL: it has no DWARF */
    struct dt_elf_name **names;
    struct dt_elf_type **types;
    struct dt_elf_todo *todo;
    struct dt_array symbols;  /* struct dt_elf_symbol, by address */
    struct dt_array segments; /* struct dt_elf_segment */
    struct dt_elf *next;
};

void dt_elf_symbols_read(struct dt_session *, struct dt_elf *);
const struct dt_elf_symbol *dt_elf_symbol_by_name(const struct dt_elf *, const char *name);
/* Returns the number of functions of that name. */
unsigned dt_elf_functions_named(const struct dt_elf *, const char *name);
/* elf_kernel.c: dtrace_image.kernel of programs that are compiled with this kernel. */
void dt_elf_kernel_id(const struct dt_elf *, uint8_t id[20]);
/* elf_names.c: finds the definition of a name, or else a declaration. False: unknown. */
bool dt_elf_find(struct dt_session *, struct dt_elf *, int space, const char *name, Dwarf_Die *);
/* elf_types.c */
const struct dt_type *dt_elf_type_of(struct dt_session *, struct dt_elf *, Dwarf_Die *);
int64_t dt_elf_enumerator_value(Dwarf_Die *);
/* Returns the type of a variable or function. */
const struct dt_type *dt_elf_type_of_object(struct dt_session *, struct dt_elf *, Dwarf_Die *);

#endif
