/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators: what they take, what they yield, C's rules and D's for strings.
 */
#include "host/d/back.h"

const char *d_operator_text(int op)
{
    static const char *const names[] = {
        "==", "!=", "<=",  ">=",  "<<", ">>", "&&", "||", "^^", "+=", "-=", "*=", "/=", "%=", "&=",
        "|=", "^=", "<<=", ">>=", "++", "--", "++", "--", "->", "[]", "+",  "-",  "*",  "&"};
    static char single[2];

    if (op >= 256) {
        return names[op - 256];
    }
    single[0] = (char)op;
    return single;
}

static _Noreturn void incompatible(struct d_session *d, const struct d_node *n)
{
    d_fail(d, n->place, "D_OP_INCOMPAT", "operands have incompatible types: \"%s\" %s \"%s\"",
           d_value_text(d, n->left), d_operator_text(n->op), d_value_text(d, n->right));
}

static void want_integers(struct d_session *d, const struct d_node *n)
{
    if (!d_type_is_integer(n->left->type) || !d_type_is_integer(n->right->type)) {
        d_fail(d, n->place, "D_OP_INT", "operator %s requires operands of integral type",
               d_operator_text(n->op));
    }
}

static void want_arithmetic(struct d_session *d, const struct d_node *n)
{
    if (!d_type_is_arithmetic(n->left->type) || !d_type_is_arithmetic(n->right->type)) {
        d_fail(d, n->place, "D_OP_ARITH", "operator %s requires operands of arithmetic type",
               d_operator_text(n->op));
    }
}

static bool is_pointer_to_object(const struct d_type *type)
{
    const struct d_type *t = d_type_resolve(type);

    return d_type_is_pointer(t) && d_type_resolve(t->to)->kind != D_TYPE_VOID &&
           d_type_resolve(t->to)->kind != D_TYPE_FUNCTION;
}

/* What an array is in an expression: a pointer to its first element. */
static const struct d_type *decayed(struct d_session *d, const struct d_type *type)
{
    const struct d_type *t = d_type_resolve(type);

    return t->kind == D_TYPE_ARRAY ? d_type_pointer(d, t->to) : type;
}

static void check_add(struct d_session *d, struct d_node *n)
{
    const struct d_type *l = n->left->type, *r = n->right->type;

    if (d_type_is_arithmetic(l) && d_type_is_arithmetic(r)) {
        d_set_type(n, d_usual(d, l, r));
    } else if (is_pointer_to_object(l) && d_type_is_integer(r)) {
        d_set_type(n, decayed(d, l));
    } else if (n->op == '+' && d_type_is_integer(l) && is_pointer_to_object(r)) {
        d_set_type(n, decayed(d, r));
    } else if (n->op == '-' && is_pointer_to_object(l) && is_pointer_to_object(r) &&
               d_compatible(n->right, decayed(d, l))) {
        d_set_type(n, d_type_basic(d, D_BASIC_INTPTR));
    } else {
        incompatible(d, n);
    }
    n->is_ref = false;
}

static void check_comparison(struct d_session *d, struct d_node *n)
{
    const struct d_node *l = n->left, *r = n->right;
    bool ok;

    if (d_node_is_string(l) || d_node_is_string(r)) {
        ok = (d_type_is_string_like(l->type) || d_node_is_null(l)) &&
             (d_type_is_string_like(r->type) || d_node_is_null(r));
    } else if (d_type_is_arithmetic(l->type) && d_type_is_arithmetic(r->type)) {
        ok = true;
    } else {
        ok = d_type_is_scalar(decayed(d, l->type)) && d_type_is_scalar(decayed(d, r->type)) &&
             (d_compatible(r, decayed(d, l->type)) || d_compatible(l, decayed(d, r->type)));
    }
    if (!ok) {
        incompatible(d, n);
    }
    d_set_type(n, d_type_basic(d, D_BASIC_INT));
}

static void check_logic(struct d_session *d, struct d_node *n)
{
    if (!d_type_is_scalar(n->left->type) || !d_type_is_scalar(n->right->type)) {
        d_fail(d, n->place, "D_OP_SCALAR", "operator %s requires operands of scalar type",
               d_operator_text(n->op));
    }
    d_set_type(n, d_type_basic(d, D_BASIC_INT));
}

static void check_arithmetic(struct d_session *d, struct d_node *n)
{
    switch (n->op) {
    case '+':
    case '-':
        check_add(d, n);
        break;
    case '*':
    case '/':
        want_arithmetic(d, n);
        d_set_type(n, d_usual(d, n->left->type, n->right->type));
        break;
    case D_OP_SHL:
    case D_OP_SHR:
        want_integers(d, n);
        d_set_type(n, d_promote(d, n->left->type));
        break;
    default: /* % & | ^ */
        want_integers(d, n);
        d_set_type(n, d_usual(d, n->left->type, n->right->type));
    }
}

