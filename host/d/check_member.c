/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Members, indices, sizes: what lies in something else.
 */
#include "host/d/back.h"

#include <stdint.h>
#include <string.h>

static const struct d_type *struct_of(struct d_session *d, const struct d_node *n)
{
    const struct d_type *t = d_type_resolve(n->left->type);

    if (n->op == D_OP_ARROW) {
        if (d_type_is_struct(t)) {
            d_fail(d, n->place, "D_OP_PTR", "operator -> must be applied to a pointer");
        }
        t = t->kind == D_TYPE_POINTER || t->kind == D_TYPE_ARRAY ? d_type_resolve(t->to) : NULL;
    }
    if (t && t->kind == D_TYPE_FORWARD) {
        d_fail(
            d, n->place, "D_OP_INCOMPLETE",
            "operator %s cannot be applied to a forward declaration: no %s definition is available",
            d_operator_text(n->op), d_type_full_text(d, t));
    }
    if (!t || !d_type_is_struct(t)) {
        d_fail(d, n->place, "D_OP_SOU",
               "operator %s cannot be applied to type \"%s\"; must be applied to a struct or union",
               d_operator_text(n->op), d_value_text(d, n->left));
    }
    return t;
}

void d_check_member(struct d_session *d, struct d_node *n)
{
    d_check_expression(d, n->left);
    if (n->left->kind == D_NODE_XLATE) {
        d_xlate_member(d, n);
        return;
    }
    const struct d_type *t = struct_of(d, n);
    n->member = d_type_member(t, n->text, &n->bit_offset);
    if (!n->member) {
        d_fail(d, n->place, "D_TYPE_MEMBER", "%s is not a member of %s", n->text,
               d_type_full_text(d, t));
    }
    d_set_type(n, n->member->type);
    n->is_lvalue = true;
    n->is_writable = n->op == D_OP_ARROW || n->left->is_writable;
    n->is_user = n->left->is_user;
}

static void check_key_type(struct d_session *d, const struct d_node *key)
{
    switch (d_type_resolve(key->type)->kind) {
    case D_TYPE_VOID:
    case D_TYPE_DYNAMIC:
    case D_TYPE_STACK:
    case D_TYPE_SYMADDR:
    case D_TYPE_USYMADDR:
    case D_TYPE_FUNCTION:
        d_fail(d, key->place, "D_KEY_TYPE",
               "%s expression may not be used as associative array index", d_value_text(d, key));
    default:
        break;
    }
}

/* An array's first use says what its keys are. */
static void fix_signature(struct d_session *d, struct d_ident *ident, const struct d_node *keys)
{
    unsigned n = d_list_length(keys), i = 0;
    const struct d_type **types = d_alloc(d, (n + 1) * sizeof(*types));

    for (; keys; keys = keys->next) {
        const struct d_type *t = d_type_resolve(keys->type);
        types[i++] = t->kind == D_TYPE_ARRAY && d_type_is_string_like(t)
                         ? d_type_basic(d, D_BASIC_STRING)
                         : d_recorded_type(d, keys);
    }
    ident->signature.args = types;
    ident->signature.nargs = n;
    ident->signature.fixed = true;
}

void d_check_keys(struct d_session *d, struct d_node *n, struct d_ident *ident)
{
    for (struct d_node *key = n->args; key; key = key->next) {
        d_check_expression(d, key);
        check_key_type(d, key);
    }
    if (!ident->signature.fixed) {
        fix_signature(d, ident, n->args);
    }
    d_check_arguments(d, n, n->args, &ident->signature, ident->name, D_ARG_KEY);
}

static void check_associative(struct d_session *d, struct d_node *n, struct d_ident *ident)
{
    if (!ident->type) {
        d_fail(d, n->place, "D_IDENT_UNDEF", "%s has not yet been declared or assigned",
               ident->name);
    }
    d_check_keys(d, n, ident);
    n->kind = D_NODE_IDENT;
    n->ident = ident;
    n->is_lvalue = true;
    n->is_writable = (ident->flags & D_IDENT_WRITE) != 0;
    ident->flags |= D_IDENT_USED;
    d_set_type(n, ident->type);
}

