/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts a statement to actions: an aggregation, a call, or an expression for its effect. */
#include "host/dt/check/check.h"
#include "host/dt/check/suggest.h"
#include "host/dt/clause/clause.h"
#include "host/dt/code/object.h"

#include <string.h>

static void statement_agg(struct dt_session *d, struct dt_clause *c, struct dt_node *n)
{
    struct dt_node *call = n->right;
    struct dt_ident *ident =
        call->kind == DT_NODE_CALL && call->text ? dt_variable_lookup(d, NULL, call->text) : NULL;

    if (call->kind == DT_NODE_CALL && !ident) {
        dt_fail(d, call->location, "D_FUNC_UNDEF", "undefined function name: %s%s", call->text,
                call->text ? dt_suggest_function(d, call->text) : "");
    }
    if (!ident || ident->kind != DT_IDENT_AGGFUNC) {
        dt_fail(d, n->location, "D_AGG_FUNC", "@%s must be assigned an aggregating function",
                n->left->text);
    }
    call->ident = ident;
    dt_aggregate(d, c, n->left, call);
    c->aggregates = true;
}

static void statement_call(struct dt_session *d, struct dt_clause *c, struct dt_node *n)
{
    n->ident = n->text ? dt_variable_lookup(d, NULL, n->text) : NULL;
    if (n->ident && n->ident->kind == DT_IDENT_ACTION) {
        dt_action_call(d, c, n);
        return;
    }
    dt_check_expression(d, n);
    if (n->ident->kind == DT_IDENT_AGGFUNC) {
        dt_fail(d, n->location, "D_CG_EXPR", "%s( ) must be assigned to an aggregation", n->text);
    }
    bool destructive =
        n->ident->number == DIF_SUBR_copyout || n->ident->number == DIF_SUBR_copyoutstr;
    if (destructive && c->speculates) {
        dt_fail(d, n->location, "D_ACT_SPEC", "destructive actions may not follow speculate( )");
    }
    uint32_t object = dt_object_make(d, c->program, n, true);
    dt_action_add(d, c, DTRACE_ACT_DIFEXPR)->object = object;
}

/* Returns the first action among the checked nodes of a tree that is an operand of ?:; NULL:
 * none. */
static struct dt_node *operand_action(const struct dt_node *n)
{
    struct dt_node *found = NULL;

    for (; n && !found; n = n->next) {
        struct dt_node *const operands[] = {n->right, n->third};
        found = operand_action(n->left);
        found = found ? found : operand_action(n->right);
        found = found ? found : operand_action(n->third);
        found = found ? found : operand_action(n->args);
        for (unsigned i = 0; i < 2 && !found && n->kind == DT_NODE_TERNARY; i++) {
            const struct dt_node *o = operands[i];
            bool action = o && o->kind == DT_NODE_CALL && o->ident;
            found = action && o->ident->kind == DT_IDENT_ACTION ? operands[i] : NULL;
        }
    }
    return found;
}

struct expression {
    struct dt_session *session;
    struct dt_node *node;
};

static void check_expression(void *arg)
{
    struct expression *e = arg;

    dt_check_expression(e->session, e->node);
}

/* An action may not be an operand of ?:, but an error in its own arguments is reported first. */
static void statement_expression(struct dt_session *d, struct dt_clause *c, struct dt_node *n)
{
    struct expression e = {d, n};

    if (!dt_try(d, check_expression, &e)) {
        struct dt_clause scratch = {.program = dt_program_new(d)};
        struct dt_node *action =
            strcmp(dt_caught_tag(d), "D_OP_ACT") == 0 ? operand_action(n) : NULL;
        if (action) {
            dt_action_call(d, &scratch, action);
        }
        dt_fail_again(d);
    }
    uint32_t object = dt_object_make(d, c->program, n, true);
    dt_action_add(d, c, DTRACE_ACT_DIFEXPR)->object = object;
}

void dt_statement(struct dt_session *d, struct dt_clause *c, struct dt_node *statement)
{
    struct dt_node *n = statement->kind == DT_NODE_EXPR_STATEMENT ? statement->left : statement;

    if (!n) {
        return;
    }
    if (n->kind == DT_NODE_BINARY && n->op == '=' && n->left->kind == DT_NODE_AGG) {
        statement_agg(d, c, n);
    } else if (n->kind == DT_NODE_CALL) {
        statement_call(d, c, n);
    } else if (n->kind == DT_NODE_AGG) {
        dt_agg_lookup(d, n);
        dt_fail(d, n->location, "D_AGG_NULL",
                "statement has no effect: @%s must be assigned an aggregating function", n->text);
    } else {
        statement_expression(d, c, n);
    }
}
