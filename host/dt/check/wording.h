/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of messages that many checks have, in dtrace(1M)'s words. Internal to host/dt.
 */
#ifndef HOST_DT_CHECK_WORDING_H
#define HOST_DT_CHECK_WORDING_H

#include "host/dt/tree/ast.h"

enum dt_arg_kind { DT_ARG_CALL, DT_ARG_KEY };
/* Returns the type of a checked node's value, as messages name it. */
const char *dt_value_text(struct dt_session *, const struct dt_node *);
/* Returns "prototype mismatch: 1 arg passed, 2 expected". unit: "arg" or "key". */
const char *dt_mismatch_text(struct dt_session *, unsigned given, const char *unit, unsigned least,
                             unsigned most);
/* Returns "index( )" or "array[ ]". */
const char *dt_what_text(struct dt_session *, const char *what, enum dt_arg_kind);
/* Returns the name of an aggregating function (DTRACE_AGG_COUNT …): "count". */
const char *dt_agg_name(uint32_t function);
/* Fails: an action or an aggregating function is called where a value is wanted. */
_Noreturn void dt_fail_context(struct dt_session *, const struct dt_node *call, struct dt_location);

#endif
