/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * $target, if it means several processes (-p NAME): a clause whose predicate or statements name it
 * is compiled once for each of them, so that `pid == $target` is true of each; of another clause,
 * the descriptions that name it stand for all. Tested by test/host/remote/board_test.c and
 * test/board/grab.py.
 */
#include "host/dt/clause/clause.h"
#include "host/dt/syntax/parse.h"

static bool target_in(const struct dt_session *, const struct dt_node *);

static bool target_in_list(const struct dt_session *d, const struct dt_node *list)
{
    while (list && !target_in(d, list)) {
        list = list->next;
    }
    return list != NULL;
}

/* An inline is asked once, when it is defined. */
static bool target_in(const struct dt_session *d, const struct dt_node *n)
{
    if (!n) {
        return false;
    }
    const struct dt_ident *i =
        n->kind == DT_NODE_NAME && !n->scope ? dt_ident_lookup(d->globals, n->text) : NULL;

    return n->is_target || (i && i->flags & DT_IDENT_TARGET) || target_in(d, n->left) ||
           target_in(d, n->right) || target_in(d, n->third) || target_in_list(d, n->args) ||
           target_in_list(d, n->body) || target_in_list(d, n->otherwise);
}

void dt_target_of_inline(struct dt_parse *p, struct dt_ident *i)
{
    i->flags |= target_in(p->session, i->inline_body) ? DT_IDENT_TARGET : 0;
}

void dt_target_refuse(struct dt_parse *p, const struct dt_node *n)
{
    if (target_in(p->session, n)) {
        dt_fail(p->session, n->location, "D_SYNTAX",
                "$target is %u processes: only a clause or an inline can name it",
                p->session->ntargets);
    }
}

/* ---- clauses ----------------------------------------------------------------------- */

/* Copies the descriptions, in which $target is the process of the session. */
static struct dt_node *target_copy_probes(struct dt_parse *p, const struct dt_node *probes)
{
    struct dt_node *first = NULL, **link = &first;

    for (; probes; probes = probes->next) {
        *link = probes->is_target ? dt_probe_by_text(p, probes->location, probes->text)
                                  : dt_copy(p->session, probes, NULL, NULL);
        link = &(*link)->next;
    }
    return first;
}

static struct dt_node *target_all_probes(struct dt_parse *p, const struct dt_node *probes)
{
    struct dt_session *d = p->session;
    struct dt_node *first = NULL, **link = &first;

    for (; probes; probes = probes->next) {
        struct dt_node *one = dt_copy(d, probes, NULL, NULL);
        unsigned times = probes->is_target ? d->ntargets : 1;

        for (unsigned i = 0; i < times; i++) {
            d->target = d->targets[i];
            *link = target_copy_probes(p, one);
            link = &(*link)->next;
        }
    }
    d->target = d->targets[0];
    return first;
}

void dt_target_clause(struct dt_parse *p, struct dt_node *clause, const char *description)
{
    struct dt_session *d = p->session;
    const bool each =
        d->ntargets > 1 && (target_in(d, clause->left) || target_in_list(d, clause->body));

    if (d->ntargets > 1 && !each) {
        clause->probes = target_all_probes(p, clause->probes);
    }
    for (unsigned i = 0; each && i < d->ntargets; i++) {
        d->target = d->targets[i];
        struct dt_node *copy = dt_copy(d, clause, NULL, NULL);
        copy->probes = target_copy_probes(p, clause->probes);
        dt_clause_compile(d, p->program, copy, description);
    }
    if (each) {
        d->target = d->targets[0];
    } else {
        dt_clause_compile(d, p->program, clause, description);
    }
}
