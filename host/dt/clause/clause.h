/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clauses: their probe descriptions, statements, actions and aggregations. Internal to host/dt.
 */
#ifndef HOST_DT_CLAUSE_CLAUSE_H
#define HOST_DT_CLAUSE_CLAUSE_H

#include "host/dt/check/program.h"
#include "host/dt/tree/ast.h"
#include "host/dt/printf.h"

/* Checks a clause, makes its DIF, and adds it to the program. The parser calls it for each clause,
 * in order. clause: a DT_NODE_CLAUSE. description: the source text of its probe descriptions. */
void dt_clause_compile(struct dt_session *, struct dt_program *, struct dt_node *clause,
                       const char *description);
/* Makes of a description pid:NAME:… one of each process of that name, pidN:a.out:…. Fails if there
 * is none. */
void dt_clause_name_processes(struct dt_session *, struct dt_node *probes);
/* Matches the clause's descriptions. Fails if one matches no probe and -Z doesn't allow that. */
void dt_clause_probes(struct dt_session *, struct dt_clause *);
/* Adds to the list (const struct dt_derived *) the derived probes that the clause's descriptions
 * match, and removes the descriptions that match no others. */
void dt_clause_derived(struct dt_session *, struct dt_node *clause, struct dt_array *);
struct dt_program *dt_program_new(struct dt_session *);
struct dt_programs *dt_programs_new(struct dt_session *);
/* Ends the compilation that an error has interrupted. */
void dt_programs_forget(struct dt_session *);

/* Each makes actions of the clause: of a statement, of a call of an action, of an assignment to an
 * aggregation. */
void dt_statement(struct dt_session *, struct dt_clause *, struct dt_node *);
void dt_action_call(struct dt_session *, struct dt_clause *, struct dt_node *call);
void dt_aggregate(struct dt_session *, struct dt_clause *, struct dt_node *agg,
                  struct dt_node *call);
/* Adds an empty action of that kind to the clause. */
struct dtrace_image_action *dt_action_add(struct dt_session *, struct dt_clause *, uint16_t kind);
/* Adds an action that records a checked value, as trace() does. */
void dt_action_datum(struct dt_session *, struct dt_clause *, struct dt_node *, uint32_t format);
/* Adds the action of stack(), sym() and the like, also as an aggregation's key. False: the call is
 * none of them. */
bool dt_action_location(struct dt_session *, struct dt_clause *, struct dt_node *call,
                        uint32_t format);
bool dt_is_location_call(const struct dt_node *);
/* Returns the type of such a call as a key: a stack, or an address that prints as a symbol. */
const struct dt_type *dt_location_type(struct dt_session *, const struct dt_node *call);
/* Checks printf's arguments against its format. */
void dt_printf_check(struct dt_session *, const struct dt_node *call, struct dt_printf *,
                     struct dt_node *args);
/* Checks the types of the (first) aggregation's keys against printa's format, which may ask for
 * more keys or fewer. */
void dt_printa_check(struct dt_session *, const struct dt_node *call, const struct dt_printf *,
                     const struct dt_aggregation_info *);

#endif
