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
            d_fail(d, n->place, "D_OP_PTR", "-> wants a pointer to a struct: use .");
        }
        t = t->kind == D_TYPE_POINTER || t->kind == D_TYPE_ARRAY ? d_type_resolve(t->to) : NULL;
    }
    if (t && t->kind == D_TYPE_FORWARD) {
        d_fail(d, n->place, "D_OP_INCOMPLETE", "struct %s was only declared", t->name);
    }
    if (!t || !d_type_is_struct(t)) {
        d_fail(d, n->place, "D_OP_SOU", "%s wants a struct or union", d_operator_text(n->op));
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
        d_fail(d, n->place, "D_TYPE_MEMBER", "%s has no member %s", d_type_text(d, t, NULL),
               n->text);
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
        d_fail(d, key->place, "D_KEY_TYPE", "a key can't be of this type");
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
    d_check_arguments(d, n, n->args, &ident->signature, ident->name);
}

static void check_associative(struct d_session *d, struct d_node *n, struct d_ident *ident)
{
    if (!ident->type) {
        d_fail(d, n->place, "D_IDENT_UNDEF", "%s has no value yet", ident->name);
    }
    d_check_keys(d, n, ident);
    n->kind = D_NODE_IDENT;
    n->ident = ident;
    n->is_lvalue = true;
    n->is_writable = (ident->flags & D_IDENT_WRITE) != 0;
    ident->flags |= D_IDENT_USED;
    d_set_type(n, ident->type);
}

static const struct d_type *argument_type(struct d_session *d, const struct d_node *n)
{
    const struct d_clause *clause = d_session_back(d)->clause;
    int64_t index = (int64_t)n->args->value;
    const struct d_type *type = NULL;

    if (clause && clause->probe && index >= 0 && index <= UINT8_MAX) {
        type = d_argument_type(d, clause->probe, (unsigned)index);
        if (clause->many_kinds && strcmp(clause->probe->provider, "fbt") == 0) {
            d_fail(d, n->place, "D_ARGS_MULTI",
                   "args[] has no types: the description matches probes of several kinds");
        }
    }
    if (!type) {
        d_fail(d, n->place, "D_ARGS_IDX", "the probe has no args[%lld]", (long long)index);
    }
    return type;
}

/* args[n], regs[n], uregs[n] */
static void check_builtin_array(struct d_session *d, struct d_node *n, struct d_ident *ident)
{
    if (d_list_length(n->args) != 1) {
        d_fail(d, n->place, "D_PROTO_LEN", "%s[] takes one index", ident->name);
    }
    d_check_expression(d, n->args);
    if (!d_type_is_integer(n->args->type)) {
        d_fail(d, n->place, "D_PROTO_ARG", "%s[] takes an integer", ident->name);
    }
    if (ident->number == DIF_VAR_args && !n->args->is_constant) {
        d_fail(d, n->place, "D_PROTO_ARG", "args[] takes a constant");
    }
    const struct d_type *type = ident->number == DIF_VAR_args ? argument_type(d, n) : ident->type;
    n->kind = D_NODE_IDENT;
    n->ident = ident;
    d_set_type(n, type);
    d_use(d, ident);
}

static void check_element(struct d_session *d, struct d_node *n)
{
    const struct d_type *t = d_type_resolve(d_check_expression(d, n->left));

    if (n->left->kind == D_NODE_AGG) {
        d_fail(d, n->place, "D_AGG_MDIM", "an aggregation has one list of keys");
    }
    if (!d_type_is_pointer(t) && !d_type_is_string(t)) {
        d_fail(d, n->place, "D_OP_PTR", "[ ] wants an array or a pointer");
    }
    if (d_list_length(n->args) != 1) {
        d_fail(d, n->place, "D_ARR_BADREF", "this array takes one index");
    }
    if (!d_type_is_integer(d_check_expression(d, n->args))) {
        d_fail(d, n->place, "D_OP_INT", "an index must be an integer");
    }
    n->right = n->args;
    n->args = NULL;
    if (d_type_is_string(t)) {
        d_set_type(n, d_type_basic(d, D_BASIC_CHAR));
        return;
    }
    if (d_type_resolve(t->to)->kind == D_TYPE_VOID) {
        d_fail(d, n->place, "D_DEREF_VOID", "[ ] on a void pointer");
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
            d_fail(d, n->place, "D_IDENT_BADREF", "sizeof of an associative array");
        }
    }
    const struct d_type *type = of->kind == D_NODE_TYPE ? of->type : d_check_expression(d, of);
    if (is_bit_field(type) && of->kind != D_NODE_TYPE) {
        d_fail(d, n->place, "D_SIZEOF_BITFIELD", "sizeof of a bit-field");
    }
    const struct d_type *t = d_type_resolve(type);
    if (t->kind == D_TYPE_STRING) {
        return d_option(d, "strsize");
    }
    if (t->kind == D_TYPE_VOID || t->kind == D_TYPE_DYNAMIC || t->kind == D_TYPE_FORWARD ||
        t->kind == D_TYPE_FUNCTION || t->kind == D_TYPE_STACK) {
        d_fail(d, n->place, "D_SIZEOF_TYPE", "this has no size");
    }
    return t->size;
}

static uint64_t offset_of(struct d_session *d, struct d_node *n)
{
    const struct d_type *t = d_type_resolve(n->left ? n->left->type : n->type);
    uint64_t bits = 0;

    if (!d_type_is_struct(t)) {
        d_fail(d, n->place, "D_OFFSETOF_TYPE", "offsetof wants a struct or union");
    }
    const struct d_member *m = d_type_member(t, n->text, &bits);
    if (!m) {
        d_fail(d, n->place, "D_UNKNOWN", "%s has no member %s", d_type_text(d, t, NULL), n->text);
    }
    if (is_bit_field(m->type)) {
        d_fail(d, n->place, "D_OFFSETOF_BITFIELD", "offsetof of a bit-field");
    }
    return bits / 8;
}

static void check_stringof(struct d_session *d, struct d_node *n)
{
    const struct d_type *t = d_type_resolve(d_check_expression(d, n->left));

    if (!d_type_is_string_like(t) && !d_type_is_scalar(t) && !d_type_is_pointer(t)) {
        d_fail(d, n->place, "D_STRINGOF_TYPE", "stringof wants an address or a string");
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
