/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actions that record values: trace(), print(), tracemem(), exit().
 */
#include "host/dt/check/check.h"
#include "host/dt/clause/action.h"
#include "host/dt/code/object.h"

void dt_do_trace(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    struct dt_node *arg = dt_recorded(d, call->args);
    enum dt_type_kind kind = dt_type_resolve(arg->type)->kind;

    bool is_void = kind == DT_TYPE_VOID ||
                   (arg->kind == DT_NODE_CALL && kind == DT_TYPE_DYNAMIC && !dt_is_place_call(arg));

    dt_action_want(d, call, !is_void, "D_TRACE_VOID", "may not be applied to a void expression");
    dt_action_want(d, call, kind != DT_TYPE_DYNAMIC, "D_PROTO_ARG",
                   "may not be applied to a dynamic expression");
    dt_action_datum(d, c, arg, dt_action_format(d, DTRACE_ACT_DIFEXPR, 0, arg));
}

void dt_do_print(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    struct dt_node *arg = call->args;
    enum dt_type_kind kind = dt_type_resolve(arg->type)->kind;

    dt_action_want(d, call, kind != DT_TYPE_VOID, "D_TRACE_VOID",
                   "may not be applied to a void expression");
    dt_action_want(d, call, kind != DT_TYPE_DYNAMIC, "D_PROTO_ARG",
                   "may not be applied to a dynamic expression");
    uint32_t format = dt_action_format(d, DTRACE_ACT_LIBACT, DTRACE_LIBACT_PRINT, arg);
    struct dtrace_image_action *a = dt_action_add(d, c, DTRACE_ACT_LIBACT);
    a->arg = DTRACE_LIBACT_PRINT;
    a->format = format;
    dt_action_datum(d, c, arg, format);
}

void dt_do_tracemem(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    struct dt_node *size = call->args->next, *dynamic = size->next;

    dt_action_want_type(d, call, call->args, dt_action_is_address(call->args), "D_PROTO_ARG",
                        "const void *");
    uint64_t bytes = dt_action_constant(d, call, size, "D_TRACEMEM_SIZE", false);
    if (dynamic) {
        dt_action_want_type(d, call, dynamic, dt_type_is_integer(dynamic->type), "D_PROTO_ARG",
                            "size_t");
    }
    uint16_t kind = dynamic ? DTRACE_ACT_TRACEMEM_DYNSIZE : DTRACE_ACT_TRACEMEM;
    uint32_t format = dt_action_format(d, kind, bytes, NULL);
    uint32_t object = dt_object_make(d, c->program, call->args, false);
    struct dtrace_image_action *a = dt_action_add(d, c, kind);
    a->object = object;
    a->arg = bytes;
    a->format = format;
    if (dynamic) {
        dynamic = dt_node_cast(d, dynamic, dt_type_basic(d, DT_BASIC_INT64));
        dt_check_expression(d, dynamic);
        dt_action_datum(d, c, dynamic, format);
    }
}

void dt_do_exit(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    struct dt_node *status = dt_node_cast(d, call->args, dt_type_basic(d, DT_BASIC_INT));

    dt_action_want_type(d, call, call->args, dt_type_is_integer(call->args->type), "D_PROTO_ARG",
                        "int");
    dt_check_expression(d, status);
    uint32_t object = dt_object_make(d, c->program, status, false);
    struct dtrace_image_action *a = dt_action_add(d, c, DTRACE_ACT_EXIT);
    a->object = object;
    a->format = dt_action_format(d, DTRACE_ACT_EXIT, 0, status);
}
