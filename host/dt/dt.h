/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The D compiler, as the command and its tests use it. A session holds everything: options, types,
 * identifiers, programs; nothing is global, so that many can be at work in one process.
 *
 *   struct dt_session *d = dt_session_new(&dt_model_lp64);
 *   dt_option_set(d, "strsize", "64", DT_FROM_COMMAND);
 *   struct dt_program *p = dt_compile(d, &source);     NULL: dt_session_error(d)
 *   image = dt_program_image(p, &size);               what goes to the target
 */
#ifndef HOST_DT_D_H
#define HOST_DT_D_H

#include "host/dt/type.h"
#include "trace/dtrace/dtrace.h"

#include <stdio.h>

struct dt_program;
struct dt_derived;

/* An error of the compiler: `[tag] line N: text`. tag without the leading "D_" is never NULL. */
struct dt_error {
    const char *tag;       /* "D_SYNTAX"; "": the text is all (a file can't be read, cpp failed) */
    const char *file;      /* NULL: a description of the command line */
    unsigned line, column; /* from 1; 0: unknown */
    const char *source_line; /* the line's text, for the caret; NULL: unknown */
    const char *text;
};

/* The compiler's queries of the target: does a description match, what are the types of a probe's
 * arguments. The command supplies them from its target. */
struct dt_probe_info {
    uint32_t id;
    const char *provider, *module, *function, *name;
    struct dtrace_attributes attributes, argument_attributes;
    const struct dt_derived *derived; /* NULL: the target's; else id is 0 */
};
struct dt_probe_source {
    /* Calls fn for each probe that the description matches (after providers created what it asks
     * for) until fn returns false; the number of calls. */
    unsigned (*each)(void *arg, const char *provider, const char *module, const char *function,
                     const char *name, uint32_t id,
                     bool (*fn)(void *fn_arg, const struct dt_probe_info *), void *fn_arg);
    /* C type of the probe's args[n]; NULL: there is none. */
    const char *(*argument_type)(void *arg, uint32_t id, unsigned n);
    void *arg;
    /* Whether such probes may be there although each() knows none; NULL: it knows all. */
    bool (*may_have)(const char *provider, const char *function, const char *name);
    /* For a probe of a process: the name of the description's module, if that is another one, and
     * why nothing matched, as far as that is known: printed after the message. NULL itself:
     * never. */
    const char *(*module)(void *arg, const char *provider, const char *module);
    const char *(*why_none)(void *arg, struct dt_session *, const char *const fields[4]);
};

struct dt_session *dt_session_new(const struct dt_model *, const struct dt_probe_source *);
void dt_session_free(struct dt_session *);
/* $target, 0 before: a clause that names it is compiled once for each of several processes. */
void dt_session_targets(struct dt_session *, const int32_t *pids, unsigned n);
/* find: returns how many processes have that name, all of which a description pid:NAME:… means. 0:
 * a description with that name is an error; *why: what to say. */
void dt_session_processes(struct dt_session *,
                          unsigned (*find)(void *arg, const char *name, const int32_t **pids,
                                           const char **why),
                          void *arg);
/* A built-in variable that the target doesn't have: its use is an error, which ends with `why`. */
void dt_session_lacks(struct dt_session *, const char *variable, const char *why);
/* $pid: the process that has the consumer, on the target; this one before. 0: none is known. */
void dt_session_consumer(struct dt_session *, int32_t pid);
/* Types and symbols of an ELF, as `name` (before the backquote); kernel: also without a name.
 * Returns false if it can't be read; errno ENOMEM: for want of memory. */
bool dt_session_add_elf(struct dt_session *, const char *path, const char *name, bool kernel);
/* bias: where it is loaded, minus where it was linked. */
bool dt_session_add_elf_at(struct dt_session *, const char *path, const char *name, bool kernel,
                           uint64_t bias);
/* ---- derived probes ---------------------------------------------------------------- */

/* A probe that no provider of the target has: it fires when the probe `base` does and the predicate
 * is true. Texts are D, and are compiled as if they stood in a clause on the base. */
enum { DT_DERIVED_ARGUMENTS = 10 };
struct dt_derived_argument {
    const char *type, *name; /* of args[n] */
    const char *value;       /* an integer or a pointer; argN is its value as int64_t */
    const char *args;        /* args[n] if that isn't argn: a translation; NULL: it is */
};
struct dt_derived {
    const char *provider, *module, *function, *name;
    const char *base, *base_function, *base_name; /* its provider …; "": any function */
    unsigned base_args;                           /* that the base must have */
    const char *predicate;                        /* NULL: true */
    struct dt_derived_argument args[DT_DERIVED_ARGUMENTS];
    unsigned nargs;
};
/* The session has the probe from here on, and keeps copies; one that it has already is ignored. */
void dt_session_derive(struct dt_session *, const struct dt_derived *);
/* find: called once, when programs' probes are first asked for; it makes them known. */
void dt_session_derive_from(struct dt_session *, void (*find)(void *arg, struct dt_session *),
                            void *arg);
