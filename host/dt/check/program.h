/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs under construction: what the session has made of its sources so far, and what has
 * happened in the clause that is being compiled. Internal to host/dt.
 */
#ifndef HOST_DT_CHECK_PROGRAM_H
#define HOST_DT_CHECK_PROGRAM_H

#include "host/dt/base/session.h"
#include "host/dt/tree/ident.h"
#include "trace/dtrace/image.h"

/* A session's numbered lists, which its image and its consumer use. */
struct dt_programs {
    struct dt_array formats;      /* struct dt_format */
    struct dt_array datum_types;  /* const struct dt_type * */
    struct dt_array aggregations; /* struct dt_aggregation_info * */
    struct dt_array clauses;      /* struct dt_clause_info */
    struct dt_clause *clause;     /* the one that is compiled now; NULL: none */
    unsigned depth;               /* of inlines and translators being expanded */
    unsigned expansions;          /* of them so far */
    unsigned conditions;          /* hidden variables made for `if` */
};

/* An object, with its description for -S. */
struct dt_made_object {
    struct dif_object dif;
    const struct dt_type *result;
    const struct dt_type *const *var_types; /* of dif.vars */
};

struct dt_made_action {
    struct dtrace_image_action image; /* object and weight: numbers in the program's objects, + 1 */
};

struct dt_made_ecb {
    const char *provider, *module, *function, *name;
    uint32_t probe, predicate, first_action, nactions, clause, flags;
};

struct dt_program {
    struct dt_session *session;
    struct dt_array objects; /* struct dt_made_object */
    struct dt_array actions; /* struct dt_made_action */
    struct dt_array ecbs;    /* struct dt_made_ecb */
    unsigned matched;        /* clauses times probes */
    const char *text;        /* that was compiled */
    size_t text_size;
};

struct dt_probe_kind {
    struct dt_probe_info probe;
    struct dt_probe_kind *next;
};

/* The clause that is compiled: what has happened in it so far. */
struct dt_clause {
    struct dt_program *program;
    struct dt_node *probes;
    uint32_t number;                   /* of the clause */
    const struct dt_probe_info *probe; /* the first one that matches; NULL: none */
    bool many_kinds;                   /* others that match have another function or name */
    struct dt_probe_kind *kinds;       /* one of each provider and name that match */
    const struct dt_derived *derived;  /* the probes are its base; NULL: they are what is meant */
    bool records, speculates, commits, aggregates, exits, destructive;
    struct dt_attributes_short attributes; /* the least of all used */
    struct dtrace_attributes probe_attributes;
};

#endif
