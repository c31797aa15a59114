/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack(), sym() and the like, which record where something is: actions, and keys of aggregations.
 */
#include "host/dt/clause/action.h"
#include "host/dt/code/object.h"

static const struct location_action {
    enum dt_action_name name;
    uint16_t kind;
} location_actions[] = {
    {DT_DO_STACK, DTRACE_ACT_STACK},   {DT_DO_USTACK, DTRACE_ACT_USTACK},
    {DT_DO_JSTACK, DTRACE_ACT_JSTACK}, {DT_DO_SYM, DTRACE_ACT_SYM},
    {DT_DO_FUNC, DTRACE_ACT_SYM},      {DT_DO_MOD, DTRACE_ACT_MOD},
    {DT_DO_USYM, DTRACE_ACT_USYM},     {DT_DO_UFUNC, DTRACE_ACT_USYM},
    {DT_DO_UMOD, DTRACE_ACT_UMOD},     {DT_DO_UADDR, DTRACE_ACT_UADDR},
};

static uint16_t location_kind(uint32_t name)
{
    for (size_t i = 0; i < sizeof(location_actions) / sizeof(*location_actions); i++) {
        if (location_actions[i].name == name) {
            return location_actions[i].kind;
        }
    }
    return DTRACE_ACT_NONE;
}

bool dt_is_location_call(const struct dt_node *n)
{
    return n->kind == DT_NODE_CALL && n->ident && n->ident->kind == DT_IDENT_ACTION &&
           location_kind(n->ident->number) != DTRACE_ACT_NONE;
}

const struct dt_type *dt_location_type(struct dt_session *d, const struct dt_node *call)
{
    switch (location_kind(call->ident->number)) {
    case DTRACE_ACT_STACK:
    case DTRACE_ACT_USTACK:
    case DTRACE_ACT_JSTACK:
        return dt_type_basic(d, DT_BASIC_STACK);
    case DTRACE_ACT_SYM:
    case DTRACE_ACT_MOD:
        return dt_type_basic(d, DT_BASIC_SYMADDR);
    default:
        return dt_type_basic(d, DT_BASIC_USYMADDR);
    }
}

static void action_stack(struct dt_session *d, struct dt_clause *c, struct dt_node *call,
                         uint32_t format)
{
    bool user = call->ident->number != DT_DO_STACK, java = call->ident->number == DT_DO_JSTACK;
    uint64_t arg;

    dt_action_want_count(d, call, 0, user ? 2 : 1, user ? "D_USTACK_PROTO" : "D_STACK_PROTO");
    dt_action_check_args(d, call);
    arg = call->args ? dt_action_constant(d, call, call->args,
                                          (user ? "D_USTACK_FRAMES" : "D_STACK_SIZE"), false)
                     : dtrace_option(d, (java   ? "jstackframes"
                                         : user ? "ustackframes"
                                                : "stackframes"));
    if (call->args && call->args->next) {
        arg |= dt_action_constant(d, call, call->args->next, "D_USTACK_STRSIZE", true) << 32;
    } else if (java) {
        arg |= dtrace_option(d, "jstackstrsize") << 32;
    }
    struct dtrace_image_action *a = dt_action_add(d, c, location_kind(call->ident->number));
    a->arg = arg;
    a->format = format;
}

bool dt_action_location(struct dt_session *d, struct dt_clause *c, struct dt_node *call,
                        uint32_t format)
{
    if (!dt_is_location_call(call)) {
        return false;
    }
    uint16_t kind = location_kind(call->ident->number);
    if (kind == DTRACE_ACT_STACK || kind == DTRACE_ACT_USTACK || kind == DTRACE_ACT_JSTACK) {
        action_stack(d, c, call, format);
        return true;
    }
    dt_action_want_count(d, call, 1, 1, "D_PROTO_LEN");
    dt_action_check_args(d, call);
    dt_action_want_type(d, call, call->args, dt_action_is_address(call->args), "D_PROTO_ARG",
                        "uintptr_t");
    uint32_t object = dt_object_make(d, c->program, call->args, false);
    struct dtrace_image_action *a = dt_action_add(d, c, kind);
    a->object = object;
    a->format = format;
    return true;
}

void dt_do_location(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_location(d, c, call,
                       dt_action_format(d, location_kind(call->ident->number), 0, NULL));
}
