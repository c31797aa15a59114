/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actions that do something where the probe fires: to speculations, and to the system.
 */
#include "host/d/action.h"

static void action_object(struct d_session *d, struct d_clause *c, uint16_t kind, struct d_node *n)
{
    uint32_t object = d_object_make(d, c->program, n, false);

    d_action_add(d, c, kind)->object = object;
}

static void with_integer(struct d_session *d, struct d_clause *c, struct d_node *call,
                         uint16_t kind)
{
    d_action_want_type(d, call, call->args, d_type_is_integer(call->args->type), "D_PROTO_ARG",
                       "int");
    action_object(d, c, kind, call->args);
}

void d_do_speculate(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    with_integer(d, c, call, D_ACT_SPECULATE);
}

void d_do_commit(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    with_integer(d, c, call, D_ACT_COMMIT);
}

void d_do_discard(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    with_integer(d, c, call, D_ACT_DISCARD);
}

void d_do_raise(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    d_action_destructive(d, c, call);
    with_integer(d, c, call, D_ACT_RAISE);
}

void d_do_chill(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    d_action_destructive(d, c, call);
    with_integer(d, c, call, D_ACT_CHILL);
}

void d_do_stop(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    d_action_destructive(d, c, call);
    d_action_add(d, c, D_ACT_STOP);
}

void d_do_panic(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    d_action_destructive(d, c, call);
    d_action_add(d, c, D_ACT_PANIC);
}

void d_do_breakpoint(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    d_action_destructive(d, c, call);
    d_action_add(d, c, D_ACT_BREAKPOINT);
}

/* Not destructive: it ends a recording, as exit() does, and no more. */
void d_do_logstop(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    d_action_not_speculative(d, c, call);
    d_action_add(d, c, D_ACT_LOGSTOP);
}
