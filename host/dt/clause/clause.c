/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clauses: their probe descriptions, predicate and statements become ECBs of the program.
 */
#include "host/dt/check/check.h"
#include "host/dt/check/derived.h"
#include "host/dt/clause/clause.h"
#include "host/dt/clause/helper.h"
#include "host/dt/code/object.h"

#include <string.h>

/* ---- parts -----------------------------------------------------------------------------
 *
 * A clause with `if` becomes several, one after the other on the same probes: each stretch of
 * statements under the same conditions is a part with a predicate of its own. The value of a
 * condition is kept in a hidden clause-local variable: 0 not decided, 1 true, 2 false. All are set
 * to 0 by the first part, so a condition that faults leaves both branches out. */

/* A predicate and a list of actions: an ECB for each of the clause's probe descriptions. */
struct part {
    struct dt_clause *clause;
    uint32_t predicate; /* object + 1 */
    uint32_t first_action;
    bool any; /* a part of this clause was made already */
};

/* Ends the part: its ECBs are made, and the next one begins under the same predicate. */
static void part_end(struct dt_session *d, struct part *p)
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
    /* The next part is an ECB of its own, so the rules on the order of actions start again. */
    p->clause->records = p->clause->speculates = p->clause->commits = false;
}

static bool part_has_actions(const struct part *p)
{
    return p->clause->program->actions.n != p->first_action;
}

/* The object + 1 of a predicate; NULL: 0. */
static uint32_t part_predicate(struct dt_session *d, struct dt_clause *c, struct dt_node *n)
{
    if (!n) {
        return 0;
    }
    dt_check_expression(d, n);
    if (!dt_type_is_scalar(n->type)) {
        dt_fail(d, n->location, "D_PRED_SCALAR", "predicate result must be of scalar type");
    }
    return dt_object_make(d, c->program, n, false);
}

static struct dt_node *clause_hidden_variable(struct dt_session *d, struct dt_location location,
                                              unsigned number)
{
    struct dt_node *n = dt_node_new(d, DT_NODE_NAME, location);

    n->scope = "this";
    n->text = dt_sprintf(d, "%%if%u", number);
    return n;
}

static struct dt_node *clause_number_node(struct dt_session *d, struct dt_location location,
                                          int64_t value)
{
    return dt_node_int(d, location, value, dt_type_basic(d, DT_BASIC_INT));
}

static void set_hidden(struct dt_session *d, struct dt_clause *c, unsigned which,
                       struct dt_node *value)
{
    struct dt_node *set =
        dt_node_operator(d, '=', clause_hidden_variable(d, value->location, which), value);

    dt_statement(d, c, set);
}

/* this->%if = condition ? 1 : 2, in a part of its own. */
static void clause_decide_branch(struct dt_session *d, struct part *p, struct dt_node *condition,
                                 unsigned which)
{
    struct dt_node *choice = dt_node_new(d, DT_NODE_TERNARY, condition->location);

    choice->left = condition;
    choice->right = clause_number_node(d, condition->location, 1);
    choice->third = clause_number_node(d, condition->location, 2);
    set_hidden(d, p->clause, which, choice);
    part_end(d, p);
}

static void part_statements(struct dt_session *d, struct part *p, struct dt_node *list);

static void clause_guard_body(struct dt_session *d, struct part *p, struct dt_node *body,
                              unsigned which, int64_t when)
{
    struct dt_node *test;
    uint32_t outer = p->predicate;

    if (!body) {
        return;
    }
    test = dt_node_operator(d, DT_OP_EQ, clause_hidden_variable(d, body->location, which),
                            clause_number_node(d, body->location, when));
    p->predicate = part_predicate(d, p->clause, test);
    part_statements(d, p, body);
    if (part_has_actions(p)) {
        part_end(d, p);
    }
    p->predicate = outer;
}

static void part_statements(struct dt_session *d, struct part *p, struct dt_node *list)
{
    for (; list; list = list->next) {
        if (list->kind == DT_NODE_IF) {
            unsigned which = ++d->programs->conditions;

            if (part_has_actions(p)) {
                part_end(d, p);
            }
            clause_decide_branch(d, p, list->left, which);
            clause_guard_body(d, p, list->body, which, 1);
            clause_guard_body(d, p, list->otherwise, which, 2);
        } else {
            dt_statement(d, p->clause, list);
        }
    }
}

static unsigned count_ifs(const struct dt_node *list)
{
    unsigned n = 0;

    for (; list; list = list->next) {
        if (list->kind == DT_NODE_IF) {
            n += 1 + count_ifs(list->body) + count_ifs(list->otherwise);
        }
    }
    return n;
}

/* The first parts of a clause with `if`: nothing is decided yet; then its predicate, if it has one,
 * is decided like a condition, once for all parts. */
