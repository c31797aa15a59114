/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compiler's front end, inside: the session and the source that is being compiled. Internal to
 * the front end; internal.h is what both ends share.
 */
#ifndef HOST_D_FRONT_H
#define HOST_D_FRONT_H

#include "host/d/arena.h"
#include "host/d/decl.h"
#include "host/d/internal.h"
#include "host/d/option.h"

#include <setjmp.h>

/* ---- memory ------------------------------------------------------------------------------------
 */

const char *d_strndup(struct d_session *, const char *, size_t);
const char *d_vsprintf(struct d_session *, const char *format, va_list);

/* ---- the source being compiled -----------------------------------------------------------------
 */

struct d_line { /* where a line of the text comes from, and where it lies */
    const char *file, *start;
    unsigned number;
};

struct d_parse {
    struct d_session *session;
    const struct d_source *source;
    struct d_program *program; /* NULL: a library, which has no clauses */
    struct d_parse *earlier;   /* all of the session's sources, for an error's source line */
    const char *text, *end;
    const char *at;       /* what the lexer has read */
    const char *token;    /* where the last token begins */
    struct d_place place; /* of `at` */
    struct d_array lines; /* struct d_line */
    void *scanner;

    bool in_item, in_clause, in_predicate; /* where the lexer is */
    unsigned braces, parens, brackets;
    int previous;    /* the token before */
    bool in_heading; /* of a translator: a { there is no struct's body */
    bool after_tag;  /* the token before is a struct's tag: no type name follows */
    const char *description_start, *description_end;
    unsigned items; /* clauses and declarations so far */
    unsigned clauses;

    struct d_scope *scope; /* of declarations */
    struct d_array names;  /* const char *: inline parameters, which hide types */
    bool *argument_used;   /* argc of them */
};

/* ---- the session -------------------------------------------------------------------------------
 */

enum { D_TEXT_BUCKETS = 64, D_VERSION_NEWEST = 0x010d00 };

struct d_type_text {
    const struct d_type *type;
    const char *text;
    struct d_type_text *next;
};

struct d_type_name;
struct d_pending_pragma { /* attributes or binding for a name that isn't known yet */
    const char *name;
    bool is_binding, used;
    struct d_attributes_short attributes;
    unsigned version;
    struct d_place place;
    struct d_pending_pragma *next;
};

struct d_provider_pragma { /* attributes of a part of a provider's probes */
    const char *provider;
    unsigned part; /* as struct d_attributes has them */
    struct d_attributes_short attributes;
    struct d_provider_pragma *next; /* an earlier one */
};

struct d_session {
    struct d_arena arena;
    const struct d_model *model;
    const struct d_probe_source *probes;
    struct d_identhash *globals, *threads, *locals, *aggregations, *externs;
    struct d_translator *translators, **translators_end;
    unsigned translators_depth; /* of the deepest member */
    struct d_back *back;
    uint32_t next_variable;
    int32_t target;   /* $target */
    int32_t consumer; /* $pid */

    struct d_error error;
    bool failed;
    jmp_buf *recover; /* NULL: nothing is being compiled */
    struct d_parse *parse, *parses;
    bool libraries_loaded;
    bool distrusted; /* d_session_distrust() */
    struct d_pending_pragma *pending;
    struct d_provider_pragma *providers;

    struct d_type *string;
    const struct d_type *basics[D_BASIC_COUNT];
    struct d_type_name **type_names;
    struct d_type_text *texts[D_TEXT_BUCKETS];
    struct d_options options;
    struct d_elf *elfs, **elfs_end;
    uint8_t kernel_id[20]; /* d_image.kernel; all 0: there is no kernel among them */
};

/* ---- parts -------------------------------------------------------------------------------------
 */

void d_types_define(struct d_session *);   /* type_basic.c */
void d_libraries_load(struct d_session *); /* library.c; fails as a compilation does */
void d_source_parse(struct d_session *, const struct d_source *, const char *text, size_t size,
                    struct d_program *);                                     /* parse.c */
