/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compiler's front end, inside: the session and the source that is being compiled. Internal to
 * the front end; internal.h is what both ends share.
 */
#ifndef HOST_DT_FRONT_H
#define HOST_DT_FRONT_H

#include "host/dt/arena.h"
#include "host/dt/decl.h"
#include "host/dt/internal.h"
#include "host/dt/option.h"

#include <setjmp.h>

/* ---- memory ------------------------------------------------------------------------ */

const char *dt_strndup(struct dt_session *, const char *, size_t);
const char *dt_vsprintf(struct dt_session *, const char *format, va_list);

/* ---- the source being compiled ----------------------------------------------------- */

struct dt_line { /* where a line of the text comes from, and where it lies */
    const char *file, *start;
    unsigned number;
};

struct dt_parse {
    struct dt_session *session;
    const struct dt_source *source;
    struct dt_program *program; /* NULL: a library, which has no clauses */
    struct dt_parse *earlier;   /* all of the session's sources, for an error's source line */
    const char *text, *end;
    const char *at;        /* what the lexer has read */
    const char *token;     /* where the last token begins */
    struct dt_place place; /* of `at` */
    struct dt_array lines; /* struct dt_line */
    void *scanner;

    bool in_item, in_clause, in_predicate; /* where the lexer is */
    unsigned braces, parens, brackets;
    int previous;    /* the token before */
    bool in_heading; /* of a translator: a { there is no struct's body */
    bool after_tag;  /* the token before is a struct's tag: no type name follows */
    const char *description_start, *description_end;
    unsigned items; /* clauses and declarations so far */
    unsigned clauses;

    struct dt_scope *scope; /* of declarations */
    struct dt_array names;  /* const char *: inline parameters, which hide types */
    bool *argument_used;    /* argc of them */
};

/* ---- the session ------------------------------------------------------------------- */

enum { DT_TEXT_BUCKETS = 64, DT_VERSION_NEWEST = 0x010d00 };

struct dt_type_text {
    const struct dt_type *type;
    const char *text;
    struct dt_type_text *next;
};

struct dt_type_name;
struct dt_pending_pragma { /* attributes or binding for a name that isn't known yet */
    const char *name;
    bool is_binding, used;
    struct dt_attributes_short attributes;
    unsigned version;
    struct dt_place place;
    struct dt_pending_pragma *next;
};

struct dt_provider_pragma { /* attributes of a part of a provider's probes */
    const char *provider;
    unsigned part; /* as struct dtrace_attributes has them */
    struct dt_attributes_short attributes;
    struct dt_provider_pragma *next; /* an earlier one */
};

struct dt_session {
    struct dt_arena arena;
    const struct dt_model *model;
    const struct dt_probe_source *probes;
    struct dt_identhash *globals, *threads, *locals, *aggregations, *externs;
    struct dt_translator *translators, **translators_end;
    unsigned translators_depth; /* of the deepest member */
    struct dt_back *back;
    uint32_t next_variable;
    int32_t target;   /* $target */
    int32_t consumer; /* $pid */

    struct dt_error error;
    bool failed;
    jmp_buf *recover; /* NULL: nothing is being compiled */
    struct dt_parse *parse, *parses;
    bool libraries_loaded;
    bool distrusted; /* dt_session_distrust() */
    struct dt_pending_pragma *pending;
    struct dt_provider_pragma *providers;

    struct dt_type *string;
    const struct dt_type *basics[DT_BASIC_COUNT];
    struct dt_type_name **type_names;
    struct dt_type_text *texts[DT_TEXT_BUCKETS];
    struct dt_options options;
    struct dt_elf *elfs, **elfs_end;
    uint8_t kernel_id[20]; /* dtrace_image.kernel; all 0: there is no kernel among them */
};

/* ---- parts ------------------------------------------------------------------------- */

void dt_types_define(struct dt_session *);   /* type_basic.c */
void dt_libraries_load(struct dt_session *); /* library.c; fails as a compilation does */
void dt_source_parse(struct dt_session *, const struct dt_source *, const char *text, size_t size,
                     struct dt_program *);                                     /* parse.c */
const char *dt_file_read(struct dt_session *, const char *path, size_t *size); /* compile.c */
/* library.c: what `#pragma D depends_on KIND NAME` asks for is there. */
bool dt_dependency_met(struct dt_session *, const char *kind, const char *name);
/* cpp.c: the source through the system's preprocessor. */
const char *dt_preprocess(struct dt_session *, const struct dt_source *, const char *text,
                          size_t *size);

