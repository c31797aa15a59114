/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An open ELF: its symbols, and its types, which are made when they are asked for. Internal to
 * elf*.c.
 */
#ifndef HOST_D_ELF_H
#define HOST_D_ELF_H

#include "host/d/front.h"

#include <elfutils/libdw.h>
#include <gelf.h>

struct d_elf_name { /* of a type, variable, function or enumerator: which DIE it is */
    int space;      /* enum d_type_kind, or one of enum d_elf_space */
    const char *name;
    Dwarf_Off die;
    bool is_declaration;
    struct d_elf_name *next;
};
enum d_elf_space { D_ELF_VARIABLE = 1000, D_ELF_FUNCTION, D_ELF_ENUMERATOR };

struct d_elf_type {
    Dwarf_Off die;
    struct d_type *type;
    struct d_elf_type *next;
};

struct d_elf_todo { /* a struct that is only named so far */
    Dwarf_Off die;
    struct d_type *type;
    struct d_elf_todo *next;
};

struct d_elf_symbol {
    const char *name;
    uint64_t address, size;
    bool is_function, is_global;
};

struct d_elf_segment {
    uint64_t start, end;
    bool is_text;
};

enum { D_ELF_BUCKETS = 1024 };

struct d_elf {
    const char *name;
    bool kernel, is_indexed;
    uint64_t bias; /* where it is loaded, minus where it was linked */
    int fd;
    Elf *elf;
    Dwarf *dwarf; /* NULL: it has no DWARF */
    struct d_elf_name **names;
    struct d_elf_type **types;
    struct d_elf_todo *todo;
    struct d_array symbols;  /* struct d_elf_symbol, by address */
    struct d_array segments; /* struct d_elf_segment */
    struct d_elf *next;
};

void d_elf_symbols_read(struct d_session *, struct d_elf *);
const struct d_elf_symbol *d_elf_symbol_by_name(const struct d_elf *, const char *name);
/* How many functions have that name. */
unsigned d_elf_functions_named(const struct d_elf *, const char *name);
/* elf_kernel.c: d_image.kernel of programs that are compiled with this kernel. */
void d_elf_kernel_id(const struct d_elf *, uint8_t id[20]);
/* elf_names.c: the definition of a name, or else a declaration. False: unknown. */
bool d_elf_find(struct d_session *, struct d_elf *, int space, const char *name, Dwarf_Die *);
/* elf_types.c, elf_tagged.c */
const struct d_type *d_elf_type_of(struct d_session *, struct d_elf *, Dwarf_Die *);
int64_t d_elf_enumerator_value(Dwarf_Die *);
/* Of a variable or function: its type. */
const struct d_type *d_elf_type_of_object(struct d_session *, struct d_elf *, Dwarf_Die *);

#endif
