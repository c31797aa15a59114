/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inlines and translators: their bodies are copied to where they are used, with the arguments in
 * the place of the parameters. Nothing of them is left at run time.
 */
#include "host/dt/check/check.h"

#include <string.h>

enum { DEPTH_MAX = 64, EXPANSIONS_MAX = 10000 };

static void expand_enter_level(struct dt_session *d, const struct dt_node *n, const char *name)
{
    struct dt_programs *programs = d->programs;

    if (++programs->depth > DEPTH_MAX) {
        dt_fail(d, n->location, "D_IDENT_UNDEF", "%s is defined in terms of itself", name);
    }
    if (++programs->expansions > EXPANSIONS_MAX) { /* each inline may double the one before */
        dt_fail(d, n->location, "D_UNKNOWN", "more than %u expansions of inlines and translators",
                EXPANSIONS_MAX);
    }
}

static void expand_leave_level(struct dt_session *d)
{
    d->programs->depth--;
}

/* ---- inlines ----------------------------------------------------------------------- */

static void check_inline_arguments(struct dt_session *d, const struct dt_node *n,
                                   const struct dt_ident *ident, struct dt_node *args)
{
    unsigned given = dt_list_length(args), i = 0;

    if (given != ident->ninline_parameters) {
        dt_fail(d, n->location, "D_PROTO_LEN", "%s[ ] %s", ident->name,
                dt_mismatch_text(d, given, "arg", ident->ninline_parameters,
                                 ident->ninline_parameters));
    }
    for (; args; args = args->next, i++) {
        dt_check_expression(d, args);
        if (!dt_compatible(args, ident->inline_parameters[i]->type)) {
            dt_fail(d, args->location, "D_PROTO_ARG",
                    "%s[ ] argument #%u is incompatible with prototype:\n"
                    "\tprototype: %s\n\t argument: %s",
                    ident->name, i + 1, dt_type_full_text(d, ident->inline_parameters[i]->type),
                    dt_value_text(d, args));
        }
    }
}

static struct dt_node *expand_body(struct dt_session *d, const struct dt_ident *ident,
                                   const struct dt_node *args)
{
    struct dt_node *body = dt_copy(d, ident->inline_body, NULL, NULL);

    for (unsigned i = 0; i < ident->ninline_parameters; i++, args = args->next) {
        const struct dt_ident *parameter = ident->inline_parameters[i];
        /* An argument as a parameter sees it: of the parameter's type. */
        struct dt_node *copy = dt_copy(d, args, NULL, NULL);
        body = dt_copy(d, body, parameter->name,
                       dt_type_is_arithmetic(parameter->type) && dt_type_is_arithmetic(args->type)
                           ? dt_node_cast(d, copy, parameter->type)
                           : copy);
    }
    return body;
}

/* A value of the declared type: integers are converted, others must fit. */
static struct dt_node *as_declared(struct dt_session *d, struct dt_node *body,
                                   const struct dt_ident *i)
{
    const struct dt_type *from = dt_check_expression(d, body);

    if (!dt_compatible(body, i->type)) {
        dt_fail(d, body->location, "D_OP_INCOMPAT",
                "inline %s definition uses incompatible types: \"%s\" = \"%s\"", i->name,
                dt_type_full_text(d, i->type), dt_value_text(d, body));
    }
    if (dt_type_is_struct(i->type) || dt_type_is_string(i->type) || dt_type_same(from, i->type)) {
        return body;
    }
    struct dt_node *cast = dt_node_cast(d, body, i->type);
    dt_check_expression(d, cast);
    return cast;
}

void dt_inline_expand(struct dt_session *d, struct dt_node *n, struct dt_ident *ident,
                      struct dt_node *args)
{
    check_inline_arguments(d, n, ident, args);
    expand_enter_level(d, n, ident->name);
    ident->flags |= DT_IDENT_USED;
    struct dt_location location = n->location;
    struct dt_node *body = as_declared(d, expand_body(d, ident, args), ident);
    dt_become(n, body);
    n->location = location;
    n->is_lvalue = n->is_writable = false;
    expand_leave_level(d);
}