bool d_operator_compares(int op)
{
    return op == D_OP_EQ || op == D_OP_NE || op == D_OP_LE || op == D_OP_GE || op == '<' ||
           op == '>';
}

void d_check_binary(struct d_session *d, struct d_node *n)
{
    d_check_expression(d, n->left);
    d_check_expression(d, n->right);
    if (d_operator_compares(n->op)) {
        check_comparison(d, n);
    } else if (n->op == D_OP_ANDAND || n->op == D_OP_OROR || n->op == D_OP_XORXOR) {
        check_logic(d, n);
    } else {
        check_arithmetic(d, n);
    }
    d_fold(d, n);
}

static void check_dereference(struct d_session *d, struct d_node *n)
{
    const struct d_type *t = d_type_resolve(n->left->type);

    if (t->kind == D_TYPE_FUNCTION) {
        d_become(n, n->left);
        return;
    }
    if (!d_type_is_pointer(t)) {
        d_fail(d, n->place, "D_DEREF_NONPTR", "cannot dereference non-pointer type");
    }
    if (d_type_resolve(t->to)->kind == D_TYPE_VOID) {
        d_fail(d, n->place, "D_DEREF_VOID", "cannot dereference pointer to void");
    }
    d_set_type(n, t->to);
    n->is_lvalue = n->is_writable = true;
    n->is_user = n->left->is_user;
}

static bool is_variable(const struct d_node *n)
{
    return n->kind == D_NODE_IDENT && n->ident->kind != D_IDENT_SYMBOL;
}

static bool is_bit_field(const struct d_node *n)
{
    const struct d_type *t = n->member ? d_type_resolve(n->member->type) : NULL;

    return t && t->kind == D_TYPE_INTEGER && t->bits && t->bits < t->size * 8;
}

static void check_address(struct d_session *d, struct d_node *n)
{
    const struct d_node *of = n->left;

    if (is_variable(of) || of->kind == D_NODE_AGG) {
        d_fail(d, n->place, "D_ADDROF_VAR", "cannot take address of D variable");
    }
    if (!of->is_lvalue && d_type_resolve(of->type)->kind != D_TYPE_FUNCTION) {
        d_fail(d, n->place, "D_ADDROF_LVAL", "unary & may only be applied to an lvalue");
    }
    if (is_bit_field(of)) {
        d_fail(d, n->place, "D_ADDROF_BITFIELD", "cannot take address of a bit-field");
    }
    d_set_type(n, d_type_pointer(d, of->type));
}

static void check_step(struct d_session *d, struct d_node *n)
{
    struct d_node *of = n->left;

    d_declare_number(d, of);
    d_check_expression(d, of);
    if (!of->is_lvalue) {
        d_fail(d, n->place, "D_OP_LVAL", "operator %s requires modifiable lvalue as an operand",
               d_operator_text(n->op));
    }
    if (!of->is_writable) {
        d_fail(d, n->place, "D_OP_WRITE", "operator %s can only be applied to a writable variable",
               d_operator_text(n->op));
    }
    if (!d_type_is_scalar(of->type)) {
        d_fail(d, n->place, "D_OP_SCALAR", "operator %s requires operand of scalar type",
               d_operator_text(n->op));
    }
    d_set_type(n, of->type);
}

void d_check_unary(struct d_session *d, struct d_node *n)
{
    if (n->op >= D_OP_PREINC && n->op <= D_OP_POSTDEC) {
        check_step(d, n);
        return;
    }
    if (n->op == D_OP_ADDRESS && n->left->kind == D_NODE_NAME) {
        struct d_ident *ident = d_variable_lookup(d, n->left->scope, n->left->text);
        if (ident && ident->kind == D_IDENT_ARRAY) {
            d_fail(d, n->place, "D_ADDROF_VAR", "cannot take address of D variable");
        }
    }
    const struct d_type *t = d_check_expression(d, n->left);
    switch (n->op) {
    case '!':
        if (!d_type_is_scalar(t)) {
            d_fail(d, n->place, "D_OP_SCALAR", "operator ! requires operand of scalar type");
        }
        d_set_type(n, d_type_basic(d, D_BASIC_INT));
        break;
    case '~':
        if (!d_type_is_integer(t)) {
            d_fail(d, n->place, "D_OP_INT", "operator ~ requires operand of integral type");
        }
        d_set_type(n, d_promote(d, t));
        break;
    case D_OP_PLUS:
    case D_OP_MINUS:
        if (!d_type_is_arithmetic(t)) {
            d_fail(d, n->place, "D_OP_ARITH", "operator %s requires operand of arithmetic type",
                   d_operator_text(n->op));
        }
        d_set_type(n, d_promote(d, t));
        break;
    case D_OP_DEREF:
        check_dereference(d, n);
        break;
    default:
        check_address(d, n);
    }
    d_fold(d, n);
}
