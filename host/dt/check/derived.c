/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Derived probes: which a session knows, and what a clause on one reads. See derived.h. Tested by
 * test/host/dt, test/board/statics.py.
 */
#include "host/dt/check/derived.h"

#include <string.h>

#include "host/dt/check/check.h"

/* ---- which there are --------------------------------------------------------------- */

/* The derived probes of any target. */
static const struct dt_derived derived_probe_table[] = {
#define ARGS(...) \
    { \
        __VA_ARGS__ \
    }
#define A(c_type, word, text) \
    { \
        .type = (c_type), .name = #word, .value = (text) \
    }
#define DERIVED(prov, func, probe, base_prov, base_func, base_probe, test, arguments, doc) \
    {.provider = #prov, \
     .module = "kernel", \
     .function = (func), \
     .name = (probe), \
     .base = #base_prov, \
     .base_function = (base_func), \
     .base_name = (base_probe), \
     .predicate = (test), \
     .args = arguments, \
     .nargs = sizeof((const struct dt_derived_argument[])arguments) / \
              sizeof(struct dt_derived_argument)},
#include "trace/derived.def"
#undef DERIVED
#undef A
#undef ARGS
};

static const char *derived_keep_text(struct dt_session *d, const char *text)
{
    return text ? dt_strdup(d, text) : NULL;
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool derived_is_same_probe(const struct dt_derived *p, const struct dt_derived *q)
{
    return is_same_text(p->provider, q->provider) && is_same_text(p->module, q->module) &&
           is_same_text(p->function, q->function) && is_same_text(p->name, q->name) &&
           is_same_text(p->predicate, q->predicate) && is_same_text(p->base, q->base) &&
           is_same_text(p->base_function, q->base_function) &&
           is_same_text(p->base_name, q->base_name) && p->base_args == q->base_args;
}

void dt_session_derive(struct dt_session *d, const struct dt_derived *probe)
{
    struct dt_derived_entry **end = &d->derived, *e;

    while (*end) {
        if (derived_is_same_probe(&(*end)->probe, probe)) {
            return;
        }
        end = &(*end)->next;
    }
    e = dt_alloc(d, sizeof(*e));
    e->probe = (struct dt_derived){
        .provider = derived_keep_text(d, probe->provider),
        .module = derived_keep_text(d, probe->module),
        .function = derived_keep_text(d, probe->function),
        .name = derived_keep_text(d, probe->name),
        .base = derived_keep_text(d, probe->base),
        .base_function = derived_keep_text(d, probe->base_function),
        .base_name = derived_keep_text(d, probe->base_name),
        .base_args = probe->base_args,
        .predicate = derived_keep_text(d, probe->predicate),
        .nargs = probe->nargs,
    };
    for (unsigned i = 0; i < probe->nargs; i++) {
        e->probe.args[i] =
            (struct dt_derived_argument){.type = derived_keep_text(d, probe->args[i].type),
                                         .name = derived_keep_text(d, probe->args[i].name),
                                         .value = derived_keep_text(d, probe->args[i].value),
                                         .args = derived_keep_text(d, probe->args[i].args)};
    }
    *end = e;
}

void dt_session_derive_from(struct dt_session *d, void (*find)(void *arg, struct dt_session *),
                            void *arg)
{
    d->find_derived = find;
    d->find_derived_arg = arg;
}

struct base {
    const struct dt_probe_source *probes;
    unsigned args; /* that it must have */
    bool has_them;
};

static bool base_found(void *arg, const struct dt_probe_info *info)
{
    struct base *b = arg;

    b->has_them =
        b->args == 0 || b->probes->argument_type(b->probes->arg, info->id, b->args - 1) != NULL;
    return false; /* the first one says it of all */
}

/* A capture may lack the base, and an older target, or its arguments. */
static bool has_base(struct dt_session *d, const struct dt_derived *probe)
{
    struct base base = {d->probes, probe->base_args, false};

    if (!d->probes || d->probes->each(d->probes->arg, probe->base, "", probe->base_function,
                                      probe->base_name, 0, base_found, &base) == 0) {
        return false;
    }
    d->base_is_older |= !base.has_them;
    return base.has_them;
}

struct dt_probe_info dt_derived_info(const struct dt_derived *p)
{
    /* Names and arguments are those of a program's source, which may change. */
    static const struct dtrace_attributes attributes = {
        .name = {DTRACE_EVOLVING, DTRACE_EVOLVING, DTRACE_EVOLVING, DTRACE_EVOLVING,
                 DTRACE_EVOLVING},
        .data = {DTRACE_EVOLVING, DTRACE_EVOLVING, DTRACE_EVOLVING, DTRACE_EVOLVING,
                 DTRACE_EVOLVING},
        .dependency = {DTRACE_COMMON, DTRACE_COMMON, DTRACE_COMMON, DTRACE_COMMON, DTRACE_COMMON},
    };

    return (struct dt_probe_info){.provider = p->provider,
                                  .module = p->module,
                                  .function = p->function,
                                  .name = p->name,
                                  .attributes = attributes,
                                  .argument_attributes = attributes,
                                  .derived = p};
}

struct search {
    struct dt_session *session;
    const char *fields[4]; /* of the description */
    bool (*fn)(void *arg, const struct dt_probe_info *);
    void *arg;
    unsigned n; /* calls of fn */
};

/* Calls fn if the probe is meant. Returns true if fn wants no more. */
static bool derived_call_if_meant(struct search *s, const struct dt_derived *p)
{
    const struct dt_probe_info info = dt_derived_info(p);

    if (!dtrace_glob(s->fields[0], p->provider) || !dtrace_glob(s->fields[1], p->module) ||
        !dtrace_glob(s->fields[2], p->function) || !dtrace_glob(s->fields[3], p->name) ||
        !has_base(s->session, p)) {
        return false;
    }
    s->n++;
    return !s->fn(s->arg, &info);
}

unsigned dt_derived_each(struct dt_session *d, const char *provider, const char *module,
                         const char *function, const char *name,
                         bool (*fn)(void *fn_arg, const struct dt_probe_info *), void *fn_arg)
{
    void (*find)(void *, struct dt_session *) = d->find_derived;
    struct search search = {d, {provider, module, function, name}, fn, fn_arg, 0};

    d->find_derived = NULL;
    d->base_is_older = false;
    if (find) {
        find(d->find_derived_arg, d);
    }
    for (unsigned i = 0; i < sizeof(derived_probe_table) / sizeof(*derived_probe_table); i++) {
        if (derived_call_if_meant(&search, &derived_probe_table[i])) {
            return search.n;
        }
    }
    for (const struct dt_derived_entry *e = d->derived; e; e = e->next) {
        if (derived_call_if_meant(&search, &e->probe)) {
            break;
        }
    }
    return search.n;
}

/* ---- what a clause reads ----------------------------------------------------------- */

/* The value of a text in D, as an expression of the base probe. */
static struct dt_node *base_value(struct dt_session *d, struct dt_location location,
                                  const char *type, const char *text)
{
    struct dt_clause *clause = d->programs->clause;
    const struct dt_derived *derived = clause->derived;
    struct dt_node *n = dt_node_new(d, DT_NODE_NAME, location);

    clause->derived = NULL; /* here arg0 is the base's */
    n->text = d->define_inline(d, type, text);
    dt_check_expression(d, n);
    clause->derived = derived;
    return n;
}

struct dt_node *dt_derived_predicate(struct dt_session *d, struct dt_clause *c,
                                     struct dt_location location)
{
    const char *text = c->derived->predicate;

    return text ? base_value(d, location, "int", text) : NULL;
}

static void become_text(struct dt_session *d, struct dt_node *n, const char *text)
{
    n->kind = DT_NODE_STRING;
    n->text = text;
    dt_set_type(n, dt_type_basic(d, DT_BASIC_STRING));
}

/* An argument that the probe doesn't have is 0, as the target's are. */
static void become_argument(struct dt_session *d, struct dt_node *n, unsigned number)
{
    const struct dt_derived *p = d->programs->clause->derived;
    struct dt_location location = n->location;

    dt_become(n, number < p->nargs ? base_value(d, location, "int64_t", p->args[number].value)
                                   : dt_node_int(d, location, 0, dt_type_basic(d, DT_BASIC_INT64)));
}

bool dt_derived_variable(struct dt_session *d, struct dt_node *n, const struct dt_ident *ident)
{
    const struct dt_clause *clause = d->programs->clause;
    const struct dt_derived *p = clause ? clause->derived : NULL;

    if (!p || !(ident->flags & DT_IDENT_BUILTIN) || ident->kind != DT_IDENT_SCALAR) {
        return false;
    }
    switch (ident->number) {
    case DIF_VAR_probeprov:
        become_text(d, n, p->provider);
        return true;
    case DIF_VAR_probemod:
        become_text(d, n, p->module);
        return true;
    case DIF_VAR_probefunc:
        become_text(d, n, p->function);
        return true;
    case DIF_VAR_probename:
        become_text(d, n, p->name);
        return true;
    default:
        if (ident->number < DIF_VAR_arg0 || ident->number > DIF_VAR_arg9) {
            return false;
        }
        become_argument(d, n, ident->number - DIF_VAR_arg0);
        return true;
    }
}

struct dt_node *dt_derived_argument(struct dt_session *d, struct dt_location location, unsigned n)
{
    const struct dt_derived *p = d->programs->clause->derived;

    if (n >= p->nargs) {
        return NULL;
    }
    const struct dt_derived_argument *a = &p->args[n];
    return base_value(d, location, a->type, a->args ? a->args : a->value);
}
