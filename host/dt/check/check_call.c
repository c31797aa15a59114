/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls inside expressions: subroutines have values; actions and aggregating functions don't and
 * are refused where a value is wanted (their own arguments are checked first, as a user would
 * expect).
 */
#include "host/dt/check/check.h"
#include "host/dt/check/suggest.h"

#include <string.h>

static bool argument_fits(const struct dt_node *arg, const struct dt_type *wanted)
{
    const struct dt_type *to = dt_type_resolve(wanted);

    if (to->kind == DT_TYPE_DYNAMIC) {
        return dt_type_resolve(arg->type)->kind != DT_TYPE_VOID;
    }
    if (dt_type_is_string_like(to) && !dt_type_is_string(to) && dt_node_is_null(arg)) {
        return true;
    }
    return dt_compatible(arg, wanted);
}

void dt_check_arguments(struct dt_session *d, const struct dt_node *call, struct dt_node *args,
                        const struct dt_signature *s, const char *what, enum dt_arg_kind kind)
{
    unsigned n = dt_list_length(args), i = 0;

    if (n > s->nargs || n < s->nargs - s->optional) {
        dt_fail(d, call->location, "D_PROTO_LEN", "%s %s", dt_what_text(d, what, kind),
                dt_mismatch_text(d, n, kind == DT_ARG_KEY ? "key" : "arg", s->nargs - s->optional,
                                 s->nargs));
    }
    for (struct dt_node *arg = args; arg; arg = arg->next, i++) {
        if (!argument_fits(arg, s->args[i])) {
            dt_fail(d, arg->location, "D_PROTO_ARG",
                    "%s %s #%u is incompatible with prototype:\n\tprototype: %s\n\t%9s: %s",
                    dt_what_text(d, what, kind), kind == DT_ARG_KEY ? "key" : "argument", i + 1,
                    dt_type_full_text(d, s->args[i]), kind == DT_ARG_KEY ? "key" : "argument",
                    dt_value_text(d, arg));
        }
    }
}

void dt_check_call(struct dt_session *d, struct dt_node *n)
{
    if (!n->text) {
        dt_fail(d, n->location, "D_FUNC_IDENT", "function designator is not of function type");
    }
    n->ident = dt_variable_lookup(d, NULL, n->text);
    if (!n->ident || (n->ident->kind != DT_IDENT_FUNCTION && n->ident->kind != DT_IDENT_ACTION &&
                      n->ident->kind != DT_IDENT_AGGFUNC)) {
        dt_fail(d, n->location, "D_FUNC_UNDEF", "undefined function name: %s%s", n->text,
                dt_suggest_function(d, n->text));
    }
    if (n->ident->kind == DT_IDENT_FUNCTION) {
        for (struct dt_node *arg = n->args; arg; arg = arg->next) {
            dt_check_expression(d, arg);
        }
        dt_check_arguments(d, n, n->args, &n->ident->signature, n->text, DT_ARG_CALL);
        dt_set_type(n, n->ident->signature.result);
        dt_use(d, n->ident);
        return;
    }
    for (struct dt_node *arg = n->args; arg; arg = arg->next) {
        dt_check_expression(d, arg);
    }
    dt_set_type(n, dt_type_basic(d, DT_BASIC_DYNAMIC));
}
