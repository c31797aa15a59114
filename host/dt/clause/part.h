/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of a clause. Internal to clause.c, clause_probes.c and part.c.
 */
#ifndef HOST_DT_CLAUSE_PART_H
#define HOST_DT_CLAUSE_PART_H

#include "host/dt/clause/clause.h"

/* A predicate and a list of actions: an ECB for each of the clause's probe descriptions. */
struct dt_part {
    struct dt_clause *clause;
    uint32_t predicate; /* object + 1 */
    uint32_t first_action;
    bool any; /* a part of this clause was made already */
};

/* Ends the part: its ECBs are made, and the next one begins under the same predicate. */
void dt_part_end(struct dt_session *, struct dt_part *);
bool dt_part_has_actions(const struct dt_part *);
/* The object + 1 of a predicate; NULL: 0. */
uint32_t dt_part_predicate(struct dt_session *, struct dt_clause *, struct dt_node *);
void dt_part_statements(struct dt_session *, struct dt_part *, struct dt_node *list);
unsigned dt_count_ifs(const struct dt_node *list);
/* The first parts of a clause with so many `if`. */
void dt_part_begin_conditional(struct dt_session *, struct dt_part *, struct dt_node *clause,
                               unsigned ifs);

/* clause_probes.c: fails if a description matches none and -Z doesn't allow that. */
void dt_clause_probes(struct dt_session *, struct dt_clause *);

#endif
