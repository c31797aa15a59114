/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assignments. The first one to a name that nobody declared makes the variable and gives it its
 * type; the first use of an associative array fixes the types of its keys.
 */
#include "host/d/back.h"

#include <string.h>

static struct d_identhash *scope_of(struct d_session *d, const struct d_node *name)
{
    if (!name->scope) {
        return d_session_globals(d);
    }
    return strcmp(name->scope, "self") == 0   ? d_session_threads(d)
           : strcmp(name->scope, "this") == 0 ? d_session_locals(d)
                                              : NULL;
}

static unsigned scope_flags(const struct d_node *name)
{
    if (!name->scope) {
        return 0;
    }
    return strcmp(name->scope, "self") == 0 ? D_IDENT_THREAD : D_IDENT_LOCAL;
}

static struct d_ident *new_variable(struct d_session *d, const struct d_node *name,
                                    enum d_ident_kind kind)
{
    struct d_ident *ident = d_ident_add(d, scope_of(d, name), name->text, kind);

    ident->flags = scope_flags(name) | D_IDENT_WRITE;
    ident->number = d_variable_number(d);
    return ident;
}

/* The name that is assigned, by itself or with keys; NULL: something else. */
static struct d_node *assigned_name(struct d_node *left)
{
    struct d_node *name = left->kind == D_NODE_BINARY && left->op == D_OP_INDEX ? left->left : left;

    if (name->kind != D_NODE_NAME || (name->scope && !scope_flags(name))) {
        return NULL;
    }
    return name->scope && name->scope[0] != 's' && name->scope[0] != 't' ? NULL : name;
}

/* What a variable is that is first assigned such a value. */
static const struct d_type *type_for(struct d_session *d, const struct d_node *value)
{
    const struct d_type *t = d_type_resolve(value->type);

    if (t->kind == D_TYPE_ARRAY && d_type_is_string_like(t)) {
        return d_type_basic(d, D_BASIC_STRING);
    }
    if (t->kind == D_TYPE_INTEGER && t->bits && t->bits < t->size * 8) {
        return d_promote(d, t);
    }
    return value->type;
}

/* Makes the variable, if it is new, for a value of this type. */
static void declare(struct d_session *d, struct d_node *left, const struct d_type *type)
{
    struct d_node *name = assigned_name(left);
    bool keyed = name != left;

    if (!name || !scope_of(d, name)) {
        return;
    }
    struct d_ident *ident = d_variable_lookup(d, name->scope, name->text);
    if (ident && (ident->kind != D_IDENT_SCALAR && ident->kind != D_IDENT_ARRAY)) {
        return;
    }
    if (!ident) {
        if (keyed && (scope_flags(name) & D_IDENT_LOCAL)) {
            d_fail(d, name->place, "D_ARR_LOCAL",
                   "local variable may not be an associative array: %s", name->text);
        }
        ident = new_variable(d, name, keyed ? D_IDENT_ARRAY : D_IDENT_SCALAR);
    }
    if (!ident->type) {
        ident->type = type;
    }
}

static bool is_new(struct d_session *d, struct d_node *left)
{
    struct d_node *name = assigned_name(left);

    if (!name) {
        return false;
    }
    struct d_ident *ident = d_variable_lookup(d, name->scope, name->text);
    return !ident ||
           ((ident->kind == D_IDENT_SCALAR || ident->kind == D_IDENT_ARRAY) && !ident->type);
}

void d_declare_number(struct d_session *d, struct d_node *n)
{
    if (is_new(d, n)) {
        declare(d, n, d_type_basic(d, D_BASIC_INT64));
    }
}

static void check_writable(struct d_session *d, const struct d_node *n)
{
    if (!n->left->is_lvalue) {
        d_fail(d, n->place, "D_OP_LVAL", "operator %s requires modifiable lvalue as an operand",
               d_operator_text(n->op));
    }
    if (!n->left->is_writable) {
        d_fail(d, n->place, "D_OP_WRITE", "operator %s can only be applied to a writable variable",
               d_operator_text(n->op));
    }
}

static _Noreturn void incompatible(struct d_session *d, const struct d_node *n)
{
    d_fail(d, n->place, "D_OP_INCOMPAT", "operands have incompatible types: \"%s\" %s \"%s\"",
           d_value_text(d, n->left), d_operator_text(n->op), d_value_text(d, n->right));
}

/* Known as a pointer: not by this assignment. */
static bool is_pointer(struct d_session *d, struct d_node *n)
{
    return !is_new(d, n) && d_type_resolve(d_check_expression(d, n))->kind == D_TYPE_POINTER;
}