static void check_kinds(struct d_session *d, const struct d_node *n, const struct d_clause *clause,
                        unsigned index)
{
    bool agree = !clause->many_kinds || strcmp(clause->probe->provider, "fbt") != 0;

    for (const struct d_probe_kind *k = clause->kinds; k && agree; k = k->next) {
        agree = d_arguments_agree(d, clause->probe, &k->probe, index);
    }
    if (!agree) {
        d_fail(d, n->place, "D_ARGS_MULTI",
               "args[ ] may not be referenced because probe description matches probes of "
               "several kinds");
    }
}

static void argument_of(struct d_session *d, const struct d_node *n, struct d_argument *a)
{
    const struct d_clause *clause = d_session_back(d)->clause;
    int64_t index = (int64_t)n->args->value;
    bool found = false;

    if (clause && clause->probe && index >= 0 && index <= UINT8_MAX) {
        check_kinds(d, n, clause, (unsigned)index);
        found = d_argument_of(d, clause->probe, (unsigned)index, a);
    }
    if (!found) {
        d_fail(d, n->place, "D_ARGS_IDX", "index %lld is out of range for args[ ]",
               (long long)index);
    }
}

/* A word of the probe as element of args[]. */
static struct d_node *argument_word(struct d_session *d, struct d_place place,
                                    struct d_ident *ident, unsigned index,
                                    const struct d_type *type)
{
    struct d_node *n = d_node_new(d, D_NODE_IDENT, place);

    n->ident = ident;
    n->args = d_node_int(d, place, index, d_type_basic(d, D_BASIC_INT));
    d_set_type(n, type);
    d_use(d, ident);
    return n;
}

static void check_args(struct d_session *d, struct d_node *n, struct d_ident *ident)
{
    const struct d_type *pid = d_type_basic(d, D_BASIC_INT);
    struct d_node *words[D_ARGUMENT_FROM] = {NULL, NULL};
    struct d_argument a;

    argument_of(d, n, &a);
    if (!a.translated) {
        d_become(n, argument_word(d, n->place, ident, a.from[0], a.type));
        return;
    }
    for (unsigned i = 0; i < a.nfrom; i++) {
        words[i] = argument_word(d, n->place, ident, a.from[i], pid);
    }
    d_become(n, d_xlate_argument(d, n->place, a.type, words));
}

/* args[n], regs[n], uregs[n] */
static void check_builtin_array(struct d_session *d, struct d_node *n, struct d_ident *ident)
{
    if (d_list_length(n->args) != 1) {
        d_fail(d, n->place, "D_PROTO_LEN", "%s[ ] %s", ident->name,
               d_mismatch_text(d, d_list_length(n->args), "arg", 1, 1));
    }
    d_check_expression(d, n->args);
    if (!d_type_is_integer(n->args->type)) {
        d_fail(d, n->place, "D_PROTO_ARG",
               "%s[ ] argument #1 is incompatible with prototype:\n"
               "\tprototype: integer\n\t argument: %s",
               ident->name, d_value_text(d, n->args));
    }
    if (ident->number == DIF_VAR_args && !n->args->is_constant) {
        d_fail(d, n->place, "D_PROTO_ARG",
               "args[ ] argument #1 is incompatible with prototype:\n"
               "\tprototype: integer constant\n\t argument: %s",
               d_value_text(d, n->args));
    }
    if (ident->number == DIF_VAR_args) {
        check_args(d, n, ident);
        return;
    }
    n->kind = D_NODE_IDENT;
    n->ident = ident;
    d_set_type(n, ident->type);
    d_use(d, ident);
}

static void check_element(struct d_session *d, struct d_node *n)
{
    const struct d_type *t = d_type_resolve(d_check_expression(d, n->left));

    if (n->left->kind == D_NODE_AGG) {
        d_fail(d, n->place, "D_AGG_MDIM", "aggregation may have one tuple of keys only");
    }
    if (!d_type_is_pointer(t) && !d_type_is_string(t)) {
        d_fail(d, n->place, "D_OP_PTR", "operator [] must be applied to an array or a pointer");
    }
    if (d_list_length(n->args) != 1) {
        d_fail(d, n->place, "D_ARR_BADREF", "cannot access %s as an associative array",
               d_value_text(d, n->left));
    }
    if (!d_type_is_integer(d_check_expression(d, n->args))) {
        d_fail(d, n->place, "D_OP_INT", "operator [] requires operand of integral type");
    }
    n->right = n->args;
    n->args = NULL;
    if (d_type_is_string(t)) {
        d_set_type(n, d_type_basic(d, D_BASIC_CHAR));
        return;
    }
    if (d_type_resolve(t->to)->kind == D_TYPE_VOID) {
        d_fail(d, n->place, "D_DEREF_VOID", "cannot dereference pointer to void");
    }
    d_set_type(n, t->to);
    n->is_lvalue = true;
    n->is_writable = t->kind == D_TYPE_POINTER || n->left->is_writable;
}

