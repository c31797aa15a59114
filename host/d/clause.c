/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clauses: their probe descriptions, predicate and statements become ECBs of the program.
 */
#include "host/d/part.h"

#include <string.h>

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

/* ---- the order of typing -----------------------------------------------------------------------
 *
 * A clause's actions are typed before its predicate, so that the predicate knows a variable that
 * only the actions assign. This is done on a copy of the statements, and the objects that come of
 * it are thrown away: what remains is the variables' types. Then predicate and actions are compiled
 * in the order in which they run.
 */
struct trial {
    struct d_session *session;
    const struct d_clause *clause;
    const struct d_node *body;
};

static void try_actions(void *arg)
{
    struct trial *t = arg;
    struct d_session *d = t->session;
    struct d_clause *scratch = d_alloc(d, sizeof(*scratch));
    struct d_part *part = d_alloc(d, sizeof(*part));

    *scratch = *t->clause;
    scratch->program = d_program_new(d);
    part->clause = scratch;
    d_session_back(d)->clause = scratch;
    d_part_statements(d, part, d_copy_list(d, t->body, NULL, NULL));
}

static bool is_undefined(const char *tag)
{
    return strcmp(tag, "D_IDENT_UNDEF") == 0 || strcmp(tag, "D_VAR_UNDEF") == 0;
}

/* Fails as the actions do, unless a variable is missing that the predicate may define. */
static void type_actions(struct d_session *d, struct d_clause *c, const struct d_node *body)
{
    struct d_back *back = d_session_back(d), before = *back;
    struct trial trial = {d, c, body};
    bool typed = d_try(d, try_actions, &trial);

    back->formats.n = before.formats.n;
    back->datum_types.n = before.datum_types.n;
    back->clause = before.clause;
    back->depth = before.depth;
    back->expansions = before.expansions;
    back->conditions = before.conditions;
    if (!typed && !is_undefined(d_caught_tag(d))) {
        d_fail_again(d);
    }
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
    struct d_part p = {.clause = &c, .first_action = program->actions.n};
    unsigned ifs = d_count_ifs(clause->body);

    d_tree_show(d, clause, 0);
    d_clause_probes(d, &c);
    d_session_back(d)->clause = &c;
    d_session_back(d)->expansions = 0;
    if (clause->left) {
        type_actions(d, &c, clause->body);
    }
    if (ifs) {
        d_part_begin_conditional(d, &p, clause, ifs);
    } else {
        p.predicate = d_part_predicate(d, &c, clause->left);
    }
    d_part_statements(d, &p, clause->body);
    if (!p.any || d_part_has_actions(&p)) {
        d_part_end(d, &p);
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

const char *d_program_text(const struct d_program *p, size_t *size)
{
    *size = p->text_size;
    return p->text;
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
