/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators: operand and result types, by C's rules and D's for strings. */
#include "host/dt/check/check.h"

static _Noreturn void operator_report_types(struct dt_session *d, const struct dt_node *n)
{
    dt_fail(d, n->location, "D_OP_INCOMPAT", "operands have incompatible types: \"%s\" %s \"%s\"",
            dt_value_text(d, n->left), dt_operator_text(n->op), dt_value_text(d, n->right));
}

static void want_integers(struct dt_session *d, const struct dt_node *n)
{
    if (!dt_type_is_integer(n->left->type) || !dt_type_is_integer(n->right->type)) {
        dt_fail(d, n->location, "D_OP_INT", "operator %s requires operands of integral type",
                dt_operator_text(n->op));
    }
}

static bool is_pointer_to_object(const struct dt_type *type)
{
    const struct dt_type *t = dt_type_resolve(type);

    return dt_type_is_pointer(t) && dt_type_resolve(t->to)->kind != DT_TYPE_VOID &&
           dt_type_resolve(t->to)->kind != DT_TYPE_FUNCTION;
}

/* Converts an array in an expression to a pointer to its first element. */
static const struct dt_type *operator_decay_array(struct dt_session *d, const struct dt_type *type)
{
    const struct dt_type *t = dt_type_resolve(type);

    return t->kind == DT_TYPE_ARRAY ? dt_type_pointer(d, t->to) : type;
}

static void check_add(struct dt_session *d, struct dt_node *n)
{
    const struct dt_type *l = n->left->type, *r = n->right->type;

    if (dt_type_is_arithmetic(l) && dt_type_is_arithmetic(r)) {
        dt_set_type(n, dt_usual(d, l, r));
    } else if (is_pointer_to_object(l) && dt_type_is_integer(r)) {
        dt_set_type(n, operator_decay_array(d, l));
    } else if (n->op == '+' && dt_type_is_integer(l) && is_pointer_to_object(r)) {
        dt_set_type(n, operator_decay_array(d, r));
    } else if (n->op == '-' && is_pointer_to_object(l) && is_pointer_to_object(r) &&
               dt_compatible(n->right, operator_decay_array(d, l))) {
        dt_set_type(n, dt_type_basic(d, DT_BASIC_INTPTR));
    } else {
        operator_report_types(d, n);
    }
    n->is_ref = false;
}

static void check_comparison(struct dt_session *d, struct dt_node *n)
{
    const struct dt_node *l = n->left, *r = n->right;
    bool ok;

    if (dt_node_is_string(l) || dt_node_is_string(r)) {
        ok = (dt_type_is_string_like(l->type) || dt_node_is_null(l)) &&
             (dt_type_is_string_like(r->type) || dt_node_is_null(r));
    } else if (dt_type_is_arithmetic(l->type) && dt_type_is_arithmetic(r->type)) {
        ok = true;
    } else {
        ok = dt_type_is_scalar(operator_decay_array(d, l->type)) &&
             dt_type_is_scalar(operator_decay_array(d, r->type)) &&
             (dt_compatible(r, operator_decay_array(d, l->type)) ||
              dt_compatible(l, operator_decay_array(d, r->type)));
    }
    if (!ok) {
        operator_report_types(d, n);
    }
    dt_set_type(n, dt_type_basic(d, DT_BASIC_INT));
}

static void check_arithmetic(struct dt_session *d, struct dt_node *n)
{
    switch (n->op) {
    case '+':
    case '-':
        check_add(d, n);
        break;
    case '*':
    case '/':
        if (!dt_type_is_arithmetic(n->left->type) || !dt_type_is_arithmetic(n->right->type)) {
            dt_fail(d, n->location, "D_OP_ARITH",
                    "operator %s requires operands of arithmetic type", dt_operator_text(n->op));
        }
        dt_set_type(n, dt_usual(d, n->left->type, n->right->type));
        break;
    case DT_OP_SHL:
    case DT_OP_SHR:
        want_integers(d, n);
        dt_set_type(n, dt_promote(d, n->left->type));
        break;
    default: /* % & | ^ */
        want_integers(d, n);
        dt_set_type(n, dt_usual(d, n->left->type, n->right->type));
    }
}

bool dt_operator_compares(int op)
{
    return op == DT_OP_EQ || op == DT_OP_NE || op == DT_OP_LE || op == DT_OP_GE || op == '<' ||
           op == '>';
}