/* The definition by itself, with parameters that stand for any value. */
void dt_inline_check(struct dt_session *d, struct dt_ident *ident)
{
    struct dt_node *args = NULL, **link = &args;

    for (unsigned i = 0; i < ident->ninline_parameters; i++) {
        struct dt_node *arg = dt_node_new(d, DT_NODE_IDENT, ident->inline_body->location);
        arg->ident = ident->inline_parameters[i];
        dt_set_type(arg, arg->ident->type);
        *link = arg;
        link = &arg->next;
    }
    expand_enter_level(d, ident->inline_body, ident->name);
    as_declared(d, expand_body(d, ident, args), ident);
    expand_leave_level(d);
}

/* ---- translators ------------------------------------------------------------------- */

static struct dt_translator *expand_find_translator(struct dt_session *d,
                                                    const struct dt_type *output,
                                                    const struct dt_type *input)
{
    for (struct dt_translator *t = d->translators; t; t = t->next) {
        if (dt_type_same(t->output, output) && dt_type_same(t->input, input)) {
            return t;
        }
    }
    return NULL;
}

/* Translates a member from this input: returns a node of the member's type. */
static struct dt_node *expand_translate_member(struct dt_session *d, const struct dt_translator *t,
                                               const struct dt_member_value *m,
                                               const struct dt_type *type,
                                               const struct dt_node *input)
{
    struct dt_node *value = dt_copy(d, m->value, t->input_name, input);
    const struct dt_type *from = dt_check_expression(d, value);

    bool fits = dt_compatible(value, type) ||
                (dt_type_is_string_like(type) && dt_type_is_string_like(from));
    if (!fits) {
        dt_fail(d, m->location, "D_XLATE_INCOMPAT",
                "translator member %s definition uses incompatible types: \"%s\" = \"%s\"", m->name,
                dt_type_full_text(d, type), dt_type_full_text(d, from));
    }
    if (dt_type_is_arithmetic(type) && dt_type_is_arithmetic(from) && !dt_type_same(type, from)) {
        value = dt_node_cast(d, value, type);
        dt_check_expression(d, value);
    }
    return value;
}

void dt_translator_check(struct dt_session *d, struct dt_translator *t)
{
    const struct dt_type *output = dt_type_resolve(t->output);
    struct dt_translator *first;

    if (!dt_type_is_struct(output)) {
        dt_fail(d, t->location, "D_XLATE_SOU",
                "translator output type must be a complete struct or union");
    }
    first = expand_find_translator(d, t->output, t->input);
    if (first && first != t) {
        dt_fail(d, t->location, "D_XLATE_REDECL",
                "translator for this pair of types has already been declared");
    }
    for (struct dt_member_value *m = t->members; m; m = m->next) {
        uint64_t bits = 0;
        const struct dt_member *member = dt_type_member(output, m->name, &bits);
        if (!member) {
            dt_fail(d, m->location, "D_XLATE_MEMB", "translator member %s is not a member of %s",
                    m->name, dt_type_full_text(d, t->output));
        }
        struct dt_node *input = dt_node_new(d, DT_NODE_IDENT, t->location);
        struct dt_ident *parameter = dt_alloc(d, sizeof(*parameter));

        *parameter =
            (struct dt_ident){.name = t->input_name, .kind = DT_IDENT_XLATOR, .type = t->input};
        input->ident = parameter;
        input->is_lvalue = true;
        dt_set_type(input, t->input);
        expand_translate_member(d, t, m, member->type, input);
    }
}

/* xlate<T>(e) and xlate<T *>(e). */
void dt_xlate_check(struct dt_session *d, struct dt_node *n)
{
    const struct dt_type *wanted = dt_type_resolve(n->type), *output = wanted, *input;
    const struct dt_type *type = n->type;

    if (wanted->kind == DT_TYPE_POINTER) {
        output = dt_type_resolve(wanted->to);
    }
    input = dt_check_expression(d, n->left);
    n->translator = expand_find_translator(d, output, input);
    if (!n->translator) {
        dt_fail(d, n->location, "D_XLATE_NONE", "cannot translate from \"%s\" to \"%s\"",
                dt_type_full_text(d, input), dt_type_full_text(d, output));
    }
    dt_set_type(n, type);
}

