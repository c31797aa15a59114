/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inlines and translators: their bodies are copied to where they are used, with the arguments in
 * the place of the parameters. Nothing of them is left at run time.
 */
#include "host/d/back.h"

#include <string.h>

enum { DEPTH_MAX = 64, EXPANSIONS_MAX = 10000 };

static void deeper(struct d_session *d, const struct d_node *n, const char *name)
{
    struct d_back *back = d_session_back(d);

    if (++back->depth > DEPTH_MAX) {
        d_fail(d, n->place, "D_IDENT_UNDEF", "%s is defined by itself", name);
    }
    if (++back->expansions > EXPANSIONS_MAX) { /* each inline may double the one before */
        d_fail(d, n->place, "D_UNKNOWN", "inlines and translators expand to too much");
    }
}

static void shallower(struct d_session *d)
{
    d_session_back(d)->depth--;
}

/* ---- inlines -----------------------------------------------------------------------------------
 */

static void check_inline_arguments(struct d_session *d, const struct d_node *n,
                                   const struct d_ident *ident, struct d_node *args)
{
    unsigned given = d_list_length(args), i = 0;

    if (given != ident->ninline_parameters) {
        d_fail(
            d, n->place, "D_PROTO_LEN", "%s[ ] %s", ident->name,
            d_mismatch_text(d, given, "arg", ident->ninline_parameters, ident->ninline_parameters));
    }
    for (; args; args = args->next, i++) {
        d_check_expression(d, args);
        if (!d_compatible(args, ident->inline_parameters[i]->type)) {
            d_fail(d, args->place, "D_PROTO_ARG",
                   "%s[ ] argument #%u is incompatible with prototype:\n"
                   "\tprototype: %s\n\t argument: %s",
                   ident->name, i + 1, d_type_full_text(d, ident->inline_parameters[i]->type),
                   d_value_text(d, args));
        }
    }
}

/* An argument as a parameter sees it: of the parameter's type. */
static struct d_node *as_parameter(struct d_session *d, const struct d_node *arg,
                                   const struct d_type *type)
{
    struct d_node *copy = d_copy(d, arg, NULL, NULL);

    return d_type_is_arithmetic(type) && d_type_is_arithmetic(arg->type)
               ? d_node_cast(d, copy, type)
               : copy;
}

static struct d_node *expand_body(struct d_session *d, const struct d_ident *ident,
                                  const struct d_node *args)
{
    struct d_node *body = d_copy(d, ident->inline_body, NULL, NULL);

    for (unsigned i = 0; i < ident->ninline_parameters; i++, args = args->next) {
        const struct d_ident *parameter = ident->inline_parameters[i];
        body = d_copy(d, body, parameter->name, as_parameter(d, args, parameter->type));
    }
    return body;
}

/* A value of the declared type: integers are converted, others must fit. */
static struct d_node *as_declared(struct d_session *d, struct d_node *body, const struct d_ident *i)
{
    const struct d_type *from = d_check_expression(d, body);

    if (!d_compatible(body, i->type)) {
        d_fail(d, body->place, "D_OP_INCOMPAT",
               "inline %s definition uses incompatible types: \"%s\" = \"%s\"", i->name,
               d_type_full_text(d, i->type), d_value_text(d, body));
    }
    if (d_type_is_struct(i->type) || d_type_is_string(i->type) || d_type_same(from, i->type)) {
        return body;
    }
    struct d_node *cast = d_node_cast(d, body, i->type);
    d_check_expression(d, cast);
    return cast;
}

void d_inline_expand(struct d_session *d, struct d_node *n, struct d_ident *ident,
                     struct d_node *args)
{
    check_inline_arguments(d, n, ident, args);
    deeper(d, n, ident->name);
    ident->flags |= D_IDENT_USED;
    struct d_place place = n->place;
    struct d_node *body = as_declared(d, expand_body(d, ident, args), ident);
    d_become(n, body);
    n->place = place;
    n->is_lvalue = n->is_writable = false;
    shallower(d);
}

