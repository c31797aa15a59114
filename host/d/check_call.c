/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls inside expressions: subroutines have values; actions and aggregating functions don't and
 * are refused where a value is wanted (their own arguments are checked first, as a user would
 * expect).
 */
#include "host/d/back.h"
#include "host/d/suggest.h"

#include <string.h>

static bool argument_fits(const struct d_node *arg, const struct d_type *wanted)
{
    const struct d_type *to = d_type_resolve(wanted);

    if (to->kind == D_TYPE_DYNAMIC) {
        return d_type_resolve(arg->type)->kind != D_TYPE_VOID;
    }
    if (d_type_is_string_like(to) && !d_type_is_string(to) && d_node_is_null(arg)) {
        return true;
    }
    return d_compatible(arg, wanted);
}

void d_check_arguments(struct d_session *d, const struct d_node *call, struct d_node *args,
                       const struct d_signature *s, const char *what, enum d_arg_kind kind)
{
    unsigned n = d_list_length(args), i = 0;

    if (n > s->nargs || n < s->nargs - s->optional) {
        d_fail(d, call->place, "D_PROTO_LEN", "%s %s", d_what_text(d, what, kind),
               d_mismatch_text(d, n, kind == D_ARG_KEY ? "key" : "arg", s->nargs - s->optional,
                               s->nargs));
    }
    for (struct d_node *arg = args; arg; arg = arg->next, i++) {
        if (!argument_fits(arg, s->args[i])) {
            d_fail(d, arg->place, "D_PROTO_ARG",
                   "%s %s #%u is incompatible with prototype:\n\tprototype: %s\n\t%9s: %s",
                   d_what_text(d, what, kind), kind == D_ARG_KEY ? "key" : "argument", i + 1,
                   d_type_full_text(d, s->args[i]), kind == D_ARG_KEY ? "key" : "argument",
                   d_value_text(d, arg));
        }
    }
}

static void check_subroutine(struct d_session *d, struct d_node *n)
{
    for (struct d_node *arg = n->args; arg; arg = arg->next) {
        d_check_expression(d, arg);
    }
    d_check_arguments(d, n, n->args, &n->ident->signature, n->text, D_ARG_CALL);
    d_set_type(n, n->ident->signature.result);
    d_use(d, n->ident);
}

void d_check_call(struct d_session *d, struct d_node *n)
{
    if (!n->text) {
        d_fail(d, n->place, "D_FUNC_IDENT", "function designator is not of function type");
    }
    n->ident = d_variable_lookup(d, NULL, n->text);
    if (!n->ident || (n->ident->kind != D_IDENT_FUNCTION && n->ident->kind != D_IDENT_ACTION &&
                      n->ident->kind != D_IDENT_AGGFUNC)) {
        d_fail(d, n->place, "D_FUNC_UNDEF", "undefined function name: %s%s", n->text,
               d_suggest_function(d, n->text));
    }
    if (n->ident->kind == D_IDENT_FUNCTION) {
        check_subroutine(d, n);
        return;
    }
    for (struct d_node *arg = n->args; arg; arg = arg->next) {
        d_check_expression(d, arg);
    }
    d_set_type(n, d_type_basic(d, D_BASIC_DYNAMIC));
}