struct dt_probe_info dt_derived_info(const struct dt_derived *);
/* Calls fn for each derived probe that the description matches and whose base the target has, until
 * fn returns false; the number of calls. */
unsigned dt_derived_each(struct dt_session *, const char *provider, const char *module,
                         const char *function, const char *name,
                         bool (*fn)(void *fn_arg, const struct dt_probe_info *), void *fn_arg);

/* The probe with the attributes that `#pragma D attributes … provider` gives it. */
struct dt_probe_info dt_session_stability(const struct dt_session *, const struct dt_probe_info *);
const struct dt_error *dt_session_error(const struct dt_session *);
/* C type of the probe's args[n]: the source's, or of a function probe the ELF's; NULL: none. */
const char *dt_session_argument_type(struct dt_session *, const struct dt_probe_info *, unsigned n);

/* Meaning of a source without colons: -P, -m, -f, -n, -i. A script is DT_SPEC_NAME with pspec
 * off. */
enum dt_spec { DT_SPEC_PROVIDER, DT_SPEC_MODULE, DT_SPEC_FUNCTION, DT_SPEC_NAME, DT_SPEC_ID };

struct dt_source {
    const char *text; /* NUL-terminated; NULL: read `file` */
    const char *file; /* the script's path, also in messages; NULL: from the command line */
    enum dt_spec spec;
    bool is_description; /* -n and the like: a bare description, or with predicate and actions */
    int argc;            /* $0 (the script's path or the text's name), $1 … */
    const char *const *argv;
};

struct dt_program *dt_compile(struct dt_session *, const struct dt_source *);

/* ---- helpers: by them programs name their own frames ---------------------------------------- */

enum { DT_HELPER_ID_BYTES = 20 };
struct dt_helper_source {
    const char *program; /* its name */
    const char *path;    /* its ELF file, for types and functions */
    const char *text;    /* D; NULL: it has none that can be read, and `why` says why */
    const char *why;
    const uint8_t *id; /* its build id, DT_HELPER_ID_BYTES, */
    uint64_t id_at;    /* and where its process has that */
};
/* The session keeps copies. Helpers are compiled when an image with jstack(), or ustack() with room
 * for strings, is made; what is wrong with one is printed then, and it is left out. */
void dt_session_helper(struct dt_session *, const struct dt_helper_source *);
void dt_session_no_helpers(struct dt_session *); /* the target runs none */

/* ---- options: by pragma, by -x ----------------------------------------------------- */

/* DT_FROM_CAPTURE: of a program that came in a capture or from a target, as its own command line
 * had it. */
enum dt_option_origin { DT_FROM_COMMAND, DT_FROM_PRAGMA, DT_FROM_SETOPT, DT_FROM_CAPTURE };
/* From here on the sources are not the user's: their pragmas may only set options that shape output
 * (ANYONE in host/dt/options.def), so that compiling them runs no program and reads no file. */
void dt_session_distrust(struct dt_session *);
/* Returns the name of an option by its number, or NULL after the last one. */
const char *dt_option_name(unsigned number);
/* Whether only the user may set the option; true: there is no such option. */
bool dt_option_is_users(const char *name);
/* NULL, or why not: "Invalid option name", "Invalid value for specified option", and for setopt()
 * "Operation illegal when tracing is active". value NULL: "name" alone. */
const char *dt_option_set(struct dt_session *, const char *name, const char *value,
                          enum dt_option_origin);
/* Likewise, with the value as dtrace_option() returns it; unknown names are ignored. */
void dt_option_put(struct dt_session *, const char *name, uint64_t value);
/* The value: bytes, ns, flag, count, an enumeration; DT_OPTION_UNSET if it was not set and has no
 * default. Names and kinds: host/dt/options.def. */
#define DT_OPTION_UNSET UINT64_MAX
uint64_t dtrace_option(const struct dt_session *, const char *name);
bool dt_option_on(const struct dt_session *, const char *name); /* set, and not to 0 */
/* "dtrace: cleaning rate reduced to 5000 hz": a line for each value that dtrace_option() had to
 * limit. */
void dt_option_notes(const struct dt_session *, FILE *);

/* ---- programs: all of a session's programs make one image -------------------------- */

/* The image of these programs under the session's options. malloc'ed. */
void *dt_image_make(struct dt_session *, struct dt_program *const *, unsigned nprograms,
                    size_t *size);
