/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session: everything that the compiler knows between one source and the next. Each layer
 * defines what its own fields point to. Internal to host/dt.
 */
#ifndef HOST_DT_BASE_SESSION_H
#define HOST_DT_BASE_SESSION_H

#include "host/dt/base/error.h"
#include "host/dt/base/option.h"
#include "host/dt/dt.h"

#include <setjmp.h>

enum { DT_TEXT_BUCKETS = 64, DT_VERSION_NEWEST = 0x010d00 };

struct dt_pending_pragma { /* attributes or binding for a name that isn't known yet */
    const char *name;
    bool is_binding, used;
    struct dt_attributes_short attributes;
    unsigned version;
    struct dt_location location;
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
    int32_t target; /* $target, for the clause that is being compiled */
    const int32_t *targets;
    unsigned ntargets; /* several: the clauses that name $target are compiled for each */
    int32_t consumer;  /* $pid */
    struct dt_options options;

    /* Errors. */
    struct dt_error error;
    bool failed;
    jmp_buf *recover;      /* NULL: nothing is being compiled */
    struct dt_text *texts; /* all sources, the newest first */
    struct dt_parse *parse;

    /* Types: D's own and the ELFs'. */
    struct dt_type *string;
    const struct dt_type *basics[DT_BASIC_COUNT];
    struct dt_type_name **type_names;
    struct dt_type_text *type_texts[DT_TEXT_BUCKETS];
    struct dt_elf *elfs, **elfs_end;
    uint8_t kernel_id[20]; /* dtrace_image.kernel; all 0: there is no kernel among the ELFs */

    /* Identifiers by scope. Declarations are entered while they are parsed; built-in variables,
     * subroutines, actions and aggregating functions are in `globals` from the beginning. */
    struct dt_identhash *globals, *externs;
    struct dt_identhash *threads;      /* self-> */
    struct dt_identhash *locals;       /* this-> */
    struct dt_identhash *aggregations; /* @ */
    uint32_t next_variable;
    struct dt_translator *translators, **translators_end; /* in the order of definition */
    unsigned translators_depth;                           /* of the deepest member */
    struct dt_pending_pragma *pending;
    struct dt_provider_pragma *providers;
    struct dt_derived_entry *derived; /* in the order of definition */
    bool base_is_older; /* of a derived probe: it lacks arguments that this one needs */
    void (*find_derived)(void *arg,
                         struct dt_session *); /* more of them; NULL: there are no more */
    void *find_derived_arg;
    unsigned (*find_processes)(void *arg, const char *name, const int32_t **pids,
                               const char **why); /* NULL: none */
    void *find_processes_arg;
    /* Defines an inline of that type and value, and returns its name: session/, which sees the
     * parser, for check/, which doesn't. */
    const char *(*define_inline)(struct dt_session *, const char *type, const char *text);
    unsigned inlines;                /* so defined */
    struct dt_helper_entry *helpers; /* of programs, as they were found */
    bool no_helpers;                 /* the target runs none */
    struct dt_program *helpers_made; /* their objects; NULL: not compiled yet */
    /* Compiles them, at most once: session/, for code/. */
    struct dt_program *(*make_helpers)(struct dt_session *);
    struct dt_helper *helper; /* this session compiles one, and nothing else; else NULL */

    struct dt_programs *programs; /* the programs under construction */
    bool libraries_loaded;
    bool distrusted; /* dt_session_distrust() */
};

/* Returns the D version in force: major << 16 | minor << 8 | micro, as 0x010d00. */
unsigned dt_session_version(const struct dt_session *);

#endif
