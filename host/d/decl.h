/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declarations while they are parsed: specifiers gather in the innermost scope (a struct's body, a
 * list of parameters and the program itself have one each), declarators are built from the name
 * outwards, and both together give a type. Internal to the front end.
 */
#ifndef HOST_D_DECL_H
#define HOST_D_DECL_H

#include "host/d/ast.h"

enum d_storage {
    D_STORAGE_NONE,
    D_STORAGE_AUTO,
    D_STORAGE_REGISTER,
    D_STORAGE_STATIC,
    D_STORAGE_EXTERN,
    D_STORAGE_TYPEDEF,
    D_STORAGE_SELF,
    D_STORAGE_THIS,
};

enum d_spec_flags {
    D_SPEC_SIGNED = 1,
    D_SPEC_UNSIGNED = 2,
    D_SPEC_SHORT = 4,
    D_SPEC_LONG = 8,
    D_SPEC_LONG_LONG = 16,
    D_SPEC_SIZES = D_SPEC_SHORT | D_SPEC_LONG | D_SPEC_LONG_LONG,
    D_SPEC_CONST = 32,
    D_SPEC_VOLATILE = 64,
    D_SPEC_RESTRICT = 128,
};

enum d_base {
    D_BASE_NONE,
    D_BASE_VOID,
    D_BASE_CHAR,
    D_BASE_INT,
    D_BASE_FLOAT,
    D_BASE_DOUBLE,
    D_BASE_TYPE, /* a typedef, struct, union, enum, string: `type` */
};

struct d_specs {
    enum d_storage storage;
    unsigned flags; /* enum d_spec_flags */
    enum d_base base;
    const struct d_type *type;
    bool is_tag; /* TYPE: a struct, union or enum by its tag or body */
    bool begun;
    struct d_place place;
};

struct d_layout { /* of a struct or union while members are added */
    uint64_t end; /* bytes used so far; union: the largest member's */
    uint32_t align;
    bool is_union, has_bit_fields;
};

struct d_scope {
    struct d_scope *outer;
    struct d_specs specs;
    struct d_type *type; /* the struct, union or enum whose body this is; NULL: another scope */
    struct d_layout layout;
    struct d_member *members; /* room for `room` */
    struct d_enumerator *enumerators;
    unsigned room;
    int64_t next_value; /* of an enumerator */
};

struct d_parameter {
    const struct d_type *type;
    const char *name; /* NULL: none */
    struct d_place place;
    struct d_parameter *next;
};

struct d_parameters {
    struct d_parameter *first, **end;
    bool varargs;
};

struct d_derivation {      /* what stands round a declarator's name, from the name outwards */
    enum d_type_kind kind; /* POINTER, ARRAY, FUNCTION */
    unsigned qualifiers;   /* POINTER */
    struct d_node *count;  /* ARRAY: its size; NULL: none, or parameters */
    struct d_parameters *parameters; /* FUNCTION; ARRAY: an associative array's keys */
    struct d_place place;
    struct d_derivation *next;
};

struct d_declarator {
    const char *name; /* NULL: an abstract one */
    struct d_place place;
    struct d_derivation *first, **end;
};

struct d_parse;

/* ---- decl.c: scopes and specifiers ----------------------------------------------------------- */
void d_scope_push(struct d_parse *);
void d_scope_pop(struct d_parse *);
void d_spec_storage(struct d_parse *, struct d_place, enum d_storage);
void d_spec_flag(struct d_parse *, struct d_place, unsigned flag);
void d_spec_base(struct d_parse *, struct d_place, enum d_base, const struct d_type *, bool is_tag);
void d_spec_named(struct d_parse *, struct d_place, const char *name);
/* The specifiers so far as a type, checked. */
const struct d_type *d_specs_type(struct d_parse *);
void d_specs_end(struct d_parse *);

/* ---- declarator.c ------------------------------------------------------------------------------
 */
struct d_declarator *d_declarator_new(struct d_parse *, struct d_place, const char *name);
void d_declarator_pointer(struct d_parse *, struct d_declarator *, struct d_place,
                          unsigned qualifiers);
void d_declarator_array(struct d_parse *, struct d_declarator *, struct d_place,
                        struct d_node *count, struct d_parameters *);
void d_declarator_function(struct d_parse *, struct d_declarator *, struct d_place,
                           struct d_parameters *);
/* The declared type. Of an associative array: its elements', and *keys is set (if keys is NULL
 * there may be none). */
const struct d_type *d_declared_type(struct d_parse *, const struct d_declarator *,
                                     const struct d_parameters **keys);
struct d_parameters *d_parameters_new(struct d_parse *);
void d_parameters_add(struct d_parse *, struct d_parameters *, struct d_place,
                      const struct d_declarator *);
/* sizeof, casts: specifiers and an abstract declarator (or NULL). Ends the specifiers. */
const struct d_type *d_type_name_end(struct d_parse *, const struct d_declarator *);
/* A positive integer constant, as sizes are. tag: of the error if it is none. */
uint64_t d_positive_constant(struct d_parse *, struct d_node *, const char *tag);

/* ---- decl_struct.c, decl_enum.c, layout.c ------------------------------------------------------
 */
void d_struct_begin(struct d_parse *, struct d_place, enum d_type_kind, const char *tag);
void d_struct_member(struct d_parse *, struct d_place, const struct d_declarator *,
                     struct d_node *width);
void d_struct_anonymous(struct d_parse *, struct d_place); /* a member without a name */
const struct d_type *d_struct_end(struct d_parse *);
const struct d_type *d_struct_by_tag(struct d_parse *, struct d_place, enum d_type_kind,
                                     const char *tag);
void d_enum_begin(struct d_parse *, struct d_place, const char *tag);
void d_enumerator_add(struct d_parse *, struct d_place, const char *name, struct d_node *value);
const struct d_type *d_enum_end(struct d_parse *);
/* The next member's place in bits; bits 0: no bit-field. */
uint64_t d_layout_add(struct d_layout *, const struct d_type *, uint32_t bits);
uint64_t d_layout_size(const struct d_layout *);

/* ---- declare.c: names into the tables ----------------------------------------------------------
 */
void d_declare(struct d_parse *, const struct d_declarator *);
void d_declare_nothing(struct d_parse *, struct d_place); /* specifiers without a declarator */
/* inline: between the declarator and the value, and at the end. */
struct d_ident *d_inline_begin(struct d_parse *, const struct d_declarator *);
void d_inline_end(struct d_parse *, struct d_ident *, struct d_node *value);
struct d_translator *d_translator_begin(struct d_parse *, struct d_place,
                                        const struct d_type *output, const struct d_type *input,
                                        const char *name);
void d_translator_member(struct d_parse *, struct d_translator *, struct d_place, const char *name,
                         struct d_node *value);
void d_translator_end(struct d_parse *, struct d_translator *);

#endif