/* lexer.l, grammar.y */
void dt_lexer_start(struct dt_parse *);
int dt_yyparse(struct dt_parse *);
void dt_lexer_advance(struct dt_parse *, const char *text, size_t n);
bool dt_name_is_type(struct dt_parse *, const char *name);

/* constant.c: tokens to nodes. text is not NUL-terminated. */
struct dt_node *dt_integer_constant(struct dt_parse *, struct dt_place, const char *text, size_t n);
struct dt_node *dt_character_constant(struct dt_parse *, struct dt_place, const char *text,
                                      size_t n);
struct dt_node *dt_string_constant(struct dt_parse *, struct dt_place, const char *text, size_t n);
const struct dt_type *dt_constant_type(struct dt_session *, uint64_t value, bool decimal,
                                       bool is_unsigned, unsigned longs);

/* macro.c */
enum dt_macro_kind { DT_MACRO_INTEGER, DT_MACRO_STRING, DT_MACRO_NAME };
/* $name, $n (text without the $): false: it has no value. *text: the value. */
bool dt_macro_value(struct dt_parse *, const char *name, size_t n, const char **text);
enum dt_macro_kind dt_macro_kind(const char *value);
void dt_macros_check_used(struct dt_parse *);

/* pragma.c: a whole # line. */
void dt_directive(struct dt_parse *, struct dt_place, const char *text, size_t n);
/* Options by pragma count wherever they stand: those that are valid are set before
 * anything else. */
void dt_pragma_options_scan(struct dt_session *, const char *text, size_t n);
void dt_pragmas_check_used(struct dt_parse *);
/* A name was defined: attributes and bindings that a pragma gave it before. */
void dt_pragma_apply(struct dt_session *, struct dt_ident *);

/* probe.c */
struct dt_node *dt_probe_by_text(struct dt_parse *, struct dt_place, const char *text);
struct dt_node *dt_probe_by_id(struct dt_parse *, struct dt_place, uint64_t id);

/* node.c: what the grammar builds */
struct dt_nodes { /* a list */
    struct dt_node *first, *last;
};
struct dt_node *dt_node_index(struct dt_parse *, struct dt_place, struct dt_node *of,
                              struct dt_node *args);
struct dt_node *dt_node_unary(struct dt_parse *, struct dt_place, int op, struct dt_node *);
struct dt_node *dt_node_binary(struct dt_parse *, struct dt_place, int op, struct dt_node *,
                               struct dt_node *);
struct dt_node *dt_node_with(struct dt_parse *, enum dt_node_kind, struct dt_place,
                             struct dt_node *left);
struct dt_node *dt_node_list(struct dt_parse *, struct dt_node *, struct dt_node *args);
struct dt_node *dt_node_ternary(struct dt_parse *, struct dt_place, struct dt_node *condition,
                                struct dt_node *yes, struct dt_node *no);
struct dt_node *dt_node_xlate(struct dt_parse *, struct dt_place, const struct dt_type *,
                              struct dt_node *);
struct dt_node *dt_node_name(struct dt_parse *, struct dt_place, const char *scope,
                             const char *name);
struct dt_node *dt_node_call(struct dt_parse *, struct dt_place, struct dt_node *function,
                             struct dt_node *args);
struct dt_node *dt_node_if(struct dt_parse *, struct dt_place, struct dt_node *condition,
                           struct dt_node *body, struct dt_node *otherwise);
void dt_clause_end(struct dt_parse *, struct dt_place, struct dt_node *probes,
                   struct dt_node *predicate, struct dt_node *body);

/* ident.c */
void dt_ident_insert(struct dt_session *, struct dt_identhash *, struct dt_ident *);

/* elf.c */
struct dt_elf;
/* kind: STRUCT, UNION, ENUM, TYPEDEF (any other named type). NULL: unknown. */
const struct dt_type *dt_elf_type(struct dt_session *, const char *object, enum dt_type_kind,
                                  const char *name);
bool dt_elf_is_open(const struct dt_session *, const char *name);
bool dt_elf_symbol(struct dt_session *, const char *object, const char *name, uint64_t *address,
                   const struct dt_type **);
/* Returns the type of a function of the kernel; NULL: unknown, or not unique. */
const struct dt_type *dt_elf_function(struct dt_session *, const char *name);
void dt_elfs_close(struct dt_session *);

#endif
