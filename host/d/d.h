/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The D compiler, as the command and its tests use it. A session holds everything: options, types,
 * identifiers, programs; nothing is global, so that many can be at work in one process.
 *
 *   struct d_session *d = d_session_new(&d_model_lp64);
 *   d_option_set(d, "strsize", "64", D_FROM_COMMAND);
 *   struct d_program *p = d_compile(d, &source);     NULL: d_session_error(d)
 *   image = d_program_image(p, &size);               what goes to the target
 */
#ifndef HOST_D_D_H
#define HOST_D_D_H

#include "host/d/type.h"
#include "trace/d/d.h"

#include <stdio.h>

struct d_program;

/* An error of the compiler: `[tag] line N: text`. tag without the leading "D_" is never NULL. */
struct d_error {
    const char *tag;       /* "D_SYNTAX"; "": the text is all (a file can't be read, cpp failed) */
    const char *file;      /* NULL: a description of the command line */
    unsigned line, column; /* from 1; 0: unknown */
    const char *source_line; /* the line's text, for the caret; NULL: unknown */
    const char *text;
};

/* What the compiler asks of the target while it compiles: does a description match, what are the
 * types of a probe's arguments. The command supplies it from its target. */
struct d_probe_info {
    uint32_t id;
    const char *provider, *module, *function, *name;
    struct d_attributes attributes, argument_attributes;
};
struct d_probe_source {
    /* Calls fn for each probe that the description matches (after providers created what it asks
     * for) until fn returns false; the number of calls. */
    unsigned (*each)(void *arg, const char *provider, const char *module, const char *function,
                     const char *name, uint32_t id,
                     bool (*fn)(void *fn_arg, const struct d_probe_info *), void *fn_arg);
    /* C type of the probe's args[n]; NULL: there is none. */
    const char *(*argument_type)(void *arg, uint32_t id, unsigned n);
    void *arg;
};

struct d_session *d_session_new(const struct d_model *, const struct d_probe_source *);
void d_session_free(struct d_session *);
void d_session_target(struct d_session *, int32_t pid); /* $target; 0 before */
/* $pid: the process that has the consumer, on the target; this one before. 0: none is known. */
void d_session_consumer(struct d_session *, int32_t pid);
/* Types and symbols of an ELF, as `name` (before the backquote); kernel: also without a name. */
bool d_session_add_elf(struct d_session *, const char *path, const char *name, bool kernel);
/* bias: where it is loaded, minus where it was linked. */
bool d_session_add_elf_at(struct d_session *, const char *path, const char *name, bool kernel,
                          uint64_t bias);
/* The probe with the attributes that `#pragma D attributes … provider` gives it. */
struct d_probe_info d_session_stability(const struct d_session *, const struct d_probe_info *);
const struct d_error *d_session_error(const struct d_session *);
/* C type of the probe's args[n]: the source's, or of a function probe the ELF's; NULL: none. */
const char *d_session_argument_type(struct d_session *, const struct d_probe_info *, unsigned n);

/* What a source without colons means: -P, -m, -f, -n, -i. A script is D_SPEC_NAME with pspec off.
 */
enum d_spec { D_SPEC_PROVIDER, D_SPEC_MODULE, D_SPEC_FUNCTION, D_SPEC_NAME, D_SPEC_ID };

struct d_source {
    const char *text; /* NUL-terminated; NULL: read `file` */
    const char *file; /* the script's path, also in messages; NULL: from the command line */
    enum d_spec spec;
    bool is_description; /* -n and the like: a bare description, or with predicate and actions */
    int argc;            /* $0 (the script's path or the text's name), $1 … */
    const char *const *argv;
};

struct d_program *d_compile(struct d_session *, const struct d_source *);

/* ---- options: by pragma, by -x --------------------------------------------------------------- */

/* D_FROM_CAPTURE: of a program that came in a capture or from a target, as its own command line had
 * it. */
enum d_option_origin { D_FROM_COMMAND, D_FROM_PRAGMA, D_FROM_SETOPT, D_FROM_CAPTURE };
/* From here on the sources are not the user's: their pragmas may only set options that shape output
 * (ANYONE in host/d/options.def), so that compiling them runs no program and reads no file. */