/* The name of an option of the image (enum dtrace_option); NULL: there is no such one. */
const char *dt_image_option_name(uint32_t option);
/* Clauses with their texts, by dtrace_image_ecb.clause. */
struct dt_clause_info {
    const char *description; /* as written, or as -v prints it */
    unsigned line;
    struct dtrace_attributes description_attributes, statement_attributes;
    uint32_t first_ecb, necbs;        /* of the image: one for each description of its list */
    const struct dt_derived *derived; /* that its ECBs stand for; NULL: the target's probes */
};
unsigned dt_session_clauses(const struct dt_session *);
const struct dt_clause_info *dt_session_clause(const struct dt_session *, uint32_t clause);
/* Clauses times probes, when it was compiled. */
unsigned dt_program_matched(const struct dt_program *);
/* Returns the compiled text: the source's, with -C the preprocessor's output. *size bytes, valid as
 * long as the session. */
const char *dt_program_text(const struct dt_program *, size_t *size);
/* -S: every object of a program, in order. */
void dt_program_disassemble(const struct dt_program *, FILE *);

/* ---- what records mean: by dtrace_recdesc.format and .uarg ------------------------- */

/* The consumer's description of an action besides its bytes: numbered from 1 in
 * dtrace_recdesc.format. All records of one action (printf and its arguments) have the same
 * number. */
struct dt_format {
    enum dtrace_action_kind kind;       /* PRINTF, PRINTA, SYSTEM, FREOPEN, LIBACT … */
    uint64_t arg;                       /* LIBACT: enum dtrace_libact */
    const char *text;                   /* printf's format string; NULL: none (printa(@)) */
    struct dt_printf *parsed;           /* host/dt/printf.h; NULL: none */
    const struct dt_type *const *types; /* of the arguments, in order */
    unsigned ntypes;
    const uint32_t *aggregations; /* printa, clear, trunc …: the @variables' numbers */
    unsigned naggregations;
};
const struct dt_format *dt_session_format(const struct dt_session *, uint32_t number);

struct dt_aggregation_info { /* an @variable: numbered from 1, in order of first appearance */
    const char *name;        /* "" for the unnamed one */
    enum dtrace_action_kind function;
    uint64_t shape; /* lquantize's, llquantize's arg */
    const struct dt_type *const *keys;
    unsigned nkeys;
};
unsigned dt_session_aggregations(const struct dt_session *);
const struct dt_aggregation_info *dt_session_aggregation(const struct dt_session *,
                                                         uint32_t number);

/* The type of a datum that trace(), print() recorded, by dtrace_recdesc.uarg; NULL: none. */
const struct dt_type *dt_session_datum_type(const struct dt_session *, uint64_t uarg);

/* ---- symbols ----------------------------------------------------------------------- */

struct dt_symbol {
    const char *object, *name; /* name NULL: only the object is known */
    uint64_t offset;           /* of the address in the symbol */
    uint64_t location;         /* and in the object, from where it begins */
};
bool dt_symbol_at(struct dt_session *, uint64_t address, bool user, struct dt_symbol *);
/* Where its text was linked: its executable segment. */
bool dt_object_text(const struct dt_session *, const char *object, uint64_t *start);
/* In the program `object`, as it was linked. */
bool dt_symbol_in(struct dt_session *, const char *object, uint64_t address, struct dt_symbol *);

/* Data in a function: offsets. */
struct dt_data {
    uint64_t from, to;
};
/* A function of a program, as it was linked. */
struct dt_function {
    const char *name;
    uint64_t address, size;
    const uint8_t *text;
    uint64_t code; /* bytes before the first data in it */
    const struct dt_data *data;
    unsigned data_count;
};
/* Calls fn for each function of the program `object` that has code; returns their number. */
unsigned dt_object_functions(struct dt_session *, const char *object,
                             void (*fn)(void *arg, const struct dt_function *), void *arg);
/* Whether a function of it begins there. */
bool dt_object_starts(const struct dt_session *, const char *object, uint64_t address);
/* The name of a function of it that is nearest to `name`; NULL: none is near enough. */
const char *dt_object_nearest(struct dt_session *, const char *object, const char *name);

/* A line of source, and the function that it is in. */
struct dt_frame {
    const char *function; /* NULL: unknown */
    const char *file;     /* as the compiler was given it */
    unsigned line;        /* 0: unknown */
};
/* The frames at an address of the program `object`, NULL: the kernel, as it was linked: the
 * innermost inlined function first, the one that has a symbol last. Returns their number, at most
 * `most`; 0: the ELF file has no DWARF there. The strings live as long as the session. */
unsigned dt_frames_in(struct dt_session *, const char *object, uint64_t address,
                      struct dt_frame *frames, unsigned most);
/* The detail in which an ELF file of the session describes its addresses. */
enum dt_detail { DT_DETAIL_NONE, DT_DETAIL_NAMES, DT_DETAIL_LINES };
enum dt_detail dt_object_detail(const struct dt_session *, const char *object);

#endif