void d_check_index(struct d_session *d, struct d_node *n)
{
    struct d_node *name = n->left;
    struct d_ident *ident = NULL;

    if (name->kind == D_NODE_NAME) {
        ident = d_variable_lookup(d, name->scope, name->text);
    }
    if (ident && ident->kind == D_IDENT_ARRAY) {
        if (ident->flags & D_IDENT_BUILTIN) {
            check_builtin_array(d, n, ident);
        } else {
            check_associative(d, n, ident);
        }
    } else if (ident && ident->kind == D_IDENT_INLINE && ident->ninline_parameters) {
        d_inline_expand(d, n, ident, n->args);
    } else {
        check_element(d, n);
    }
}

/* ---- sizeof, offsetof, stringof ----------------------------------------------------------------
 */

static bool is_bit_field(const struct d_type *type)
{
    const struct d_type *t = d_type_resolve(type);

    return t->kind == D_TYPE_INTEGER && t->bits && t->bits < t->size * 8;
}

static uint64_t size_of(struct d_session *d, struct d_node *n)
{
    struct d_node *of = n->left;

    if (of->kind == D_NODE_STRING) {
        return strlen(of->text) + 1;
    }
    if (of->kind == D_NODE_NAME) {
        struct d_ident *ident = d_variable_lookup(d, of->scope, of->text);
        if (ident && ident->kind == D_IDENT_ARRAY) {
            d_fail(d, n->place, "D_IDENT_BADREF", "cannot apply sizeof to an associative array");
        }
    }
    const struct d_type *type = of->kind == D_NODE_TYPE ? of->type : d_check_expression(d, of);
    if (is_bit_field(type) && of->kind != D_NODE_TYPE) {
        d_fail(d, n->place, "D_SIZEOF_BITFIELD", "cannot apply sizeof to a bit-field");
    }
    const struct d_type *t = d_type_resolve(type);
    if (t->kind == D_TYPE_STRING) {
        return d_option(d, "strsize");
    }
    if (t->kind == D_TYPE_VOID || t->kind == D_TYPE_DYNAMIC || t->kind == D_TYPE_FORWARD ||
        t->kind == D_TYPE_FUNCTION || t->kind == D_TYPE_STACK) {
        d_fail(d, n->place, "D_SIZEOF_TYPE", "cannot apply sizeof to an operand of type \"%s\"",
               d_type_full_text(d, type));
    }
    return t->size;
}

static uint64_t offset_of(struct d_session *d, struct d_node *n)
{
    const struct d_type *t = d_type_resolve(n->left ? n->left->type : n->type);
    uint64_t bits = 0;

    if (!d_type_is_struct(t)) {
        d_fail(d, n->place, "D_OFFSETOF_TYPE", "offsetof operand must be a struct or union type");
    }
    const struct d_member *m = d_type_member(t, n->text, &bits);
    if (!m) {
        d_fail(d, n->place, "D_UNKNOWN", "%s is not a member of %s", n->text,
               d_type_full_text(d, t));
    }
    if (is_bit_field(m->type)) {
        d_fail(d, n->place, "D_OFFSETOF_BITFIELD", "cannot take offset of a bit-field: %s",
               n->text);
    }
    return bits / 8;
}

static void check_stringof(struct d_session *d, struct d_node *n)
{
    const struct d_type *t = d_type_resolve(d_check_expression(d, n->left));

    if (!d_type_is_string_like(t) && !d_type_is_scalar(t) && !d_type_is_pointer(t)) {
        d_fail(d, n->place, "D_STRINGOF_TYPE", "cannot apply stringof to a value of type %s",
               d_value_text(d, n->left));
    }
    d_set_type(n, d_type_basic(d, D_BASIC_STRING));
}

void d_check_size(struct d_session *d, struct d_node *n)
{
    if (n->kind == D_NODE_STRINGOF) {
        check_stringof(d, n);
        return;
    }
    n->value = n->kind == D_NODE_SIZEOF ? size_of(d, n) : offset_of(d, n);
    n->kind = D_NODE_INT;
    n->is_constant = true;
    d_set_type(n, d_type_basic(d, D_BASIC_SIZE));
}
