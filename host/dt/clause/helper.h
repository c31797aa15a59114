/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clauses of a program's helper (docs/guide/helpers.md) become one object, whose value is a
 * frame's name. Internal to host/dt.
 */
#ifndef HOST_DT_CLAUSE_HELPER_H
#define HOST_DT_CLAUSE_HELPER_H

#include "host/dt/tree/ast.h"

/* The helper of a session that compiles one, and nothing else. */
struct dt_helper {
    const char *guard;    /* D: whether the process runs the program */
    const char *program;  /* its name, in the session's ELF files */
    struct dt_node *body; /* of the clauses so far, one expression */
    unsigned statements;
};

/* Takes a clause: a DT_NODE_CLAUSE. */
void dt_helper_clause(struct dt_session *, const struct dt_node *clause);
/* Makes the object of all clauses, the program's only one. */
void dt_helper_end(struct dt_session *, struct dt_program *);

#endif
