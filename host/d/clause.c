/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clauses: their probe descriptions, predicate and statements become ECBs of the program.
 *
 * A clause with `if` becomes several, one after the other on the same probes: each stretch of
 * statements under the same conditions is a part with a predicate of its own. The value of a
 * condition is kept in a hidden clause-local variable: 0 not decided, 1 true, 2 false. All are set
 * to 0 by the first part, so a condition that faults leaves both branches out.
 */
#include "host/d/back.h"

#include <string.h>

/* ---- probe descriptions ------------------------------------------------------------------------
 */

struct match {
    struct d_session *session;
    struct d_clause *clause;
    const struct d_node *probe;
};

static void least(uint8_t *value, uint8_t other)
{
    *value = other < *value ? other : *value;
}

/* The least stable of the fields that the description names; all of them if it names none. */
static void add_attributes(struct d_clause *c, const struct d_probe_info *info,
                           const struct d_node *n)
{
    const char *const given[4] = {n->provider, n->module, n->function, n->probe_name};
    struct d_attributes *all = &c->probe_attributes;

    for (unsigned i = 0; i < 4; i++) {
        if (given[i] && given[i][0]) {
            least(&all->name[0], info->attributes.name[i]);
            least(&all->data[0], info->attributes.data[i]);
            least(&all->class[0], info -> attributes.class[i]);
        }
    }
}

static bool matched(void *arg, const struct d_probe_info *info)
{
    struct match *m = arg;
    struct d_probe_info given = d_session_stability(m->session, info);

    if (!m->clause->probe) {
        struct d_probe_info *first = d_alloc(m->session, sizeof(*first));
        *first = *info;
        first->provider = d_strdup(m->session, info->provider);
        first->module = d_strdup(m->session, info->module);
        first->function = d_strdup(m->session, info->function);
        first->name = d_strdup(m->session, info->name);
        m->clause->probe = first;
    }
    bool same = strcmp(m->clause->probe->function, info->function) == 0 &&
                strcmp(m->clause->probe->name, info->name) == 0;
    m->clause->many_kinds |= !same;
    add_attributes(m->clause, &given, m->probe);
    return true;
}

static const char *description_text(struct d_session *d, const struct d_node *n)
{
    if (n->probe_id) {
        return d_sprintf(d, "%u", n->probe_id);
    }
    return d_sprintf(d, "%s:%s:%s:%s", n->provider, n->module, n->function, n->probe_name);
}

static void resolve_probes(struct d_session *d, struct d_clause *c)
{
    const struct d_probe_source *probes = d_session_probes(d);

    for (struct d_node *n = c->probes; n; n = n->next) {
        struct match m = {d, c, n};
        unsigned found = probes->each(probes->arg, n->provider, n->module, n->function,
                                      n->probe_name, n->probe_id, matched, &m);
        c->program->matched += found;
        if (found == 0 && n->probe_id) {
            d_fail(d, n->place, "D_PDESC_INVAL", "there is no probe with id %u", n->probe_id);
        }
        if (found == 0 && !d_option(d, "zdefs")) {
            d_fail(d, n->place, "D_PDESC_ZERO", "no probe matches %s", description_text(d, n));
        }
    }
}

/* ---- a part: one predicate, one list of actions ------------------------------------------------
 */

struct part {
    struct d_clause *clause;
    uint32_t predicate; /* object + 1 */
    uint32_t first_action;
    bool any; /* a part of this clause was made already */
};

static void part_end(struct d_session *d, struct part *p)
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

static uint32_t predicate_object(struct d_session *d, struct d_clause *c, struct d_node *n)
{
    if (!n) {
        return 0;
    }
    d_check_expression(d, n);
    if (!d_type_is_scalar(n->type)) {
        d_fail(d, n->place, "D_PRED_SCALAR", "a predicate must be a number or a pointer");
    }
    return d_object_make(d, c->program, n, false);
}

/* ---- statements --------------------------------------------------------------------------------
 */

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
        d_fail(d, call->place, "D_FUNC_UNDEF", "there is no function %s", call->text);
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
        d_fail(d, n->place, "D_ACT_SPEC", "%s() may not follow speculate()", n->text);
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

/* ---- if ----------------------------------------------------------------------------------------
 */

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
static void decide(struct d_session *d, struct part *p, struct d_node *condition, unsigned which)
{
    struct d_node *choice = d_node_new(d, D_NODE_TERNARY, condition->place);

    choice->left = condition;
    choice->right = number(d, condition->place, 1);
    choice->third = number(d, condition->place, 2);
    set_hidden(d, p->clause, which, choice);
    part_end(d, p);
}

static bool part_has_actions(const struct part *p)
{
    return p->clause->program->actions.n != p->first_action;
}

static void statements(struct d_session *d, struct part *p, struct d_node *list);

static void branch(struct d_session *d, struct part *p, struct d_node *body, unsigned which,
                   int64_t when)
{
    struct d_node *test;
    uint32_t outer = p->predicate;

    if (!body) {
        return;
    }
    test = binary(d, D_OP_EQ, hidden(d, body->place, which), number(d, body->place, when));
    p->predicate = predicate_object(d, p->clause, test);
    statements(d, p, body);
    if (part_has_actions(p)) {
        part_end(d, p);
    }
    p->predicate = outer;
}

