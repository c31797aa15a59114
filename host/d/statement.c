/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One statement becomes actions: an aggregation, a call, or an expression for its effect.
 */
#include "host/d/back.h"
#include "host/d/suggest.h"

static bool is_assignment_to_agg(const struct d_node *n)
{
    return n->kind == D_NODE_BINARY && n->op == '=' && n->left->kind == D_NODE_AGG;
}

static void statement_agg(struct d_session *d, struct d_clause *c, struct d_node *n)
{
    struct d_node *call = n->right;
    struct d_ident *ident =
        call->kind == D_NODE_CALL && call->text ? d_variable_lookup(d, NULL, call->text) : NULL;

    if (call->kind == D_NODE_CALL && !ident) {
        d_fail(d, call->place, "D_FUNC_UNDEF", "undefined function name: %s%s", call->text,
               call->text ? d_suggest_function(d, call->text) : "");
    }
    if (!ident || ident->kind != D_IDENT_AGGFUNC) {
        d_fail(d, n->place, "D_AGG_FUNC", "@%s must be assigned an aggregating function",
               n->left->text);
    }
    call->ident = ident;
    d_aggregate(d, c, n->left, call);
    c->aggregates = true;
}

static void statement_call(struct d_session *d, struct d_clause *c, struct d_node *n)
{
    n->ident = n->text ? d_variable_lookup(d, NULL, n->text) : NULL;
    if (n->ident && n->ident->kind == D_IDENT_ACTION) {
        d_action_call(d, c, n);
        return;
    }
    d_check_expression(d, n);
    if (n->ident->kind == D_IDENT_AGGFUNC) {
        d_fail(d, n->place, "D_CG_EXPR", "%s() must be assigned to an aggregation", n->text);
    }
    bool destructive =
        n->ident->number == DIF_SUBR_copyout || n->ident->number == DIF_SUBR_copyoutstr;
    if (destructive && c->speculates) {
        d_fail(d, n->place, "D_ACT_SPEC", "destructive actions may not follow speculate( )");
    }
    uint32_t object = d_object_make(d, c->program, n, true);
    d_action_add(d, c, D_ACT_DIFEXPR)->object = object;
}

void d_statement(struct d_session *d, struct d_clause *c, struct d_node *statement)
{
    struct d_node *n = statement->kind == D_NODE_EXPR_STATEMENT ? statement->left : statement;

    if (!n) {
        return;
    }
    if (is_assignment_to_agg(n)) {
        statement_agg(d, c, n);
    } else if (n->kind == D_NODE_CALL) {
        statement_call(d, c, n);
    } else if (n->kind == D_NODE_AGG) {
        d_agg_lookup(d, n);
        d_fail(d, n->place, "D_AGG_NULL", "@%s alone does nothing", n->text);
    } else {
        d_check_expression(d, n);
        uint32_t object = d_object_make(d, c->program, n, true);
        d_action_add(d, c, D_ACT_DIFEXPR)->object = object;
    }
}