/* `struct _lwp` of a pid and a tid, as if a translator had made it. */
static struct dt_node *lwp_of(struct dt_session *d, struct dt_location location,
                              const struct dt_type *lwp, struct dt_node *const words[2])
{
    static const char *const names[] = {"pid", "tid"};
    struct dt_translator *t = dt_alloc(d, sizeof(*t));
    struct dt_member_value **end = &t->members;

    *t = (struct dt_translator){.output = lwp, .location = location};
    for (unsigned i = 0; i < 2; i++) {
        struct dt_member_value *m = dt_alloc(d, sizeof(*m));
        struct dt_node *value =
            words[i] ? words[i] : dt_node_int(d, location, 0, dt_type_basic(d, DT_BASIC_INT));
        *m = (struct dt_member_value){.name = names[i], .value = value, .location = location};
        *end = m;
        end = &m->next;
    }
    struct dt_node *n = dt_node_new(d, DT_NODE_XLATE, location);
    n->translator = t;
    n->is_cooked = true;
    dt_set_type(n, lwp);
    return n;
}

struct dt_node *dt_xlate_argument(struct dt_session *d, struct dt_location location,
                                  const struct dt_type *type, struct dt_node *const words[2])
{
    const struct dt_type *output = dt_type_resolve(dt_type_resolve(type)->to);
    const struct dt_type *lwp = dt_type_lookup(d, NULL, "struct _lwp");
    const struct dt_type *current = dt_type_lookup(d, NULL, "enum _current");
    struct dt_node *n = dt_node_new(d, DT_NODE_XLATE, location);

    dt_set_type(n, type);
    if (!words[0] && current) {
        n->left = dt_node_int(d, location, 0, current);
    } else if (words[0] && !words[1] && expand_find_translator(d, output, words[0]->type)) {
        n->left = words[0];
    } else if (words[0] && lwp) {
        n->left = lwp_of(d, location, lwp, words);
    } else {
        dt_fail(d, location, "D_XLATE_NONE",
                "cannot translate to \"%s\": no translator is declared",
                dt_type_text(d, output, NULL));
    }
    dt_check_expression(d, n);
    return n;
}

struct dt_node *dt_xlate_value(struct dt_session *d, const struct dt_node *xlate,
                               const struct dt_member *member)
{
    const struct dt_translator *t = xlate->translator;
    const struct dt_member_value *m = t->members;

    while (m && strcmp(m->name, member->name) != 0) {
        m = m->next;
    }
    return m ? expand_translate_member(d, t, m, member->type, xlate->left) : NULL;
}

void dt_xlate_member(struct dt_session *d, struct dt_node *n)
{
    struct dt_node *xlate = n->left;
    const struct dt_type *output = dt_type_resolve(xlate->translator->output);
    bool pointer = dt_type_resolve(xlate->type)->kind == DT_TYPE_POINTER;
    uint64_t bits = 0;
    const struct dt_member *member = dt_type_member(output, n->text, &bits);

    if (pointer != (n->op == DT_OP_ARROW)) {
        dt_fail(d, n->location, pointer ? "D_OP_SOU" : "D_OP_PTR",
                "operator %s must be applied to a %s", pointer ? "." : "->",
                pointer ? "struct or union" : "pointer");
    }
    if (!member) {
        dt_fail(d, n->location, "D_TYPE_MEMBER", "%s is not a member of %s", n->text,
                dt_type_full_text(d, xlate->translator->output));
    }
    struct dt_location location = n->location;
    expand_enter_level(d, n, n->text);
    struct dt_node *value = dt_xlate_value(d, xlate, member);
    expand_leave_level(d);
    dt_become(n, value ? value : dt_node_int(d, location, 0, member->type));
    if (!value && dt_type_is_string_like(member->type)) {
        n->kind = DT_NODE_STRING;
        n->text = "";
        dt_set_type(n, dt_type_basic(d, DT_BASIC_STRING));
    }
    n->location = location;
    n->is_lvalue = n->is_writable = false;
}