static void statement_if(struct d_session *d, struct part *p, struct d_node *n)
{
    unsigned which = ++d_session_back(d)->conditions;

    if (part_has_actions(p)) {
        part_end(d, p);
    }
    decide(d, p, n->left, which);
    branch(d, p, n->body, which, 1);
    branch(d, p, n->otherwise, which, 2);
}

static void statements(struct d_session *d, struct part *p, struct d_node *list)
{
    for (; list; list = list->next) {
        if (list->kind == D_NODE_IF) {
            statement_if(d, p, list);
        } else {
            d_statement(d, p->clause, list);
        }
    }
}

static unsigned count_ifs(const struct d_node *list)
{
    unsigned n = 0;

    for (; list; list = list->next) {
        if (list->kind == D_NODE_IF) {
            n += 1 + count_ifs(list->body) + count_ifs(list->otherwise);
        }
    }
    return n;
}

/* The first parts of a clause with `if`: nothing is decided yet; then its predicate, if it has one,
 * is decided like a condition, once for all parts. */
static void begin_conditional(struct d_session *d, struct part *p, struct d_node *clause,
                              unsigned ifs)
{
    unsigned first = d_session_back(d)->conditions + 1, all = ifs + (clause->left != NULL);

    for (unsigned i = 0; i < all; i++) {
        set_hidden(d, p->clause, first + i, number(d, clause->place, 0));
    }
    part_end(d, p);
    if (clause->left) {
        unsigned which = ++d_session_back(d)->conditions;
        d_check_expression(d, clause->left);
        if (!d_type_is_scalar(clause->left->type)) {
            d_fail(d, clause->left->place, "D_PRED_SCALAR",
                   "a predicate must be a number or a pointer");
        }
        decide(d, p, clause->left, which);
        p->predicate = predicate_object(
            d, p->clause,
            binary(d, D_OP_EQ, hidden(d, clause->place, which), number(d, clause->place, 1)));
    }
}

/* ---- the clause --------------------------------------------------------------------------------
 */

static uint32_t add_info(struct d_session *d, const struct d_node *clause, const char *text)
{
    struct d_back *back = d_session_back(d);
    struct d_clause_info *info = d_list_add(d, &back->clauses, sizeof(*info));

    info->description = text;
    info->line = clause->place.line;
    return back->clauses.n - 1;
}

/* -x amin: what a clause uses must be at least as stable. */
static void check_minimum(struct d_session *d, const struct d_clause *c, const struct d_node *n)
{
    uint64_t least = d_option(d, "amin");
    uint64_t name = least >> 16 & 0xff, data = least >> 8 & 0xff, class = least & 0xff;
    const struct d_attributes *p = &c->probe_attributes;
    const struct d_attributes_short *a = &c->attributes;

    if (least != D_OPTION_UNSET &&
        (a->name < name || a->data < data || a->class < class || p->name[0] < name ||
         p->data[0] < data || p->class[0] < class)) {
        d_fail(d, n->place, "D_ATTR_MIN", "attributes are less than the predefined minimum");
    }
}

static void finish_info(struct d_session *d, const struct d_clause *c)
{
    struct d_clause_info *info = d_session_back(d)->clauses.data;
    const struct d_attributes_short *a = &c->attributes;

    info += c->number;
    info->description_attributes = c->probe_attributes;
    info->statement_attributes.name[0] = a->name;
    info->statement_attributes.data[0] = a->data;
    info->statement_attributes.class[0] = a->class;
}

void d_clause_compile(struct d_session *d, struct d_program *program, struct d_node *clause,
                      const char *description)
{
    struct d_clause c = {
        .program = program,
        .probes = clause->probes,
        .number = add_info(d, clause, description),
        .attributes = {D_STABLE, D_STABLE, D_COMMON},
        .probe_attributes = {.name = {D_STANDARD}, .data = {D_STANDARD}, .class = {D_COMMON}},
    };
    struct part p = {.clause = &c, .first_action = program->actions.n};
    unsigned ifs = count_ifs(clause->body);

    d_tree_show(d, clause, 0);
    resolve_probes(d, &c);
    d_session_back(d)->clause = &c;
    d_session_back(d)->expansions = 0;
    if (ifs) {
        begin_conditional(d, &p, clause, ifs);
    } else {
        p.predicate = predicate_object(d, &c, clause->left);
    }
    statements(d, &p, clause->body);
    if (!p.any || part_has_actions(&p)) {
        part_end(d, &p);
    }
    check_minimum(d, &c, clause);
    finish_info(d, &c);
    d_tree_show(d, clause, 1);
    d_session_back(d)->clause = NULL;
}

struct d_program *d_program_new(struct d_session *d)
{
    struct d_program *p = d_alloc(d, sizeof(*p));

    p->session = d;
    return p;
}

unsigned d_program_matched(const struct d_program *p)
{
    return p->matched;
}

struct d_back *d_back_new(struct d_session *d)
{
    return d_alloc(d, sizeof(struct d_back));
}

void d_back_forget(struct d_session *d)
{
    d_session_back(d)->clause = NULL;
    d_session_back(d)->depth = 0;
}