const char *d_file_read(struct d_session *, const char *path, size_t *size); /* compile.c */
/* library.c: what `#pragma D depends_on KIND NAME` asks for is there. */
bool d_dependency_met(struct d_session *, const char *kind, const char *name);
/* cpp.c: the source through the system's preprocessor. */
const char *d_preprocess(struct d_session *, const struct d_source *, const char *text,
                         size_t *size);

/* lexer.l, grammar.y */
void d_lexer_start(struct d_parse *);
int d_yyparse(struct d_parse *);
void d_lexer_advance(struct d_parse *, const char *text, size_t n);
bool d_name_is_type(struct d_parse *, const char *name);

/* constant.c: tokens to nodes. text is not NUL-terminated. */
struct d_node *d_integer_constant(struct d_parse *, struct d_place, const char *text, size_t n);
struct d_node *d_character_constant(struct d_parse *, struct d_place, const char *text, size_t n);
struct d_node *d_string_constant(struct d_parse *, struct d_place, const char *text, size_t n);
const struct d_type *d_constant_type(struct d_session *, uint64_t value, bool decimal,
                                     bool is_unsigned, unsigned longs);

/* macro.c */
enum d_macro_kind { D_MACRO_INTEGER, D_MACRO_STRING, D_MACRO_NAME };
/* $name, $n (text without the $): false: it has no value. *text: the value. */
bool d_macro_value(struct d_parse *, const char *name, size_t n, const char **text);
enum d_macro_kind d_macro_kind(const char *value);
void d_macros_check_used(struct d_parse *);

/* pragma.c: a whole # line. */
void d_directive(struct d_parse *, struct d_place, const char *text, size_t n);
/* Options by pragma count wherever they stand: those that are valid are set before anything else.
 */
void d_pragma_options_scan(struct d_session *, const char *text, size_t n);
void d_pragmas_check_used(struct d_parse *);
/* A name was defined: attributes and bindings that a pragma gave it before. */
void d_pragma_apply(struct d_session *, struct d_ident *);

/* probe.c */
struct d_node *d_probe_by_text(struct d_parse *, struct d_place, const char *text);
struct d_node *d_probe_by_id(struct d_parse *, struct d_place, uint64_t id);

/* node.c: what the grammar builds */
struct d_nodes { /* a list */
    struct d_node *first, *last;
};
struct d_node *d_node_index(struct d_parse *, struct d_place, struct d_node *of,
                            struct d_node *args);
struct d_node *d_node_unary(struct d_parse *, struct d_place, int op, struct d_node *);
struct d_node *d_node_binary(struct d_parse *, struct d_place, int op, struct d_node *,
                             struct d_node *);
struct d_node *d_node_with(struct d_parse *, enum d_node_kind, struct d_place, struct d_node *left);
struct d_node *d_node_list(struct d_parse *, struct d_node *, struct d_node *args);
struct d_node *d_node_ternary(struct d_parse *, struct d_place, struct d_node *condition,
                              struct d_node *yes, struct d_node *no);
struct d_node *d_node_xlate(struct d_parse *, struct d_place, const struct d_type *,
                            struct d_node *);
struct d_node *d_node_name(struct d_parse *, struct d_place, const char *scope, const char *name);
struct d_node *d_node_call(struct d_parse *, struct d_place, struct d_node *function,
                           struct d_node *args);
struct d_node *d_node_if(struct d_parse *, struct d_place, struct d_node *condition,
                         struct d_node *body, struct d_node *otherwise);
void d_clause_end(struct d_parse *, struct d_place, struct d_node *probes, struct d_node *predicate,
                  struct d_node *body);

/* ident.c */
void d_ident_insert(struct d_session *, struct d_identhash *, struct d_ident *);

/* elf.c */
struct d_elf;
/* kind: STRUCT, UNION, ENUM, TYPEDEF (any other named type). NULL: unknown. */
const struct d_type *d_elf_type(struct d_session *, const char *object, enum d_type_kind,
                                const char *name);
bool d_elf_is_open(const struct d_session *, const char *name);
bool d_elf_symbol(struct d_session *, const char *object, const char *name, uint64_t *address,
                  const struct d_type **);
/* Of a function of the kernel; NULL: unknown, or it has no single one of that name. */
const struct d_type *d_elf_function(struct d_session *, const char *name);
void d_elfs_close(struct d_session *);

#endif
