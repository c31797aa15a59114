/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of a clause. Internal to clause.c, clause_probes.c and part.c.
 */
#ifndef HOST_D_PART_H
#define HOST_D_PART_H

#include "host/d/back.h"

/* One predicate, one list of actions: an ECB for each of the clause's probe descriptions. */
struct d_part {
    struct d_clause *clause;
    uint32_t predicate; /* object + 1 */
    uint32_t first_action;
    bool any; /* a part of this clause was made already */
};

/* Ends the part: its ECBs are made, and the next one begins under the same predicate. */
void d_part_end(struct d_session *, struct d_part *);
bool d_part_has_actions(const struct d_part *);
/* The object + 1 of a predicate; NULL: 0. */
uint32_t d_part_predicate(struct d_session *, struct d_clause *, struct d_node *);
void d_part_statements(struct d_session *, struct d_part *, struct d_node *list);
unsigned d_count_ifs(const struct d_node *list);
/* The first parts of a clause with so many `if`. */
void d_part_begin_conditional(struct d_session *, struct d_part *, struct d_node *clause,
                              unsigned ifs);

/* clause_probes.c: fails if a description matches none and -Z doesn't allow that. */
void d_clause_probes(struct d_session *, struct d_clause *);

#endif
