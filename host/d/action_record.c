/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actions that record values: trace(), print(), tracemem(), exit().
 */
#include "host/d/action.h"

void d_do_trace(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    struct d_node *arg = d_recorded(d, call->args);
    enum d_type_kind kind = d_type_resolve(arg->type)->kind;

    bool is_void = kind == D_TYPE_VOID ||
                   (arg->kind == D_NODE_CALL && kind == D_TYPE_DYNAMIC && !d_is_place_call(arg));

    d_action_want(d, call, !is_void, "D_TRACE_VOID", "may not be applied to a void expression");
    d_action_want(d, call, kind != D_TYPE_DYNAMIC, "D_PROTO_ARG",
                  "may not be applied to a dynamic expression");
    d_action_datum(d, c, arg, d_action_format(d, D_ACT_DIFEXPR, 0, arg));
}

void d_do_print(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    struct d_node *arg = call->args;
    enum d_type_kind kind = d_type_resolve(arg->type)->kind;

    d_action_want(d, call, kind != D_TYPE_VOID, "D_TRACE_VOID",
                  "may not be applied to a void expression");
    d_action_want(d, call, kind != D_TYPE_DYNAMIC, "D_PROTO_ARG",
                  "may not be applied to a dynamic expression");
    uint32_t format = d_action_format(d, D_ACT_LIBACT, D_LIBACT_PRINT, arg);
    struct d_image_action *a = d_action_add(d, c, D_ACT_LIBACT);
    a->arg = D_LIBACT_PRINT;
    a->format = format;
    d_action_datum(d, c, arg, format);
}

void d_do_tracemem(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    struct d_node *size = call->args->next, *dynamic = size->next;

    d_action_want_type(d, call, call->args, d_action_is_address(call->args), "D_PROTO_ARG",
                       "const void *");
    uint64_t bytes = d_action_constant(d, call, size, "D_TRACEMEM_SIZE", false);
    if (dynamic) {
        d_action_want_type(d, call, dynamic, d_type_is_integer(dynamic->type), "D_PROTO_ARG",
                           "size_t");
    }
    uint16_t kind = dynamic ? D_ACT_TRACEMEM_DYNSIZE : D_ACT_TRACEMEM;
    uint32_t format = d_action_format(d, kind, bytes, NULL);
    uint32_t object = d_object_make(d, c->program, call->args, false);
    struct d_image_action *a = d_action_add(d, c, kind);
    a->object = object;
    a->arg = bytes;
    a->format = format;
    if (dynamic) {
        dynamic = d_node_cast(d, dynamic, d_type_basic(d, D_BASIC_INT64));
        d_check_expression(d, dynamic);
        d_action_datum(d, c, dynamic, format);
    }
}

void d_do_exit(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    struct d_node *status = d_node_cast(d, call->args, d_type_basic(d, D_BASIC_INT));

    d_action_want_type(d, call, call->args, d_type_is_integer(call->args->type), "D_PROTO_ARG",
                       "int");
    d_check_expression(d, status);
    uint32_t object = d_object_make(d, c->program, status, false);
    struct d_image_action *a = d_action_add(d, c, D_ACT_EXIT);
    a->object = object;
    a->format = d_action_format(d, D_ACT_EXIT, 0, status);
}
