/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack(), sym() and the like, which record where something is: actions, and keys of aggregations.
 */
#include "host/d/action.h"

static const struct place_action {
    enum d_action_name name;
    uint16_t kind;
} place_actions[] = {
    {D_DO_STACK, D_ACT_STACK}, {D_DO_USTACK, D_ACT_USTACK}, {D_DO_JSTACK, D_ACT_JSTACK},
    {D_DO_SYM, D_ACT_SYM},     {D_DO_FUNC, D_ACT_SYM},      {D_DO_MOD, D_ACT_MOD},
    {D_DO_USYM, D_ACT_USYM},   {D_DO_UFUNC, D_ACT_USYM},    {D_DO_UMOD, D_ACT_UMOD},
    {D_DO_UADDR, D_ACT_UADDR},
};

static uint16_t place_kind(uint32_t name)
{
    for (size_t i = 0; i < sizeof(place_actions) / sizeof(*place_actions); i++) {
        if (place_actions[i].name == name) {
            return place_actions[i].kind;
        }
    }
    return D_ACT_NONE;
}

bool d_is_place_call(const struct d_node *n)
{
    return n->kind == D_NODE_CALL && n->ident && n->ident->kind == D_IDENT_ACTION &&
           place_kind(n->ident->number) != D_ACT_NONE;
}

const struct d_type *d_place_type(struct d_session *d, const struct d_node *call)
{
    switch (place_kind(call->ident->number)) {
    case D_ACT_STACK:
    case D_ACT_USTACK:
    case D_ACT_JSTACK:
        return d_type_basic(d, D_BASIC_STACK);
    case D_ACT_SYM:
    case D_ACT_MOD:
        return d_type_basic(d, D_BASIC_SYMADDR);
    default:
        return d_type_basic(d, D_BASIC_USYMADDR);
    }
}

static uint64_t frames_of(struct d_session *d, const struct d_node *call, const char *tag,
                          const char *option)
{
    return call->args ? d_action_constant(d, call, call->args, tag, false) : d_option(d, option);
}

static void action_stack(struct d_session *d, struct d_clause *c, struct d_node *call,
                         uint32_t format)
{
    bool user = call->ident->number != D_DO_STACK, java = call->ident->number == D_DO_JSTACK;
    uint64_t arg;

    d_action_want_count(d, call, 0, user ? 2 : 1, user ? "D_USTACK_PROTO" : "D_STACK_PROTO");
    d_action_check_args(d, call);
    arg = frames_of(d, call, user ? "D_USTACK_FRAMES" : "D_STACK_SIZE",
                    java   ? "jstackframes"
                    : user ? "ustackframes"
                           : "stackframes");
    if (call->args && call->args->next) {
        arg |= d_action_constant(d, call, call->args->next, "D_USTACK_STRSIZE", true) << 32;
    } else if (java) {
        arg |= d_option(d, "jstackstrsize") << 32;
    }
    struct d_image_action *a = d_action_add(d, c, place_kind(call->ident->number));
    a->arg = arg;
    a->format = format;
}

bool d_action_place(struct d_session *d, struct d_clause *c, struct d_node *call, uint32_t format)
{
    if (!d_is_place_call(call)) {
        return false;
    }
    uint16_t kind = place_kind(call->ident->number);
    if (kind == D_ACT_STACK || kind == D_ACT_USTACK || kind == D_ACT_JSTACK) {
        action_stack(d, c, call, format);
        return true;
    }
    d_action_want_count(d, call, 1, 1, "D_PROTO_LEN");
    d_action_check_args(d, call);
    d_action_want_type(d, call, call->args, d_action_is_address(call->args), "D_PROTO_ARG",
                       "uintptr_t");
    uint32_t object = d_object_make(d, c->program, call->args, false);
    struct d_image_action *a = d_action_add(d, c, kind);
    a->object = object;
    a->format = format;
    return true;
}

void d_do_place(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    d_action_place(d, c, call, d_action_format(d, place_kind(call->ident->number), 0, NULL));
}