void d_session_distrust(struct d_session *);
/* Whether only the user may set the option; true: there is no such option. */
bool d_option_is_users(const char *name);
/* NULL, or why not: "Invalid option name", "Invalid value for specified option", and for setopt()
 * "Operation illegal when tracing is active". value NULL: "name" alone. */
const char *d_option_set(struct d_session *, const char *name, const char *value,
                         enum d_option_origin);
/* The same with the value as d_option() gives it; unknown names are left alone. */
void d_option_put(struct d_session *, const char *name, uint64_t value);
/* The value: bytes, ns, flag, count, an enumeration; D_OPTION_UNSET if it was not set and has no
 * default. Names and kinds: host/d/options.def. */
#define D_OPTION_UNSET UINT64_MAX
uint64_t d_option(const struct d_session *, const char *name);
bool d_option_on(const struct d_session *, const char *name); /* set, and not to 0 */
/* "dtrace: cleaning rate reduced to 5000 hz": a line for each value that d_option() had to limit.
 */
void d_option_notes(const struct d_session *, FILE *);
const char *d_option_text(const struct d_session *, const char *name); /* of text options; NULL */

/* ---- programs: all of a session's programs make one image -------------------------------------
 */

/* The image of these programs under the session's options. malloc'ed. */
void *d_image_make(struct d_session *, struct d_program *const *, unsigned nprograms, size_t *size);
/* The name of an option of the image (enum d_option); NULL: there is no such one. */
const char *d_image_option_name(uint32_t option);
/* Clauses with their texts, by d_image_ecb.clause. */
struct d_clause_info {
    const char *description; /* as written, or as -v prints it */
    unsigned line;
    struct d_attributes description_attributes, statement_attributes;
    uint32_t first_ecb, necbs; /* of the image: one for each description of its list */
};
unsigned d_session_clauses(const struct d_session *);
const struct d_clause_info *d_session_clause(const struct d_session *, uint32_t clause);
/* Clauses times probes, when it was compiled. */
unsigned d_program_matched(const struct d_program *);
/* What was compiled: the source's text, with -C what the preprocessor made of it. *size bytes,
 * which live as long as the session. */
const char *d_program_text(const struct d_program *, size_t *size);
/* -S: every object of a program, in order. */
void d_program_disassemble(const struct d_program *, FILE *);

/* ---- what records mean: by d_recdesc.format and .uarg ------------------------------------------
 */

/* What the consumer needs of an action beyond its bytes: numbered from 1 in d_recdesc.format. All
 * records of one action (printf and its arguments) bear the same number. */
struct d_format {
    enum d_action_kind kind;           /* PRINTF, PRINTA, SYSTEM, FREOPEN, LIBACT … */
    uint64_t arg;                      /* LIBACT: enum d_libact */
    const char *text;                  /* printf's format string; NULL: none (printa(@)) */
    struct d_printf *parsed;           /* host/d/printf.h; NULL: none */
    const struct d_type *const *types; /* of the arguments, in order */
    unsigned ntypes;
    const uint32_t *aggregations; /* printa, clear, trunc …: the @variables' numbers */
    unsigned naggregations;
};
const struct d_format *d_session_format(const struct d_session *, uint32_t number);

struct d_aggregation_info { /* an @variable: numbered from 1, in order of first appearance */
    const char *name;       /* "" for the unnamed one */
    enum d_action_kind function;
    uint64_t shape; /* lquantize's, llquantize's arg */
    const struct d_type *const *keys;
    unsigned nkeys;
};
unsigned d_session_aggregations(const struct d_session *);
const struct d_aggregation_info *d_session_aggregation(const struct d_session *, uint32_t number);

/* The type of a datum that trace(), print() recorded, by d_recdesc.uarg; NULL: none. */
const struct d_type *d_session_datum_type(const struct d_session *, uint64_t uarg);

/* ---- symbols -----------------------------------------------------------------------------------
 */

struct d_symbol {
    const char *object, *name; /* name NULL: only the object is known */
    uint64_t offset;           /* of the address in the symbol */
    uint64_t place;            /* and in the object, from where it begins */
};
bool d_symbol_at(struct d_session *, uint64_t address, bool user, struct d_symbol *);
/* Where its text was linked: its executable segment. */
bool d_object_text(const struct d_session *, const char *object, uint64_t *start);
/* In the program `object`, as it was linked. */
bool d_symbol_in(struct d_session *, const char *object, uint64_t address, struct d_symbol *);

#endif
