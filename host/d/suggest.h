/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * "Did you mean": see suggest.c. Internal to host/d.
 */
#ifndef HOST_D_SUGGEST_H
#define HOST_D_SUGGEST_H

#include "host/d/ast.h"

/* Each returns what follows the message: "; did you mean NAME?", or "" if no name is near. */
const char *d_suggest_function(struct d_session *, const char *name);
/* scope: NULL, "self", "this"; others have no suggestions. */
const char *d_suggest_variable(struct d_session *, const char *scope, const char *name);
const char *d_suggest_aggregation(struct d_session *, const char *name);
const char *d_suggest_probe(struct d_session *, const struct d_node *description);

/* A description whose function is QNX's name of a kernel call (MsgSend, Msg*) becomes a list of
 * descriptions with the names that the probes have; what followed it follows the last of them.
 * False: it is no such name. */
bool d_probe_by_qnx_name(struct d_session *, struct d_node *description);

#endif
