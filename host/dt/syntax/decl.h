/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declarations while they are parsed: specifiers gather in the innermost scope (a struct's body, a
 * list of parameters and the program itself have one each), declarators are built from the name
 * outwards, and both together give a type. Internal to the parser.
 */
#ifndef HOST_DT_SYNTAX_DECL_H
#define HOST_DT_SYNTAX_DECL_H

#include "host/dt/tree/ast.h"
#include "host/dt/types/layout.h"
#include "host/dt/types/type_name.h"

enum dt_storage {
    DT_STORAGE_NONE,
    DT_STORAGE_AUTO,
    DT_STORAGE_REGISTER,
    DT_STORAGE_STATIC,
    DT_STORAGE_EXTERN,
    DT_STORAGE_TYPEDEF,
    DT_STORAGE_SELF,
    DT_STORAGE_THIS,
};

struct dt_specs {
    enum dt_storage storage;
    unsigned flags; /* enum dt_spec_flags */
    enum dt_base base;
    const struct dt_type *type;
    bool is_tag; /* TYPE: a struct, union or enum by its tag or body */
    bool begun;
    struct dt_location location;
};

struct dt_scope {
    struct dt_scope *outer;
    struct dt_specs specs;
    struct dt_type *type; /* the struct, union or enum whose body this is; NULL: another scope */
    struct dt_layout layout;
    struct dt_member *members; /* room for `room` */
    struct dt_enumerator *enumerators;
    unsigned room;
    int64_t next_value; /* of an enumerator */
};

struct dt_parameter {
    const struct dt_type *type;
    const char *name; /* NULL: none */
    struct dt_location location;
    struct dt_parameter *next;
};

struct dt_parameters {
    struct dt_parameter *first, **end;
    bool varargs;
};

struct dt_derivation {      /* what stands round a declarator's name, from the name outwards */
    enum dt_type_kind kind; /* POINTER, ARRAY, FUNCTION */
    unsigned qualifiers;    /* POINTER */
    struct dt_node *count;  /* ARRAY: its size; NULL: none, or parameters */
    struct dt_parameters *parameters; /* FUNCTION; ARRAY: an associative array's keys */
    struct dt_location location;
    struct dt_derivation *next;
};

struct dt_declarator {
    const char *name; /* NULL: an abstract one */
    struct dt_location location;
    struct dt_derivation *first, **end;
};

struct dt_parse;

/* ---- decl.c: scopes and specifiers ------------------------------------------------- */
void dt_scope_push(struct dt_parse *);
void dt_scope_pop(struct dt_parse *);
void dt_spec_storage(struct dt_parse *, struct dt_location, enum dt_storage);
void dt_spec_flag(struct dt_parse *, struct dt_location, unsigned flag);
void dt_spec_base(struct dt_parse *, struct dt_location, enum dt_base, const struct dt_type *,
                  bool is_tag);
void dt_spec_named(struct dt_parse *, struct dt_location, const char *name);
/* Checks the specifiers so far and returns their type. */
const struct dt_type *dt_specs_type(struct dt_parse *);
void dt_specs_end(struct dt_parse *);

/* ---- declarator.c ------------------------------------------------------------------ */
struct dt_declarator *dt_declarator_new(struct dt_parse *, struct dt_location, const char *name);
void dt_declarator_pointer(struct dt_parse *, struct dt_declarator *, struct dt_location,
                           unsigned qualifiers);
void dt_declarator_array(struct dt_parse *, struct dt_declarator *, struct dt_location,
                         struct dt_node *count, struct dt_parameters *);
void dt_declarator_function(struct dt_parse *, struct dt_declarator *, struct dt_location,
                            struct dt_parameters *);
/* Returns the declared type. Of an associative array it is the elements', and *keys is set (keys
 * NULL: no associative array is permitted). */
const struct dt_type *dt_declared_type(struct dt_parse *, const struct dt_declarator *,
                                       const struct dt_parameters **keys);
struct dt_parameters *dt_parameters_new(struct dt_parse *);
void dt_parameters_add(struct dt_parse *, struct dt_parameters *, struct dt_location,
                       const struct dt_declarator *);
/* sizeof, casts: specifiers and an abstract declarator (or NULL). Ends the specifiers. */
const struct dt_type *dt_type_name_end(struct dt_parse *, const struct dt_declarator *);
/* Returns a positive integer constant, as sizes are. tag: of the error if it is none. */
uint64_t dt_positive_constant(struct dt_parse *, struct dt_node *, const char *tag);

/* ---- decl_struct.c, decl_enum.c ---------------------------------------------------- */
void dt_struct_begin(struct dt_parse *, struct dt_location, enum dt_type_kind, const char *tag);
void dt_struct_member(struct dt_parse *, struct dt_location, const struct dt_declarator *,
                      struct dt_node *width);
void dt_struct_anonymous(struct dt_parse *, struct dt_location); /* a member without a name */
const struct dt_type *dt_struct_end(struct dt_parse *);
const struct dt_type *dt_struct_by_tag(struct dt_parse *, struct dt_location, enum dt_type_kind,
                                       const char *tag);
void dt_enum_begin(struct dt_parse *, struct dt_location, const char *tag);
void dt_enumerator_add(struct dt_parse *, struct dt_location, const char *name,
                       struct dt_node *value);
const struct dt_type *dt_enum_end(struct dt_parse *);

/* ---- declare.c: names into the tables ---------------------------------------------- */
void dt_declare(struct dt_parse *, const struct dt_declarator *);
void dt_declare_nothing(struct dt_parse *,
                        struct dt_location); /* specifiers without a declarator */
/* inline: called between the declarator and the value, and at the end. */
struct dt_ident *dt_inline_begin(struct dt_parse *, const struct dt_declarator *);
void dt_inline_end(struct dt_parse *, struct dt_ident *, struct dt_node *value);
struct dt_translator *dt_translator_begin(struct dt_parse *, struct dt_location,
                                          const struct dt_type *output, const struct dt_type *input,
                                          const char *name);
void dt_translator_member(struct dt_parse *, struct dt_translator *, struct dt_location,
                          const char *name, struct dt_node *value);
void dt_translator_end(struct dt_parse *, struct dt_translator *);

#endif