static void part_begin_conditional(struct dt_session *d, struct part *p, struct dt_node *clause,
                                   unsigned ifs)
{
    unsigned first = d->programs->conditions + 1, all = ifs + (clause->left != NULL);

    for (unsigned i = 0; i < all; i++) {
        set_hidden(d, p->clause, first + i, clause_number_node(d, clause->location, 0));
    }
    part_end(d, p);
    if (clause->left) {
        unsigned which = ++d->programs->conditions;
        dt_check_expression(d, clause->left);
        if (!dt_type_is_scalar(clause->left->type)) {
            dt_fail(d, clause->left->location, "D_PRED_SCALAR",
                    "predicate result must be of scalar type");
        }
        clause_decide_branch(d, p, clause->left, which);
        p->predicate = part_predicate(
            d, p->clause,
            dt_node_operator(d, DT_OP_EQ, clause_hidden_variable(d, clause->location, which),
                             clause_number_node(d, clause->location, 1)));
    }
}

/* ---- clauses ------------------------------------------------------------------------ */

/* -x amin: what a clause uses must be at least as stable. */
static void check_minimum(struct dt_session *d, const struct dt_clause *c, const struct dt_node *n)
{
    uint64_t least = dtrace_option(d, "amin");
    uint64_t name = least >> 16 & 0xff, data = least >> 8 & 0xff, class = least & 0xff;
    const struct dtrace_attributes *p = &c->probe_attributes;
    const struct dt_attributes_short *a = &c->attributes;

    if (least != DT_OPTION_UNSET &&
        (a->name < name || a->data < data || a->class < class || p->name[0] < name ||
         p->data[0] < data || p->dependency[0] < class)) {
        dt_fail(d, n->location, "D_ATTR_MIN", "attributes are less than the predefined minimum");
    }
}

/* ---- the order of typing --------------------------------------------------------------
 *
 * A clause's actions are typed before its predicate, so that the predicate knows a variable that
 * only the actions assign. This is done on a copy of the statements, and the objects that come of
 * it are thrown away: what remains is the variables' types. Then predicate and actions are compiled
 * in the order in which they run. */
struct trial {
    struct dt_session *session;
    const struct dt_clause *clause;
    const struct dt_node *body;
};

static void try_actions(void *arg)
{
    struct trial *t = arg;
    struct dt_session *d = t->session;
    struct dt_clause *scratch = dt_alloc(d, sizeof(*scratch));
    struct part *part = dt_alloc(d, sizeof(*part));

    *scratch = *t->clause;
    scratch->program = dt_program_new(d);
    part->clause = scratch;
    d->programs->clause = scratch;
    part_statements(d, part, dt_copy_list(d, t->body, NULL, NULL));
}

/* Discards what a compilation has made, but for variables and aggregations. */
static void clause_forget_programs(struct dt_programs *programs, const struct dt_programs *before)
{
    programs->formats.n = before->formats.n;
    programs->datum_types.n = before->datum_types.n;
    programs->clause = before->clause;
    programs->depth = before->depth;
    programs->expansions = before->expansions;
    programs->conditions = before->conditions;
}

/* Fails as the actions do, unless a variable is missing that the predicate may define. */
static void type_actions(struct dt_session *d, struct dt_clause *c, const struct dt_node *body)
{
    struct dt_programs *programs = d->programs, before = *programs;
    struct trial trial = {d, c, body};
    bool typed = dt_try(d, try_actions, &trial);

    clause_forget_programs(programs, &before);
    if (!typed && !(strcmp(dt_caught_tag(d), "D_IDENT_UNDEF") == 0 ||
                    strcmp(dt_caught_tag(d), "D_VAR_UNDEF") == 0)) {
        dt_fail_again(d);
    }
}

/* Puts the predicate of the clause's derived probe in front of the clause's own. */
static void derived_predicate(struct dt_session *d, struct dt_clause *c, struct dt_node *clause)
{
    struct dt_node *implicit = c->derived ? dt_derived_predicate(d, c, clause->location) : NULL;

    if (implicit) {
        clause->left =
            clause->left ? dt_node_operator(d, DT_OP_ANDAND, implicit, clause->left) : implicit;
    }
}

/* Compiles a clause once, for all its probe descriptions. */
static void compile_once(struct dt_session *d, struct dt_clause *c, struct dt_node *clause)
{
    struct part p = {.clause = c, .first_action = c->program->actions.n};
    unsigned ifs = count_ifs(clause->body);

    c->probes = clause->probes;
    dt_clause_probes(d, c);
    d->programs->clause = c;
    d->programs->expansions = 0;
    derived_predicate(d, c, clause);
    if (clause->left) {
        type_actions(d, c, clause->body);
    }
    if (ifs) {
        part_begin_conditional(d, &p, clause, ifs);
    } else {
        p.predicate = part_predicate(d, c, clause->left);
    }
    part_statements(d, &p, clause->body);
    if (!p.any || part_has_actions(&p)) {
        part_end(d, &p);
    }
    check_minimum(d, c, clause);
    dt_tree_show(d, clause, 1);
}

/* ---- a list of descriptions --------------------------------------------------------------------
 *
 * dtrace(1M) compiles a clause once for each description, so that args[] has the types of that
 * one's probes. Here one compilation serves all of them as long as they agree on what the clause
 * uses of args[]. */
struct compilation {
    struct dt_session *session;
    struct dt_clause *clause;
    struct dt_node *node;
};

