/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assignments. The first one to a name that nobody declared makes the variable and gives it its
 * type; the first use of an associative array fixes the types of its keys.
 */
#include "host/dt/check/check.h"

#include <string.h>

static struct dt_identhash *assign_scope_of(struct dt_session *d, const struct dt_node *name)
{
    if (!name->scope) {
        return d->globals;
    }
    return strcmp(name->scope, "self") == 0   ? d->threads
           : strcmp(name->scope, "this") == 0 ? d->locals
                                              : NULL;
}

static unsigned scope_flags(const struct dt_node *name)
{
    if (!name->scope) {
        return 0;
    }
    return strcmp(name->scope, "self") == 0 ? DT_IDENT_THREAD : DT_IDENT_LOCAL;
}

/* The name that is assigned, by itself or with keys; NULL: something else. */
static struct dt_node *assigned_name(struct dt_node *left)
{
    struct dt_node *name =
        left->kind == DT_NODE_BINARY && left->op == DT_OP_INDEX ? left->left : left;

    if (name->kind != DT_NODE_NAME || (name->scope && !scope_flags(name))) {
        return NULL;
    }
    return name->scope && name->scope[0] != 's' && name->scope[0] != 't' ? NULL : name;
}

/* Returns the type of a variable first assigned such a value. */
static const struct dt_type *type_for(struct dt_session *d, const struct dt_node *value)
{
    const struct dt_type *t = dt_type_resolve(value->type);

    if (t->kind == DT_TYPE_ARRAY && dt_type_is_string_like(t)) {
        return dt_type_basic(d, DT_BASIC_STRING);
    }
    if (dt_type_is_bit_field(t)) {
        return dt_promote(d, t);
    }
    return value->type;
}

/* Makes the variable, if it is new, for a value of this type. */
static void assign_declare_variable(struct dt_session *d, struct dt_node *left,
                                    const struct dt_type *type)
{
    struct dt_node *name = assigned_name(left);
    bool keyed = name != left;

    if (!name || !assign_scope_of(d, name)) {
        return;
    }
    struct dt_ident *ident = dt_variable_lookup(d, name->scope, name->text);
    if (ident && (ident->kind != DT_IDENT_SCALAR && ident->kind != DT_IDENT_ARRAY)) {
        return;
    }
    if (!ident) {
        if (keyed && (scope_flags(name) & DT_IDENT_LOCAL)) {
            dt_fail(d, name->location, "D_ARR_LOCAL",
                    "local variable may not be an associative array: %s", name->text);
        }
        ident = dt_ident_add(d, assign_scope_of(d, name), name->text,
                             keyed ? DT_IDENT_ARRAY : DT_IDENT_SCALAR);
        ident->flags = scope_flags(name) | DT_IDENT_WRITE;
        ident->number = dt_variable_number(d, name->location);
    }
    if (!ident->type) {
        ident->type = type;
    }
}

static bool assign_is_new_variable(struct dt_session *d, struct dt_node *left)
{
    struct dt_node *name = assigned_name(left);

    if (!name) {
        return false;
    }
    struct dt_ident *ident = dt_variable_lookup(d, name->scope, name->text);
    return !ident ||
           ((ident->kind == DT_IDENT_SCALAR || ident->kind == DT_IDENT_ARRAY) && !ident->type);
}

void dt_declare_number(struct dt_session *d, struct dt_node *n)
{
    if (assign_is_new_variable(d, n)) {
        assign_declare_variable(d, n, dt_type_basic(d, DT_BASIC_INT64));
    }
}

static void check_writable(struct dt_session *d, const struct dt_node *n)
{
    if (!n->left->is_lvalue) {
        dt_fail(d, n->location, "D_OP_LVAL", "operator %s requires modifiable lvalue as an operand",
                dt_operator_text(n->op));
    }
    if (!n->left->is_writable) {
        dt_fail(d, n->location, "D_OP_WRITE",
                "operator %s can only be applied to a writable variable", dt_operator_text(n->op));
    }
}

static _Noreturn void assign_report_types(struct dt_session *d, const struct dt_node *n)
{
    dt_fail(d, n->location, "D_OP_INCOMPAT", "operands have incompatible types: \"%s\" %s \"%s\"",
            dt_value_text(d, n->left), dt_operator_text(n->op), dt_value_text(d, n->right));
}

/* Values that no variable can hold. */
static void assign_check_value(struct dt_session *d, const struct dt_node *n)
{
    const struct dt_type *t = dt_type_resolve(n->right->type);

    if (t->kind == DT_TYPE_DYNAMIC || t->kind == DT_TYPE_STACK || t->kind == DT_TYPE_SYMADDR ||
        t->kind == DT_TYPE_USYMADDR) {
        if (n->right->kind != DT_NODE_AGG) {
            dt_fail_context(d, n->right, n->location);
        }
        dt_fail(d, n->location, "D_OP_INCOMPAT",
                "operands have incompatible types: \"%s\" %s \"%s\"", dt_value_text(d, n->left),
                dt_operator_text(n->op), dt_value_text(d, n->right));
    }
    if (t->kind == DT_TYPE_VOID) {
        dt_fail(d, n->location, "D_OP_INCOMPAT",
                "operands have incompatible types: \"%s\" %s \"%s\"", dt_value_text(d, n->left),
                dt_operator_text(n->op), dt_value_text(d, n->right));
    }
    /* An array becomes a pointer to its first element; what it is assigned to must be known as a
     * pointer before. */
    bool array = t->kind == DT_TYPE_ARRAY && !dt_type_is_string_like(t);
    if (array && !assign_is_new_variable(d, n->left)) {
        array = dt_type_resolve(dt_check_expression(d, n->left))->kind != DT_TYPE_POINTER;
    }
    if (t->kind == DT_TYPE_FUNCTION || array) {
        dt_fail(d, n->location, "D_OP_ARRFUN",
                "operator %s may not be applied to operand of type \"%s\"", dt_operator_text(n->op),
                dt_value_text(d, n->right));
    }
}