void dt_check_binary(struct dt_session *d, struct dt_node *n)
{
    dt_check_expression(d, n->left);
    dt_check_expression(d, n->right);
    if (dt_operator_compares(n->op)) {
        check_comparison(d, n);
    } else if (n->op == DT_OP_ANDAND || n->op == DT_OP_OROR || n->op == DT_OP_XORXOR) {
        if (!dt_type_is_scalar(n->left->type) || !dt_type_is_scalar(n->right->type)) {
            dt_fail(d, n->location, "D_OP_SCALAR", "operator %s requires operands of scalar type",
                    dt_operator_text(n->op));
        }
        dt_set_type(n, dt_type_basic(d, DT_BASIC_INT));
    } else {
        check_arithmetic(d, n);
    }
    dt_fold(d, n);
}

static void check_dereference(struct dt_session *d, struct dt_node *n)
{
    const struct dt_type *t = dt_type_resolve(n->left->type);

    if (t->kind == DT_TYPE_FUNCTION) {
        dt_become(n, n->left);
        return;
    }
    if (!dt_type_is_pointer(t)) {
        dt_fail(d, n->location, "D_DEREF_NONPTR", "cannot dereference non-pointer type");
    }
    if (dt_type_resolve(t->to)->kind == DT_TYPE_VOID) {
        dt_fail(d, n->location, "D_DEREF_VOID", "cannot dereference pointer to void");
    }
    dt_set_type(n, t->to);
    n->is_lvalue = n->is_writable = true;
    n->is_user = n->left->is_user;
}

static void check_address(struct dt_session *d, struct dt_node *n)
{
    const struct dt_node *of = n->left;

    if ((of->kind == DT_NODE_IDENT && of->ident->kind != DT_IDENT_SYMBOL) ||
        of->kind == DT_NODE_AGG) {
        dt_fail(d, n->location, "D_ADDROF_VAR", "cannot take address of D variable");
    }
    if (!of->is_lvalue && dt_type_resolve(of->type)->kind != DT_TYPE_FUNCTION) {
        dt_fail(d, n->location, "D_ADDROF_LVAL", "unary & may only be applied to an lvalue");
    }
    if (of->member && dt_type_is_bit_field(of->member->type)) {
        dt_fail(d, n->location, "D_ADDROF_BITFIELD", "cannot take address of a bit-field");
    }
    dt_set_type(n, dt_type_pointer(d, of->type));
}

static void check_step(struct dt_session *d, struct dt_node *n)
{
    struct dt_node *of = n->left;

    dt_declare_number(d, of);
    dt_check_expression(d, of);
    if (!of->is_lvalue) {
        dt_fail(d, n->location, "D_OP_LVAL", "operator %s requires modifiable lvalue as an operand",
                dt_operator_text(n->op));
    }
    if (!of->is_writable) {
        dt_fail(d, n->location, "D_OP_WRITE",
                "operator %s can only be applied to a writable variable", dt_operator_text(n->op));
    }
    if (!dt_type_is_scalar(of->type)) {
        dt_fail(d, n->location, "D_OP_SCALAR", "operator %s requires operand of scalar type",
                dt_operator_text(n->op));
    }
    dt_set_type(n, of->type);
}

void dt_check_unary(struct dt_session *d, struct dt_node *n)
{
    if (n->op >= DT_OP_PREINC && n->op <= DT_OP_POSTDEC) {
        check_step(d, n);
        return;
    }
    if (n->op == DT_OP_ADDRESS && n->left->kind == DT_NODE_NAME) {
        struct dt_ident *ident = dt_variable_lookup(d, n->left->scope, n->left->text);
        if (ident && ident->kind == DT_IDENT_ARRAY) {
            dt_fail(d, n->location, "D_ADDROF_VAR", "cannot take address of D variable");
        }
    }
    const struct dt_type *t = dt_check_expression(d, n->left);
    switch (n->op) {
    case '!':
        if (!dt_type_is_scalar(t)) {
            dt_fail(d, n->location, "D_OP_SCALAR", "operator ! requires operand of scalar type");
        }
        dt_set_type(n, dt_type_basic(d, DT_BASIC_INT));
        break;
    case '~':
        if (!dt_type_is_integer(t)) {
            dt_fail(d, n->location, "D_OP_INT", "operator ~ requires operand of integral type");
        }
        dt_set_type(n, dt_promote(d, t));
        break;
    case DT_OP_PLUS:
    case DT_OP_MINUS:
        if (!dt_type_is_arithmetic(t)) {
            dt_fail(d, n->location, "D_OP_ARITH", "operator %s requires operand of arithmetic type",
                    dt_operator_text(n->op));
        }
        dt_set_type(n, dt_promote(d, t));
        break;
    case DT_OP_DEREF:
        check_dereference(d, n);
        break;
    default:
        check_address(d, n);
    }
    dt_fold(d, n);
}
