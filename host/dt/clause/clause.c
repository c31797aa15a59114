/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clauses: their probe descriptions, predicate and statements become ECBs of the program.
 */
#include "host/dt/clause/part.h"

#include <string.h>

static uint32_t add_info(struct dt_session *d, const struct dt_node *clause, const char *text)
{
    struct dt_back *back = d->back;
    struct dt_clause_info *info = dt_list_add(d, &back->clauses, sizeof(*info));

    info->description = text;
    info->line = clause->place.line;
    return back->clauses.n - 1;
}

/* -x amin: what a clause uses must be at least as stable. */
static void check_minimum(struct dt_session *d, const struct dt_clause *c, const struct dt_node *n)
{
    uint64_t least = dtrace_option(d, "amin");
    uint64_t name = least >> 16 & 0xff, data = least >> 8 & 0xff, class = least & 0xff;
    const struct dtrace_attributes *p = &c->probe_attributes;
    const struct dt_attributes_short *a = &c->attributes;

    if (least != DT_OPTION_UNSET &&
        (a->name < name || a->data < data || a->class < class || p->name[0] < name ||
         p->data[0] < data || p->class[0] < class)) {
        dt_fail(d, n->place, "D_ATTR_MIN", "attributes are less than the predefined minimum");
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
    struct dt_part *part = dt_alloc(d, sizeof(*part));

    *scratch = *t->clause;
    scratch->program = dt_program_new(d);
    part->clause = scratch;
    d->back->clause = scratch;
    dt_part_statements(d, part, dt_copy_list(d, t->body, NULL, NULL));
}

/* What a compilation has made that is thrown away; variables and aggregations stay. */
static void forget(struct dt_back *back, const struct dt_back *before)
{
    back->formats.n = before->formats.n;
    back->datum_types.n = before->datum_types.n;
    back->clause = before->clause;
    back->depth = before->depth;
    back->expansions = before->expansions;
    back->conditions = before->conditions;
}

/* Fails as the actions do, unless a variable is missing that the predicate may define. */
static void type_actions(struct dt_session *d, struct dt_clause *c, const struct dt_node *body)
{
    struct dt_back *back = d->back, before = *back;
    struct trial trial = {d, c, body};
    bool typed = dt_try(d, try_actions, &trial);

    forget(back, &before);
    if (!typed && !(strcmp(dt_caught_tag(d), "D_IDENT_UNDEF") == 0 ||
                    strcmp(dt_caught_tag(d), "D_VAR_UNDEF") == 0)) {
        dt_fail_again(d);
    }
}

/* For all its probe descriptions at once. */
static void compile_once(struct dt_session *d, struct dt_clause *c, struct dt_node *clause)
{
    struct dt_part p = {.clause = c, .first_action = c->program->actions.n};
    unsigned ifs = dt_count_ifs(clause->body);

    c->probes = clause->probes;
    dt_clause_probes(d, c);
    d->back->clause = c;
    d->back->expansions = 0;
    if (clause->left) {
        type_actions(d, c, clause->body);
    }
    if (ifs) {
        dt_part_begin_conditional(d, &p, clause, ifs);
    } else {
        p.predicate = dt_part_predicate(d, c, clause->left);
    }
    dt_part_statements(d, &p, clause->body);
    if (!p.any || dt_part_has_actions(&p)) {
        dt_part_end(d, &p);
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
    struct dt_back *back = d->back, before = *back;
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
    forget(back, &before);
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

void dt_clause_compile(struct dt_session *d, struct dt_program *program, struct dt_node *clause,
                       const char *description)
{
    struct dt_clause c = {
        .program = program,
        .number = add_info(d, clause, description),
        .attributes = {DTRACE_STABLE, DTRACE_STABLE, DTRACE_COMMON},
        .probe_attributes = {.name = {DTRACE_STANDARD},
                             .data = {DTRACE_STANDARD},
                             .class = {DTRACE_COMMON}},
    };

    dt_tree_show(d, clause, 0);
    if (clause->probes && clause->probes->next) {
        compile_list(d, &c, clause);
    } else {
        compile_once(d, &c, clause);
    }
    struct dt_clause_info *info = d->back->clauses.data;
    const struct dt_attributes_short *a = &c.attributes;

    info += c.number;
    info->description_attributes = c.probe_attributes;
    info->statement_attributes.name[0] = a->name;
    info->statement_attributes.data[0] = a->data;
    info->statement_attributes.class[0] = a->class;
    d->back->clause = NULL;
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

struct dt_back *dt_back_new(struct dt_session *d)
{
    return dt_alloc(d, sizeof(struct dt_back));
}

void dt_back_forget(struct dt_session *d)
{
    d->back->clause = NULL;
    d->back->depth = 0;
}