static void check_plain(struct dt_session *d, struct dt_node *n)
{
    dt_check_expression(d, n->right);
    assign_check_value(d, n);
    assign_declare_variable(d, n->left, type_for(d, n->right));
    dt_check_expression(d, n->left);
    check_writable(d, n);
    enum dt_type_kind kind = dt_type_resolve(n->left->type)->kind;
    if (kind == DT_TYPE_ARRAY || kind == DT_TYPE_FUNCTION) {
        dt_fail(d, n->location, "D_OP_ARRFUN",
                "operator %s may not be applied to operand of type \"%s\"", dt_operator_text(n->op),
                dt_value_text(d, n->left));
    }
    /* A char * becomes the string that it points to by a cast or by stringof() only. */
    bool text_at =
        dt_node_is_string(n->left) && dt_type_resolve(n->right->type)->kind == DT_TYPE_POINTER;
    if (text_at || !dt_compatible(n->right, n->left->type)) {
        assign_report_types(d, n);
    }
}

static void check_pointer_step(struct dt_session *d, struct dt_node *n)
{
    const struct dt_type *to = dt_type_resolve(dt_type_resolve(n->left->type)->to);

    if (to->kind == DT_TYPE_VOID || to->kind == DT_TYPE_FUNCTION) {
        dt_fail(d, n->location, "D_OP_VFPTR",
                "operator %s may not be applied to operand of type \"%s\"", dt_operator_text(n->op),
                dt_value_text(d, n->left));
    }
    if (!dt_type_is_integer(n->right->type)) {
        assign_report_types(d, n);
    }
}

static void check_compound(struct dt_session *d, struct dt_node *n)
{
    bool sum = n->op == DT_OP_ADD_SET || n->op == DT_OP_SUB_SET;
    bool arithmetic = sum || n->op == DT_OP_MUL_SET || n->op == DT_OP_DIV_SET;

    dt_check_expression(d, n->right);
    if ((n->op == DT_OP_DIV_SET || n->op == DT_OP_MOD_SET) && dt_node_is_null(n->right)) {
        dt_fail(d, n->location, "D_DIV_ZERO", "expression contains division by zero");
    }
    assign_check_value(d, n);
    if (assign_is_new_variable(d, n->left)) {
        if (n->op != DT_OP_ADD_SET) {
            dt_fail(d, n->location, "D_VAR_UNDEF", "%s has not yet been declared or assigned",
                    assigned_name(n->left)->text);
        }
        dt_declare_number(d, n->left);
    }
    dt_check_expression(d, n->left);
    check_writable(d, n);
    if (sum && dt_type_is_pointer(n->left->type)) {
        check_pointer_step(d, n);
        return;
    }
    const struct dt_type *l = n->left->type, *r = n->right->type;
    if (sum && (dt_type_is_string(l) || dt_type_is_string(r))) {
        assign_report_types(d, n);
    }
    if (sum && !dt_type_is_arithmetic(l)) {
        dt_fail(d, n->location, "D_OP_VFPTR",
                "operator %s may not be applied to operand of type \"%s\"", dt_operator_text(n->op),
                dt_value_text(d, n->left));
    }
    bool ok = arithmetic ? dt_type_is_arithmetic(l) && dt_type_is_arithmetic(r)
                         : dt_type_is_integer(l) && dt_type_is_integer(r);
    if (!ok) {
        dt_fail(d, n->location, arithmetic ? "D_OP_ARITH" : "D_OP_INT",
                "operator %s requires operands of %s type", dt_operator_text(n->op),
                arithmetic ? "arithmetic" : "integral");
    }
}

void dt_check_assign(struct dt_session *d, struct dt_node *n)
{
    /* `@a = 1`: an aggregation takes aggregating functions only. */
    if (n->left->kind == DT_NODE_AGG ||
        (n->left->kind == DT_NODE_BINARY && n->left->left->kind == DT_NODE_AGG)) {
        if (n->left->kind != DT_NODE_AGG) {
            dt_fail(d, n->location, "D_AGG_MDIM", "aggregation may have one tuple of keys only");
        }
        dt_fail(d, n->location, "D_AGG_FUNC",
                "@%s must be assigned an aggregating function, as a statement", n->left->text);
    }
    if (n->op == '=') {
        check_plain(d, n);
    } else {
        check_compound(d, n);
    }
    struct dt_node *name = n->left;
    if (name->kind == DT_NODE_IDENT) {
        name->ident->flags |= DT_IDENT_ASSIGNED;
    }
    dt_set_type(n, n->left->type);
}