/* The definition by itself, with parameters that stand for any value. */
void d_inline_check(struct d_session *d, struct d_ident *ident)
{
    struct d_node *args = NULL, **link = &args;

    for (unsigned i = 0; i < ident->ninline_parameters; i++) {
        struct d_node *arg = d_node_new(d, D_NODE_IDENT, ident->inline_body->place);
        arg->ident = ident->inline_parameters[i];
        d_set_type(arg, arg->ident->type);
        *link = arg;
        link = &arg->next;
    }
    deeper(d, ident->inline_body, ident->name);
    as_declared(d, expand_body(d, ident, args), ident);
    shallower(d);
}

/* ---- translators -------------------------------------------------------------------------------
 */

static bool same_input(const struct d_type *a, const struct d_type *b)
{
    return d_type_same(a, b);
}

static struct d_translator *find(struct d_session *d, const struct d_type *output,
                                 const struct d_type *input)
{
    for (struct d_translator *t = d_session_translators(d); t; t = t->next) {
        if (d_type_same(t->output, output) && same_input(t->input, input)) {
            return t;
        }
    }
    return NULL;
}

static struct d_member_value *member_value(const struct d_translator *t, const char *name)
{
    struct d_member_value *m = t->members;

    while (m && strcmp(m->name, name) != 0) {
        m = m->next;
    }
    return m;
}

/* What a member is, made from this input: of the member's type. */
static struct d_node *translate(struct d_session *d, const struct d_translator *t,
                                const struct d_member_value *m, const struct d_type *type,
                                const struct d_node *input)
{
    struct d_node *value = d_copy(d, m->value, t->input_name, input);
    const struct d_type *from = d_check_expression(d, value);

    bool fits =
        d_compatible(value, type) || (d_type_is_string_like(type) && d_type_is_string_like(from));
    if (!fits) {
        d_fail(d, m->place, "D_XLATE_INCOMPAT",
               "translator member %s definition uses incompatible types: \"%s\" = \"%s\"", m->name,
               d_type_full_text(d, type), d_type_full_text(d, from));
    }
    if (d_type_is_arithmetic(type) && d_type_is_arithmetic(from) && !d_type_same(type, from)) {
        value = d_node_cast(d, value, type);
        d_check_expression(d, value);
    }
    return value;
}

static struct d_node *stand_in(struct d_session *d, const struct d_translator *t)
{
    struct d_node *input = d_node_new(d, D_NODE_IDENT, t->place);
    struct d_ident *ident = d_alloc(d, sizeof(*ident));

    *ident = (struct d_ident){.name = t->input_name, .kind = D_IDENT_XLATOR, .type = t->input};
    input->ident = ident;
    input->is_lvalue = true;
    d_set_type(input, t->input);
    return input;
}

void d_translator_check(struct d_session *d, struct d_translator *t)
{
    const struct d_type *output = d_type_resolve(t->output);
    struct d_translator *first;

    if (!d_type_is_struct(output)) {
        d_fail(d, t->place, "D_XLATE_SOU",
               "translator output type must be a complete struct or union");
    }
    first = find(d, t->output, t->input);
    if (first && first != t) {
        d_fail(d, t->place, "D_XLATE_REDECL",
               "translator for this pair of types has already been declared");
    }
    for (struct d_member_value *m = t->members; m; m = m->next) {
        uint64_t bits = 0;
        const struct d_member *member = d_type_member(output, m->name, &bits);
        if (!member) {
            d_fail(d, m->place, "D_XLATE_MEMB", "translator member %s is not a member of %s",
                   m->name, d_type_full_text(d, t->output));
        }
        translate(d, t, m, member->type, stand_in(d, t));
    }
}

