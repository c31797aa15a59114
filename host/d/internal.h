/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the compiler's parts share. Front: session.c, lexer*, grammar.y, decl*.c, type*.c, ident.c,
 * macro.c, pragma*.c, option*.c, cpp.c, library.c, error.c, printf_parse.c, elf*.c. Back (back.h):
 * check*.c, expand.c, fold.c, clause*.c, part.c, statement.c, action*.c, aggregation*.c,
 * codegen*.c, code.c, image_make.c, disassemble.c.
 *
 * Memory is the session's arena: freed with it, never before. An error ends the compilation at once
 * (d_fail() does not return); d_compile() is where it comes back.
 */
#ifndef HOST_D_INTERNAL_H
#define HOST_D_INTERNAL_H

#include "host/d/ast.h"

#include <stdarg.h>

/* ---- front: memory and errors ------------------------------------------------------------------
 */

void *d_alloc(struct d_session *, size_t); /* zeroed; never NULL (ends the program) */
const char *d_strdup(struct d_session *, const char *);
const char *d_sprintf(struct d_session *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct d_array { /* grows in the arena */
    void *data;
    unsigned n, room;
};
void d_room(struct d_session *, struct d_array *, size_t size); /* for one more element */
/* A new zeroed last element of `size` bytes. Earlier ones may move. */
void *d_list_add(struct d_session *, struct d_array *, size_t size);
_Noreturn void d_fail(struct d_session *, struct d_place, const char *tag, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Runs fn(arg); true if it did not fail. The compilation goes on in both cases. */
bool d_try(struct d_session *, void (*fn)(void *arg), void *arg);
/* The tag of the last error that d_try() caught; and a failure with that error. */
const char *d_caught_tag(const struct d_session *);
_Noreturn void d_fail_again(struct d_session *);

/* ---- front: what the parser hands over ---------------------------------------------------------
 */

/* Identifiers by scope. Declarations are entered while parsing; built-in variables, subroutines,
 * actions and aggregating functions are entered by d_builtins_define() (back) into `globals` when
 * the session is made. */
struct d_identhash *d_session_globals(struct d_session *);
struct d_identhash *d_session_threads(struct d_session *);    /* self-> */
struct d_identhash *d_session_locals(struct d_session *);     /* this-> */
struct d_identhash *d_session_agg_idents(struct d_session *); /* @ */
void d_builtins_define(struct d_session *);                   /* back */
/* A fresh number for a D variable: DIF_VAR_OTHER_USER and up. Front. */
uint32_t d_variable_number(struct d_session *);
/* How many of them there are: the machine's tables are this large. */

struct d_member_value { /* of a translator: member = expression; */
    const char *name;
    struct d_node *value;
    struct d_place place;
    struct d_member_value *next;
};
struct d_translator { /* translator OUTPUT < INPUT name > { members }; */
    const struct d_type *output, *input;
    const char *input_name;
    struct d_ident *input_ident; /* XLATOR: what input_name means inside it */
    struct d_member_value *members;
    struct d_place place;
    struct d_translator *next;
};
/* Front: all translators known, in the order of definition. The parser calls d_translator_check()
 * (back) as soon as it has read one. */
struct d_translator *d_session_translators(struct d_session *);
void d_translator_check(struct d_session *, struct d_translator *);
/* The parser calls this (back) for each `inline`, after it made ident (kind INLINE, inline_body,
 * inline_parameters with their types). */
void d_inline_check(struct d_session *, struct d_ident *);
/* The parser calls this (back) for each clause, in order: checks it, makes its DIF, adds it to the
 * program. clause: a D_NODE_CLAUSE. description: the source text of its probe descriptions. */
void d_clause_compile(struct d_session *, struct d_program *, struct d_node *clause,
                      const char *description);
struct d_program *d_program_new(struct d_session *); /* back */

/* Front: value of an integer constant expression (array sizes, enumerators, bit-field widths):
 * checks the tree (back: d_check_expression) and wants a constant. */
const struct d_type *d_check_expression(struct d_session *,
                                        struct d_node *); /* back; cooks a tree */
/* Front: a symbol of an ELF: object may be NULL or "". False: unknown. */
bool d_symbol_lookup(struct d_session *, const char *object, const char *name, uint64_t *address,
                     const struct d_type **type);
/* Front: an enumerator of an ELF's; object as above. */
bool d_enumerator_lookup(struct d_session *, const char *object, const char *name, int64_t *value);
const struct d_model *d_session_model(const struct d_session *);
const struct d_probe_source *d_session_probes(const struct d_session *);
/* argument.c: type of the probe's args[n]; NULL: there is none, or it is not known. */
enum { D_ARGUMENT_FROM = 2 };
struct d_argument { /* args[n] of a probe */
    const struct d_type *type;
    bool translated; /* type is a pointer to a struct, which a translator makes */
    unsigned nfrom;  /* of how many of the probe's arguments; 1 if it isn't translated */
    unsigned from[D_ARGUMENT_FROM]; /* their numbers */
};
bool d_argument_of(struct d_session *, const struct d_probe_info *, unsigned n,
                   struct d_argument *); /* false: the probe has no args[n] */
/* Whether args[n] is the same of both probes. */
bool d_arguments_agree(struct d_session *, const struct d_probe_info *, const struct d_probe_info *,
                       unsigned n);
/* Front: whether an @ as arg of `version=`: D version in force, major << 16 | minor << 8 as
 * 0x010d00 */
unsigned d_session_version(const struct d_session *);

/* Back: numbers handed to the image. See d.h for the public ones. */
uint32_t d_format_add(struct d_session *, const struct d_format *);
uint64_t d_datum_type_add(struct d_session *, const struct d_type *);

/* The back end's own state, made by d_back_new() when the session is, kept for it by the front. */
struct d_back;
struct d_back *d_back_new(struct d_session *);                /* back */
void d_back_forget(struct d_session *);                       /* back: what an error broke off */
struct d_back *d_session_back(const struct d_session *);      /* front */
const uint8_t *d_session_kernel_id(const struct d_session *); /* elf_kernel.c: d_image.kernel */

#endif
