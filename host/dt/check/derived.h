/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Derived probes: those that no provider of the target has, made of one that it has (struct
 * dt_derived). A clause on one is compiled as a clause on its base, with the derived probe's
 * predicate in front of its own. Internal to host/dt.
 */
#ifndef HOST_DT_CHECK_DERIVED_H
#define HOST_DT_CHECK_DERIVED_H

#include "host/dt/check/program.h"
#include "host/dt/tree/ast.h"

struct dt_derived_entry {
    struct dt_derived probe;
    struct dt_derived_entry *next;
};

/* The tests and values below are checked as expressions of the base probe of the clause that is
 * being compiled. */
/* Returns the predicate (checked); NULL: the probe has none. */
struct dt_node *dt_derived_predicate(struct dt_session *, struct dt_clause *, struct dt_location);
/* Makes of the built-in variable (argN, probeprov, probemod, probefunc, probename) what it is in
 * the clause's derived probe. False: it is the base's. */
bool dt_derived_variable(struct dt_session *, struct dt_node *, const struct dt_ident *);
/* Returns the (checked) value of args[n]; NULL: there is none. */
struct dt_node *dt_derived_argument(struct dt_session *, struct dt_location, unsigned n);

#endif
