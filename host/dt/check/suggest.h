/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * "Did you mean": see suggest.c. Internal to host/dt.
 */
#ifndef HOST_DT_CHECK_SUGGEST_H
#define HOST_DT_CHECK_SUGGEST_H

#include "host/dt/tree/ast.h"

/* Each returns what follows the message: "; did you mean NAME?", or "" if no name is near. */
const char *dt_suggest_function(struct dt_session *, const char *name);
/* scope: NULL, "self", "this"; others have no suggestions. */
const char *dt_suggest_variable(struct dt_session *, const char *scope, const char *name);
const char *dt_suggest_aggregation(struct dt_session *, const char *name);
const char *dt_suggest_probe(struct dt_session *, const struct dt_node *description);

/* A description whose function is QNX's name of a kernel call (MsgSend, Msg*) becomes a list of
 * descriptions with the names that the probes have; what followed it follows the last of them.
 * False: it is no such name. */
bool dt_probe_by_qnx_name(struct dt_session *, struct dt_node *description);

#endif
