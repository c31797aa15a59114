/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A clause with `if` becomes several, one after the other on the same probes: each stretch of
 * statements under the same conditions is a part with a predicate of its own. The value of a
 * condition is kept in a hidden clause-local variable: 0 not decided, 1 true, 2 false. All are set
 * to 0 by the first part, so a condition that faults leaves both branches out.
 */
#include "host/d/part.h"

void d_part_end(struct d_session *d, struct d_part *p)
{
    struct d_program *program = p->clause->program;

    for (const struct d_node *n = p->clause->probes; n; n = n->next) {
        struct d_made_ecb *e = d_list_add(d, &program->ecbs, sizeof(*e));
        *e = (struct d_made_ecb){
            .provider = n->provider,
            .module = n->module,
            .function = n->function,
            .name = n->probe_name,
            .probe = n->probe_id,
            .predicate = p->predicate,
            .first_action = p->first_action,
            .nactions = program->actions.n - p->first_action,
            .clause = p->clause->number,
            .flags = p->any ? D_ECB_PART : 0,
        };
    }
    p->any = true;
    p->first_action = program->actions.n;
    /* The next part is an ECB of its own: what may follow what begins anew. */
    p->clause->records = p->clause->speculates = p->clause->commits = false;
}

bool d_part_has_actions(const struct d_part *p)
{
    return p->clause->program->actions.n != p->first_action;
}

uint32_t d_part_predicate(struct d_session *d, struct d_clause *c, struct d_node *n)
{
    if (!n) {
        return 0;
    }
    d_check_expression(d, n);
    if (!d_type_is_scalar(n->type)) {
        d_fail(d, n->place, "D_PRED_SCALAR", "predicate result must be of scalar type");
    }
    return d_object_make(d, c->program, n, false);
}

static struct d_node *hidden(struct d_session *d, struct d_place place, unsigned number)
{
    struct d_node *n = d_node_new(d, D_NODE_NAME, place);

    n->scope = "this";
    n->text = d_sprintf(d, "%%if%u", number);
    return n;
}

static struct d_node *binary(struct d_session *d, int op, struct d_node *left, struct d_node *right)
{
    struct d_node *n = d_node_new(d, D_NODE_BINARY, left->place);

    n->op = op;
    n->left = left;
    n->right = right;
    return n;
}

static struct d_node *number(struct d_session *d, struct d_place place, int64_t value)
{
    return d_node_int(d, place, value, d_type_basic(d, D_BASIC_INT));
}

static void set_hidden(struct d_session *d, struct d_clause *c, unsigned which,
                       struct d_node *value)
{
    struct d_node *set = binary(d, '=', hidden(d, value->place, which), value);

    d_statement(d, c, set);
}

/* this->%if = condition ? 1 : 2, in a part of its own. */
static void decide(struct d_session *d, struct d_part *p, struct d_node *condition, unsigned which)
{
    struct d_node *choice = d_node_new(d, D_NODE_TERNARY, condition->place);

    choice->left = condition;
    choice->right = number(d, condition->place, 1);
    choice->third = number(d, condition->place, 2);
    set_hidden(d, p->clause, which, choice);
    d_part_end(d, p);
}

static void branch(struct d_session *d, struct d_part *p, struct d_node *body, unsigned which,
                   int64_t when)
{
    struct d_node *test;
    uint32_t outer = p->predicate;

    if (!body) {
        return;
    }
    test = binary(d, D_OP_EQ, hidden(d, body->place, which), number(d, body->place, when));
    p->predicate = d_part_predicate(d, p->clause, test);
    d_part_statements(d, p, body);
    if (d_part_has_actions(p)) {
        d_part_end(d, p);
    }
    p->predicate = outer;
}

static void statement_if(struct d_session *d, struct d_part *p, struct d_node *n)
{
    unsigned which = ++d_session_back(d)->conditions;

    if (d_part_has_actions(p)) {
        d_part_end(d, p);
    }
    decide(d, p, n->left, which);
    branch(d, p, n->body, which, 1);
    branch(d, p, n->otherwise, which, 2);
}

void d_part_statements(struct d_session *d, struct d_part *p, struct d_node *list)
{
    for (; list; list = list->next) {
        if (list->kind == D_NODE_IF) {
            statement_if(d, p, list);
        } else {
            d_statement(d, p->clause, list);
        }
    }
}

unsigned d_count_ifs(const struct d_node *list)
{
    unsigned n = 0;

    for (; list; list = list->next) {
        if (list->kind == D_NODE_IF) {
            n += 1 + d_count_ifs(list->body) + d_count_ifs(list->otherwise);
        }
    }
    return n;
}

/* The first parts of a clause with `if`: nothing is decided yet; then its predicate, if it has one,
 * is decided like a condition, once for all parts. */
void d_part_begin_conditional(struct d_session *d, struct d_part *p, struct d_node *clause,
                              unsigned ifs)
{
    unsigned first = d_session_back(d)->conditions + 1, all = ifs + (clause->left != NULL);

    for (unsigned i = 0; i < all; i++) {
        set_hidden(d, p->clause, first + i, number(d, clause->place, 0));
    }
    d_part_end(d, p);
    if (clause->left) {
        unsigned which = ++d_session_back(d)->conditions;
        d_check_expression(d, clause->left);
        if (!d_type_is_scalar(clause->left->type)) {
            d_fail(d, clause->left->place, "D_PRED_SCALAR",
                   "predicate result must be of scalar type");
        }
        decide(d, p, clause->left, which);
        p->predicate = d_part_predicate(
            d, p->clause,
            binary(d, D_OP_EQ, hidden(d, clause->place, which), number(d, clause->place, 1)));
    }
}