static void compile_all(void *arg)
{
    struct compilation *c = arg;

    compile_once(c->session, c->clause, c->node);
}

static void compile_list(struct dt_session *d, struct dt_clause *c, struct dt_node *node)
{
    struct dt_node *copy = dt_copy(d, node, NULL, NULL); /* compiling changes the tree */
    struct dt_programs *programs = d->programs, before = *programs;
    struct dt_program *program = c->program, made = *program;
    struct dt_clause begun = *c;
    struct compilation all = {d, c, node};

    copy->probes = dt_copy_list(d, node->probes, NULL, NULL);
    if (dt_try(d, compile_all, &all)) {
        return;
    }
    if (strcmp(dt_caught_tag(d), "D_ARGS_MULTI") != 0) {
        dt_fail_again(d);
    }
    clause_forget_programs(programs, &before);
    program->objects.n = made.objects.n;
    program->actions.n = made.actions.n;
    program->ecbs.n = made.ecbs.n;
    program->matched = made.matched;
    /* The stability of what earlier descriptions use remains: the least of all counts. */
    *c = begun;
    for (const struct dt_node *n = copy->probes; n; n = n->next) {
        struct dt_node *one = dt_copy(d, copy, NULL, NULL);
        struct dt_clause next = begun;

        one->probes = dt_copy(d, n, NULL, NULL);
        next.attributes = c->attributes;
        next.probe_attributes = c->probe_attributes;
        *c = next;
        compile_once(d, c, one);
    }
}

/* ---- derived probes -----------------------------------------------------------------------------
 *
 * A clause is compiled once more for each derived probe that it is on, with a number of its own: by
 * the number the consumer knows which one fired, since the target knows only their base. */

/* Compiles the clause, of which nothing was made so far, for one kind of probes. */
static void compile_numbered(struct dt_session *d, struct dt_program *program,
                             struct dt_node *clause, const char *description,
                             const struct dt_derived *derived)
{
    struct dt_programs *programs = d->programs;
    struct dt_clause_info *info = dt_list_add(d, &programs->clauses, sizeof(*info));
    struct dt_clause c = {
        .program = program,
        .number = programs->clauses.n - 1,
        .derived = derived,
        .attributes = {DTRACE_STABLE, DTRACE_STABLE, DTRACE_COMMON},
        .probe_attributes = {.name = {DTRACE_STANDARD},
                             .data = {DTRACE_STANDARD},
                             .dependency = {DTRACE_COMMON}},
    };

    info->description = description;
    info->line = clause->location.line;
    info->derived = derived;
    if (clause->probes && clause->probes->next) {
        compile_list(d, &c, clause);
    } else {
        compile_once(d, &c, clause);
    }
    info->description_attributes = c.probe_attributes;
    info->statement_attributes.name[0] = c.attributes.name;
    info->statement_attributes.data[0] = c.attributes.data;
    info->statement_attributes.dependency[0] = c.attributes.class;
    programs->clause = NULL;
}

static void compile_derived(struct dt_session *d, struct dt_program *program,
                            const struct dt_node *clause, const struct dt_derived *derived)
{
    struct dt_node *one = dt_copy(d, clause, NULL, NULL);
    struct dt_node *base = dt_node_new(d, DT_NODE_PROBE, clause->location);

    base->provider = derived->base;
    base->module = "";
    base->function = derived->base_function;
    base->probe_name = derived->base_name;
    one->probes = base;
    compile_numbered(d, program, one,
                     dt_sprintf(d, "%s:%s:%s:%s", derived->provider, derived->module,
                                derived->function, derived->name),
                     derived);
}

void dt_clause_compile(struct dt_session *d, struct dt_program *program, struct dt_node *clause,
                       const char *description)
{
    struct dt_array derived = {0}; /* const struct dt_derived * */

    if (d->helper) {
        dt_helper_clause(d, clause);
        return;
    }
    dt_tree_show(d, clause, 0);
    dt_clause_name_processes(d, clause->probes);
    dt_clause_derived(d, clause, &derived);
    struct dt_node *copy = derived.n ? dt_copy(d, clause, NULL, NULL) : NULL;

    if (clause->probes || derived.n == 0) {
        compile_numbered(d, program, clause, description, NULL);
    }
    for (unsigned i = 0; i < derived.n; i++) {
        compile_derived(d, program, copy, ((const struct dt_derived **)derived.data)[i]);
    }
}

struct dt_program *dt_program_new(struct dt_session *d)
{
    struct dt_program *p = dt_alloc(d, sizeof(*p));

    p->session = d;
    return p;
}

unsigned dt_program_matched(const struct dt_program *p)
{
    return p->matched;
}

const char *dt_program_text(const struct dt_program *p, size_t *size)
{
    *size = p->text_size;
    return p->text;
}

struct dt_programs *dt_programs_new(struct dt_session *d)
{
    return dt_alloc(d, sizeof(struct dt_programs));
}

void dt_programs_forget(struct dt_session *d)
{
    d->programs->clause = NULL;
    d->programs->depth = 0;
}
