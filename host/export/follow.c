/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flow of a capture (host/flow/flow.h) as the formats that draw take it.
 */
#include "host/export/follow.h"

#include "host/kymo.h"

static int export_flow_failed(void)
{
    kymo_error("out of memory");
    return -1;
}

struct flow *export_flow_new(struct export *export, const struct flow_ops *ops)
{
    struct flow *flow = flow_new(export->capture, export->partial, ops, export);

    if (flow == NULL) {
        export_flow_failed();
    }
    return flow;
}

int export_flow_take(struct flow *flow, const struct kev_item *item, struct flow_step *step)
{
    return flow_take(flow, item, step) == 0 ? 0 : export_flow_failed();
}

bool export_flow_shows(const struct flow_state *state, int64_t to)
{
    return to > state->since && state->state != STATE_DEAD;
}
