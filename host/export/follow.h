/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flow of a capture (host/flow/flow.h) as the formats that draw take it.
 */
#ifndef HOST_EXPORT_FOLLOW_H
#define HOST_EXPORT_FOLLOW_H

#include "host/export/export.h"
#include "host/flow/flow.h"

/* flow_new() and flow_take() for an export. They say what failed. */
struct flow *export_flow_new(struct export *export, const struct flow_ops *ops);
int export_flow_take(struct flow *flow, const struct kev_item *item, struct flow_step *step);
/* Returns whether a state that ends is drawn: it took time, and the thread lived. */
bool export_flow_shows(const struct flow_state *state, int64_t to);

#endif
