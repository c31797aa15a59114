/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actions that do something where the probe fires: to speculations, and to the system.
 */
#include "host/dt/clause/action.h"
#include "host/dt/code/object.h"

static void with_integer(struct dt_session *d, struct dt_clause *c, struct dt_node *call,
                         uint16_t kind)
{
    dt_action_want_type(d, call, call->args, dt_type_is_integer(call->args->type), "D_PROTO_ARG",
                        "int");
    uint32_t object = dt_object_make(d, c->program, call->args, false);

    dt_action_add(d, c, kind)->object = object;
}

void dt_do_speculate(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    with_integer(d, c, call, DTRACE_ACT_SPECULATE);
}

void dt_do_commit(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    with_integer(d, c, call, DTRACE_ACT_COMMIT);
}

void dt_do_discard(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    with_integer(d, c, call, DTRACE_ACT_DISCARD);
}

void dt_do_raise(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_destructive(d, c, call);
    with_integer(d, c, call, DTRACE_ACT_RAISE);
}

void dt_do_chill(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_destructive(d, c, call);
    with_integer(d, c, call, DTRACE_ACT_CHILL);
}

void dt_do_stop(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_destructive(d, c, call);
    dt_action_add(d, c, DTRACE_ACT_STOP);
}

void dt_do_panic(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_destructive(d, c, call);
    dt_action_add(d, c, DTRACE_ACT_PANIC);
}

void dt_do_breakpoint(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_destructive(d, c, call);
    dt_action_add(d, c, DTRACE_ACT_BREAKPOINT);
}

/* Not destructive: it ends a recording, as exit() does, and no more. */
void dt_do_logstop(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_not_speculative(d, c, call);
    dt_action_add(d, c, DTRACE_ACT_LOGSTOP);
}
