/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A clause with `if` becomes several, one after the other on the same probes: each stretch of
 * statements under the same conditions is a part with a predicate of its own. The value of a
 * condition is kept in a hidden clause-local variable: 0 not decided, 1 true, 2 false. All are set
 * to 0 by the first part, so a condition that faults leaves both branches out.
 */
#include "host/dt/check/check.h"
#include "host/dt/clause/part.h"
#include "host/dt/code/object.h"

void dt_part_end(struct dt_session *d, struct dt_part *p)
{
    struct dt_program *program = p->clause->program;

    for (const struct dt_node *n = p->clause->probes; n; n = n->next) {
        struct dt_made_ecb *e = dt_list_add(d, &program->ecbs, sizeof(*e));
        *e = (struct dt_made_ecb){
            .provider = n->provider,
            .module = n->module,
            .function = n->function,
            .name = n->probe_name,
            .probe = n->probe_id,
            .predicate = p->predicate,
            .first_action = p->first_action,
            .nactions = program->actions.n - p->first_action,
            .clause = p->clause->number,
            .flags = p->any ? DTRACE_ECB_PART : 0,
        };
    }
    p->any = true;
    p->first_action = program->actions.n;
    /* The next part is an ECB of its own: what may follow what begins anew. */
    p->clause->records = p->clause->speculates = p->clause->commits = false;
}

bool dt_part_has_actions(const struct dt_part *p)
{
    return p->clause->program->actions.n != p->first_action;
}

uint32_t dt_part_predicate(struct dt_session *d, struct dt_clause *c, struct dt_node *n)
{
    if (!n) {
        return 0;
    }
    dt_check_expression(d, n);
    if (!dt_type_is_scalar(n->type)) {
        dt_fail(d, n->place, "D_PRED_SCALAR", "predicate result must be of scalar type");
    }
    return dt_object_make(d, c->program, n, false);
}

static struct dt_node *hidden(struct dt_session *d, struct dt_place place, unsigned number)
{
    struct dt_node *n = dt_node_new(d, DT_NODE_NAME, place);

    n->scope = "this";
    n->text = dt_sprintf(d, "%%if%u", number);
    return n;
}

static struct dt_node *binary(struct dt_session *d, int op, struct dt_node *left,
                              struct dt_node *right)
{
    struct dt_node *n = dt_node_new(d, DT_NODE_BINARY, left->place);

    n->op = op;
    n->left = left;
    n->right = right;
    return n;
}

static struct dt_node *number(struct dt_session *d, struct dt_place place, int64_t value)
{
    return dt_node_int(d, place, value, dt_type_basic(d, DT_BASIC_INT));
}

static void set_hidden(struct dt_session *d, struct dt_clause *c, unsigned which,
                       struct dt_node *value)
{
    struct dt_node *set = binary(d, '=', hidden(d, value->place, which), value);

    dt_statement(d, c, set);
}

/* this->%if = condition ? 1 : 2, in a part of its own. */
static void decide(struct dt_session *d, struct dt_part *p, struct dt_node *condition,
                   unsigned which)
{
    struct dt_node *choice = dt_node_new(d, DT_NODE_TERNARY, condition->place);

    choice->left = condition;
    choice->right = number(d, condition->place, 1);
    choice->third = number(d, condition->place, 2);
    set_hidden(d, p->clause, which, choice);
    dt_part_end(d, p);
}

static void branch(struct dt_session *d, struct dt_part *p, struct dt_node *body, unsigned which,
                   int64_t when)
{
    struct dt_node *test;
    uint32_t outer = p->predicate;

    if (!body) {
        return;
    }
    test = binary(d, DT_OP_EQ, hidden(d, body->place, which), number(d, body->place, when));
    p->predicate = dt_part_predicate(d, p->clause, test);
    dt_part_statements(d, p, body);
    if (dt_part_has_actions(p)) {
        dt_part_end(d, p);
    }
    p->predicate = outer;
}

void dt_part_statements(struct dt_session *d, struct dt_part *p, struct dt_node *list)
{
    for (; list; list = list->next) {
        if (list->kind == DT_NODE_IF) {
            unsigned which = ++d->back->conditions;

            if (dt_part_has_actions(p)) {
                dt_part_end(d, p);
            }
            decide(d, p, list->left, which);
            branch(d, p, list->body, which, 1);
            branch(d, p, list->otherwise, which, 2);
        } else {
            dt_statement(d, p->clause, list);
        }
    }
}

unsigned dt_count_ifs(const struct dt_node *list)
{
    unsigned n = 0;

    for (; list; list = list->next) {
        if (list->kind == DT_NODE_IF) {
            n += 1 + dt_count_ifs(list->body) + dt_count_ifs(list->otherwise);
        }
    }
    return n;
}

/* The first parts of a clause with `if`: nothing is decided yet; then its predicate, if it has one,
 * is decided like a condition, once for all parts. */
void dt_part_begin_conditional(struct dt_session *d, struct dt_part *p, struct dt_node *clause,
                               unsigned ifs)
{
    unsigned first = d->back->conditions + 1, all = ifs + (clause->left != NULL);

    for (unsigned i = 0; i < all; i++) {
        set_hidden(d, p->clause, first + i, number(d, clause->place, 0));
    }
    dt_part_end(d, p);
    if (clause->left) {
        unsigned which = ++d->back->conditions;
        dt_check_expression(d, clause->left);
        if (!dt_type_is_scalar(clause->left->type)) {
            dt_fail(d, clause->left->place, "D_PRED_SCALAR",
                    "predicate result must be of scalar type");
        }
        decide(d, p, clause->left, which);
        p->predicate = dt_part_predicate(
            d, p->clause,
            binary(d, DT_OP_EQ, hidden(d, clause->place, which), number(d, clause->place, 1)));
    }
}