/* xlate<T>(e) and xlate<T *>(e). */
void d_xlate_check(struct d_session *d, struct d_node *n)
{
    const struct d_type *wanted = d_type_resolve(n->type), *output = wanted, *input;
    const struct d_type *type = n->type;

    if (wanted->kind == D_TYPE_POINTER) {
        output = d_type_resolve(wanted->to);
    }
    input = d_check_expression(d, n->left);
    n->translator = find(d, output, input);
    if (!n->translator) {
        d_fail(d, n->place, "D_XLATE_NONE", "cannot translate from \"%s\" to \"%s\"",
               d_type_full_text(d, input), d_type_full_text(d, output));
    }
    d_set_type(n, type);
}

/* `struct _lwp` of a pid and a tid, as if a translator had made it. */
static struct d_node *lwp_of(struct d_session *d, struct d_place place, const struct d_type *lwp,
                             struct d_node *const words[2])
{
    static const char *const names[] = {"pid", "tid"};
    struct d_translator *t = d_alloc(d, sizeof(*t));
    struct d_member_value **end = &t->members;

    *t = (struct d_translator){.output = lwp, .place = place};
    for (unsigned i = 0; i < 2; i++) {
        struct d_member_value *m = d_alloc(d, sizeof(*m));
        struct d_node *value =
            words[i] ? words[i] : d_node_int(d, place, 0, d_type_basic(d, D_BASIC_INT));
        *m = (struct d_member_value){.name = names[i], .value = value, .place = place};
        *end = m;
        end = &m->next;
    }
    struct d_node *n = d_node_new(d, D_NODE_XLATE, place);
    n->translator = t;
    n->is_cooked = true;
    d_set_type(n, lwp);
    return n;
}

struct d_node *d_xlate_argument(struct d_session *d, struct d_place place,
                                const struct d_type *type, struct d_node *const words[2])
{
    const struct d_type *output = d_type_resolve(d_type_resolve(type)->to);
    const struct d_type *lwp = d_type_lookup(d, NULL, "struct _lwp");
    const struct d_type *current = d_type_lookup(d, NULL, "enum _current");
    struct d_node *n = d_node_new(d, D_NODE_XLATE, place);

    d_set_type(n, type);
    if (!words[0] && current) {
        n->left = d_node_int(d, place, 0, current);
    } else if (words[0] && !words[1] && find(d, output, words[0]->type)) {
        n->left = words[0];
    } else if (words[0] && lwp) {
        n->left = lwp_of(d, place, lwp, words);
    } else {
        d_fail(d, place, "D_XLATE_NONE", "there is no translator to %s",
               d_type_text(d, output, NULL));
    }
    d_check_expression(d, n);
    return n;
}

struct d_node *d_xlate_value(struct d_session *d, const struct d_node *xlate,
                             const struct d_member *member)
{
    const struct d_translator *t = xlate->translator;
    const struct d_member_value *m = member_value(t, member->name);

    return m ? translate(d, t, m, member->type, xlate->left) : NULL;
}

void d_xlate_member(struct d_session *d, struct d_node *n)
{
    struct d_node *xlate = n->left;
    const struct d_type *output = d_type_resolve(xlate->translator->output);
    bool pointer = d_type_resolve(xlate->type)->kind == D_TYPE_POINTER;
    uint64_t bits = 0;
    const struct d_member *member = d_type_member(output, n->text, &bits);

    if (pointer != (n->op == D_OP_ARROW)) {
        d_fail(d, n->place, pointer ? "D_OP_SOU" : "D_OP_PTR",
               "operator %s must be applied to a %s", pointer ? "." : "->",
               pointer ? "struct or union" : "pointer");
    }
    if (!member) {
        d_fail(d, n->place, "D_TYPE_MEMBER", "%s is not a member of %s", n->text,
               d_type_full_text(d, xlate->translator->output));
    }
    struct d_place place = n->place;
    deeper(d, n, n->text);
    struct d_node *value = d_xlate_value(d, xlate, member);
    shallower(d);
    d_become(n, value ? value : d_node_int(d, place, 0, member->type));
    if (!value && d_type_is_string_like(member->type)) {
        n->kind = D_NODE_STRING;
        n->text = "";
        d_set_type(n, d_type_basic(d, D_BASIC_STRING));
    }
    n->place = place;
    n->is_lvalue = n->is_writable = false;
}
