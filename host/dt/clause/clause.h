/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clauses: their probe descriptions, statements, actions and aggregations. Internal to host/dt.
 */
#ifndef HOST_DT_CLAUSE_CLAUSE_H
#define HOST_DT_CLAUSE_CLAUSE_H

#include "host/dt/check/program.h"
#include "host/dt/tree/ast.h"
#include "host/dt/printf.h"

/* The parser calls this for each clause, in order: checks it, makes its DIF, adds it to the
 * program. clause: a DT_NODE_CLAUSE. description: the source text of its probe descriptions. */
void dt_clause_compile(struct dt_session *, struct dt_program *, struct dt_node *clause,
                       const char *description);
/* Matches the clause's descriptions. Fails if one matches no probe and -Z doesn't allow that. */
void dt_clause_probes(struct dt_session *, struct dt_clause *);
struct dt_program *dt_program_new(struct dt_session *);
struct dt_back *dt_back_new(struct dt_session *);
/* Forgets what an error has interrupted. */
void dt_back_forget(struct dt_session *);

void dt_statement(struct dt_session *, struct dt_clause *, struct dt_node *);
void dt_action_call(struct dt_session *, struct dt_clause *, struct dt_node *call);
void dt_aggregate(struct dt_session *, struct dt_clause *, struct dt_node *agg,
                  struct dt_node *call);
struct dtrace_image_action *dt_action_add(struct dt_session *, struct dt_clause *, uint16_t kind);
/* Records a checked value, as trace() does. */
void dt_action_datum(struct dt_session *, struct dt_clause *, struct dt_node *, uint32_t format);
/* stack(), sym() and the like as an action or an aggregation's key: false if it is none of them. */
bool dt_action_place(struct dt_session *, struct dt_clause *, struct dt_node *call,
                     uint32_t format);
bool dt_is_place_call(const struct dt_node *);
/* Its type as a key: a stack, or an address that prints as a symbol. */
const struct dt_type *dt_place_type(struct dt_session *, const struct dt_node *call);
/* printf's arguments against its format. */
void dt_printf_check(struct dt_session *, const struct dt_node *call, struct dt_printf *,
                     struct dt_node *args);
/* The keys of the (first) aggregation against printa's format: their types. There may be fewer than
 * the format asks for, or more. */
void dt_printa_check(struct dt_session *, const struct dt_node *call, const struct dt_printf *,
                     const struct dt_aggregation_info *);

#endif
