/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declarations shared by the compiler's parts. Front: session.c, lexer*, grammar.y, decl*.c,
 * type*.c, ident.c, macro.c, pragma*.c, option*.c, cpp.c, library.c, error.c, printf_parse.c,
 * elf*.c. Back (back.h): check*.c, expand.c, fold.c, clause*.c, part.c, statement.c, action*.c,
 * aggregation*.c, codegen*.c, code.c, image_make.c, disassemble.c.
 *
 * Memory is the session's arena: freed with it, never before. An error ends the compilation at once
 * (dt_fail() does not return); control returns in dt_compile().
 */
#ifndef HOST_DT_INTERNAL_H
#define HOST_DT_INTERNAL_H

#include "host/dt/ast.h"

#include <stdarg.h>

/* ---- front: memory and errors ------------------------------------------------------ */

void *dt_alloc(struct dt_session *, size_t); /* zeroed; never NULL (ends the program) */
const char *dt_strdup(struct dt_session *, const char *);
const char *dt_sprintf(struct dt_session *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct dt_array { /* grows in the arena */
    void *data;
    unsigned n, room;
};
void dt_room(struct dt_session *, struct dt_array *, size_t size); /* for one more element */
/* A new zeroed last element of `size` bytes. Earlier ones may move. */
void *dt_list_add(struct dt_session *, struct dt_array *, size_t size);
_Noreturn void dt_fail(struct dt_session *, struct dt_place, const char *tag, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));

/* Runs fn(arg); true if it did not fail. The compilation goes on in both cases. */
bool dt_try(struct dt_session *, void (*fn)(void *arg), void *arg);
/* The tag of the last error that dt_try() caught; and a failure with that error. */
const char *dt_caught_tag(const struct dt_session *);
_Noreturn void dt_fail_again(struct dt_session *);

/* ---- front: what the parser hands over --------------------------------------------- */

/* Identifiers by scope. Declarations are entered while parsing; built-in variables, subroutines,
 * actions and aggregating functions are entered by dt_builtins_define() (back) into `globals` when
 * the session is made. */
struct dt_identhash *dt_session_globals(struct dt_session *);
struct dt_identhash *dt_session_threads(struct dt_session *);    /* self-> */
struct dt_identhash *dt_session_locals(struct dt_session *);     /* this-> */
struct dt_identhash *dt_session_agg_idents(struct dt_session *); /* @ */
void dt_builtins_define(struct dt_session *);                    /* back */
/* A fresh number for a D variable: DIF_VAR_OTHER_USER and up. Front. */
uint32_t dt_variable_number(struct dt_session *);
/* How many of them there are: the machine's tables are this large. */

struct dt_member_value { /* of a translator: member = expression; */
    const char *name;
    struct dt_node *value;
    struct dt_place place;
    struct dt_member_value *next;
};
struct dt_translator { /* translator OUTPUT < INPUT name > { members }; */
    const struct dt_type *output, *input;
    const char *input_name;
    struct dt_ident *input_ident; /* XLATOR: what input_name means inside it */
    struct dt_member_value *members;
    struct dt_place place;
    struct dt_translator *next;
};
/* Front: all translators known, in the order of definition. The parser calls dt_translator_check()
 * (back) as soon as it has read one. */
struct dt_translator *dt_session_translators(struct dt_session *);
void dt_translator_check(struct dt_session *, struct dt_translator *);
/* The parser calls this (back) for each `inline`, after it made ident (kind INLINE, inline_body,
 * inline_parameters with their types). */
void dt_inline_check(struct dt_session *, struct dt_ident *);
/* The parser calls this (back) for each clause, in order: checks it, makes its DIF, adds it to the
 * program. clause: a DT_NODE_CLAUSE. description: the source text of its probe descriptions. */
void dt_clause_compile(struct dt_session *, struct dt_program *, struct dt_node *clause,
                       const char *description);
struct dt_program *dt_program_new(struct dt_session *); /* back */

/* Front: value of an integer constant expression (array sizes, enumerators, bit-field widths):
 * checks the tree (back: dt_check_expression) and wants a constant. */
const struct dt_type *dt_check_expression(struct dt_session *,
                                          struct dt_node *); /* back; cooks a tree */
/* Front: a symbol of an ELF: object may be NULL or "". False: unknown. */
bool dt_symbol_lookup(struct dt_session *, const char *object, const char *name, uint64_t *address,
                      const struct dt_type **type);
/* Front: an enumerator of an ELF's; object as above. */
bool dt_enumerator_lookup(struct dt_session *, const char *object, const char *name,
                          int64_t *value);
const struct dt_model *dt_session_model(const struct dt_session *);
const struct dt_probe_source *dt_session_probes(const struct dt_session *);
/* argument.c: type of the probe's args[n]; NULL: there is none, or it is not known. */
enum { DT_ARGUMENT_FROM = 2 };
struct dt_argument { /* args[n] of a probe */
    const struct dt_type *type;
    bool translated; /* type is a pointer to a struct, which a translator makes */
    unsigned nfrom;  /* of how many of the probe's arguments; 1 if it isn't translated */
    unsigned from[DT_ARGUMENT_FROM]; /* their numbers */
};
bool dt_argument_of(struct dt_session *, const struct dt_probe_info *, unsigned n,
                    struct dt_argument *); /* false: the probe has no args[n] */
/* Whether args[n] is the same of both probes. */
bool dt_arguments_agree(struct dt_session *, const struct dt_probe_info *,
                        const struct dt_probe_info *, unsigned n);
/* Front: whether an @ as arg of `version=`: D version in force, major << 16 | minor << 8 as
 * 0x010d00 */
unsigned dt_session_version(const struct dt_session *);

/* Back: numbers handed to the image. See d.h for the public ones. */
uint32_t dt_format_add(struct dt_session *, const struct dt_format *);
uint64_t dt_datum_type_add(struct dt_session *, const struct dt_type *);

/* The back end's own state, made by dt_back_new() when the session is, kept for it by the front. */
struct dt_back;
struct dt_back *dt_back_new(struct dt_session *);           /* back */
void dt_back_forget(struct dt_session *);                   /* back: what an error broke off */
struct dt_back *dt_session_back(const struct dt_session *); /* front */
const uint8_t *
dt_session_kernel_id(const struct dt_session *); /* elf_kernel.c: dtrace_image.kernel */

#endif