/* Values that no variable can hold. */
static void check_value(struct d_session *d, const struct d_node *n)
{
    const struct d_type *t = d_type_resolve(n->right->type);

    if (t->kind == D_TYPE_DYNAMIC || t->kind == D_TYPE_STACK || t->kind == D_TYPE_SYMADDR ||
        t->kind == D_TYPE_USYMADDR) {
        if (n->right->kind != D_NODE_AGG) {
            d_fail_context(d, n->right, n->place);
        }
        d_fail(d, n->place, "D_OP_INCOMPAT", "operands have incompatible types: \"%s\" %s \"%s\"",
               d_value_text(d, n->left), d_operator_text(n->op), d_value_text(d, n->right));
    }
    if (t->kind == D_TYPE_VOID) {
        d_fail(d, n->place, "D_OP_INCOMPAT", "operands have incompatible types: \"%s\" %s \"%s\"",
               d_value_text(d, n->left), d_operator_text(n->op), d_value_text(d, n->right));
    }
    /* An array becomes a pointer to its first element; what it is assigned to must be one. */
    if (t->kind == D_TYPE_FUNCTION ||
        (t->kind == D_TYPE_ARRAY && !d_type_is_string_like(t) && !is_pointer(d, n->left))) {
        d_fail(d, n->place, "D_OP_ARRFUN",
               "operator %s may not be applied to operand of type \"%s\"", d_operator_text(n->op),
               d_value_text(d, n->right));
    }
}

static void check_plain(struct d_session *d, struct d_node *n)
{
    d_check_expression(d, n->right);
    check_value(d, n);
    declare(d, n->left, type_for(d, n->right));
    d_check_expression(d, n->left);
    check_writable(d, n);
    enum d_type_kind kind = d_type_resolve(n->left->type)->kind;
    if (kind == D_TYPE_ARRAY || kind == D_TYPE_FUNCTION) {
        d_fail(d, n->place, "D_OP_ARRFUN",
               "operator %s may not be applied to operand of type \"%s\"", d_operator_text(n->op),
               d_value_text(d, n->left));
    }
    /* What char * points to becomes a string by a cast or by stringof() only. */
    bool text_at =
        d_node_is_string(n->left) && d_type_resolve(n->right->type)->kind == D_TYPE_POINTER;
    if (text_at || !d_compatible(n->right, n->left->type)) {
        incompatible(d, n);
    }
}

static void check_pointer_step(struct d_session *d, struct d_node *n)
{
    const struct d_type *to = d_type_resolve(d_type_resolve(n->left->type)->to);

    if (to->kind == D_TYPE_VOID || to->kind == D_TYPE_FUNCTION) {
        d_fail(d, n->place, "D_OP_VFPTR",
               "operator %s may not be applied to operand of type \"%s\"", d_operator_text(n->op),
               d_value_text(d, n->left));
    }
    if (!d_type_is_integer(n->right->type)) {
        incompatible(d, n);
    }
}

static void check_compound(struct d_session *d, struct d_node *n)
{
    bool sum = n->op == D_OP_ADD_SET || n->op == D_OP_SUB_SET;
    bool arithmetic = sum || n->op == D_OP_MUL_SET || n->op == D_OP_DIV_SET;

    d_check_expression(d, n->right);
    if ((n->op == D_OP_DIV_SET || n->op == D_OP_MOD_SET) && d_node_is_null(n->right)) {
        d_fail(d, n->place, "D_DIV_ZERO", "expression contains division by zero");
    }
    check_value(d, n);
    if (is_new(d, n->left)) {
        if (n->op != D_OP_ADD_SET) {
            d_fail(d, n->place, "D_VAR_UNDEF", "%s has not yet been declared or assigned",
                   assigned_name(n->left)->text);
        }
        d_declare_number(d, n->left);
    }
    d_check_expression(d, n->left);
    check_writable(d, n);
    if (sum && d_type_is_pointer(n->left->type)) {
        check_pointer_step(d, n);
        return;
    }
    const struct d_type *l = n->left->type, *r = n->right->type;
    if (sum && (d_type_is_string(l) || d_type_is_string(r))) {
        incompatible(d, n);
    }
    if (sum && !d_type_is_arithmetic(l)) {
        d_fail(d, n->place, "D_OP_VFPTR",
               "operator %s may not be applied to operand of type \"%s\"", d_operator_text(n->op),
               d_value_text(d, n->left));
    }
    bool ok = arithmetic ? d_type_is_arithmetic(l) && d_type_is_arithmetic(r)
                         : d_type_is_integer(l) && d_type_is_integer(r);
    if (!ok) {
        d_fail(d, n->place, arithmetic ? "D_OP_ARITH" : "D_OP_INT",
               "operator %s requires operands of %s type", d_operator_text(n->op),
               arithmetic ? "arithmetic" : "integral");
    }
}

/* `@a = 1`: an aggregation takes aggregating functions only. */
static void refuse_aggregation(struct d_session *d, const struct d_node *n)
{
    if (n->left->kind == D_NODE_AGG ||
        (n->left->kind == D_NODE_BINARY && n->left->left->kind == D_NODE_AGG)) {
        if (n->left->kind != D_NODE_AGG) {
            d_fail(d, n->place, "D_AGG_MDIM", "aggregation may have one tuple of keys only");
        }
        d_fail(d, n->place, "D_AGG_FUNC",
               "@%s must be assigned an aggregating function, as a statement", n->left->text);
    }
}

void d_check_assign(struct d_session *d, struct d_node *n)
{
    refuse_aggregation(d, n);
    if (n->op == '=') {
        check_plain(d, n);
    } else {
        check_compound(d, n);
    }
    struct d_node *name = n->left;
    if (name->kind == D_NODE_IDENT) {
        name->ident->flags |= D_IDENT_ASSIGNED;
    }
    d_set_type(n, n->left->type);
}
