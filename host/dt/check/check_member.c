/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Members, indices, sizes: what lies in something else.
 */
#include "host/dt/check/check.h"
#include "host/dt/check/derived.h"

#include <stdint.h>
#include <string.h>

static const struct dt_type *struct_of(struct dt_session *d, const struct dt_node *n)
{
    const struct dt_type *t = dt_type_resolve(n->left->type);

    if (n->op == DT_OP_ARROW) {
        if (dt_type_is_struct(t)) {
            dt_fail(d, n->location, "D_OP_PTR", "operator -> must be applied to a pointer");
        }
        t = t->kind == DT_TYPE_POINTER || t->kind == DT_TYPE_ARRAY ? dt_type_resolve(t->to) : NULL;
    }
    if (t && t->kind == DT_TYPE_FORWARD) {
        dt_fail(
            d, n->location, "D_OP_INCOMPLETE",
            "operator %s cannot be applied to a forward declaration: no %s definition is available",
            dt_operator_text(n->op), dt_type_full_text(d, t));
    }
    if (!t || !dt_type_is_struct(t)) {
        dt_fail(
            d, n->location, "D_OP_SOU",
            "operator %s cannot be applied to type \"%s\"; must be applied to a struct or union",
            dt_operator_text(n->op), dt_value_text(d, n->left));
    }
    return t;
}

void dt_check_member(struct dt_session *d, struct dt_node *n)
{
    dt_check_expression(d, n->left);
    if (n->left->kind == DT_NODE_XLATE) {
        dt_xlate_member(d, n);
        return;
    }
    const struct dt_type *t = struct_of(d, n);
    n->member = dt_type_member(t, n->text, &n->bit_offset);
    if (!n->member) {
        dt_fail(d, n->location, "D_TYPE_MEMBER", "%s is not a member of %s", n->text,
                dt_type_full_text(d, t));
    }
    dt_set_type(n, n->member->type);
    n->is_lvalue = true;
    n->is_writable = n->op == DT_OP_ARROW || n->left->is_writable;
    n->is_user = n->left->is_user;
}

void dt_check_keys(struct dt_session *d, struct dt_node *n, struct dt_ident *ident)
{
    for (struct dt_node *key = n->args; key; key = key->next) {
        dt_check_expression(d, key);
        switch (dt_type_resolve(key->type)->kind) {
        case DT_TYPE_VOID:
        case DT_TYPE_DYNAMIC:
        case DT_TYPE_STACK:
        case DT_TYPE_SYMADDR:
        case DT_TYPE_USYMADDR:
        case DT_TYPE_FUNCTION:
            dt_fail(d, key->location, "D_KEY_TYPE",
                    "%s expression may not be used as associative array index",
                    dt_value_text(d, key));
        default:
            break;
        }
    }
    if (!ident->signature.fixed) { /* an array's first use says what its keys are */
        unsigned count = dt_list_length(n->args), i = 0;
        const struct dt_type **types = dt_alloc(d, (count + 1) * sizeof(*types));
        for (const struct dt_node *key = n->args; key; key = key->next) {
            const struct dt_type *t = dt_type_resolve(key->type);
            types[i++] = t->kind == DT_TYPE_ARRAY && dt_type_is_string_like(t)
                             ? dt_type_basic(d, DT_BASIC_STRING)
                             : dt_recorded_type(d, key);
        }
        ident->signature = (struct dt_signature){.args = types, .nargs = count, .fixed = true};
    }
    dt_check_arguments(d, n, n->args, &ident->signature, ident->name, DT_ARG_KEY);
}

/* A word of the probe as element of args[]. */
static struct dt_node *argument_word(struct dt_session *d, struct dt_location location,
                                     struct dt_ident *ident, unsigned index,
                                     const struct dt_type *type)
{
    struct dt_node *n = dt_node_new(d, DT_NODE_IDENT, location);

    n->ident = ident;
    n->args = dt_node_int(d, location, index, dt_type_basic(d, DT_BASIC_INT));
    dt_set_type(n, type);
    dt_use(d, ident);
    return n;
}

static void check_args(struct dt_session *d, struct dt_node *n, struct dt_ident *ident)
{
    const struct dt_type *pid = dt_type_basic(d, DT_BASIC_INT);
    struct dt_node *words[DT_ARGUMENT_FROM] = {NULL, NULL};
    struct dt_argument a;
    const struct dt_clause *clause = d->programs->clause;
    int64_t index = (int64_t)n->args->value;
    bool found = false;

    if (clause && clause->derived && index >= 0 && index < DT_DERIVED_ARGUMENTS) {
        struct dt_node *value = dt_derived_argument(d, n->location, (unsigned)index);

        if (value) {
            dt_become(n, value);
            return;
        }
    } else if (clause && !clause->derived && clause->probe && index >= 0 && index <= UINT8_MAX) {
        bool agree = !clause->many_kinds || strcmp(clause->probe->provider, "fbt") != 0;

        for (const struct dt_probe_kind *k = clause->kinds; k && agree; k = k->next) {
            agree = dt_arguments_agree(d, clause->probe, &k->probe, (unsigned)index);
        }
        if (!agree) {
            dt_fail(d, n->location, "D_ARGS_MULTI",
                    "args[ ] may not be referenced because probe description matches probes of "
                    "several kinds");
        }
        found = dt_argument_of(d, clause->probe, (unsigned)index, &a);
    }
    if (!found) {
        dt_fail(d, n->location, "D_ARGS_IDX", "index %lld is out of range for args[ ]",
                (long long)index);
    }
    if (!a.translated) {
        dt_become(n, argument_word(d, n->location, ident, a.from[0], a.type));
        return;
    }
    for (unsigned i = 0; i < a.nfrom; i++) {
        words[i] = argument_word(d, n->location, ident, a.from[i], pid);
    }
    dt_become(n, dt_xlate_argument(d, n->location, a.type, words));
}

/* args[n], regs[n], uregs[n] */
static void check_builtin_array(struct dt_session *d, struct dt_node *n, struct dt_ident *ident)
{
    if (dt_list_length(n->args) != 1) {
        dt_fail(d, n->location, "D_PROTO_LEN", "%s[ ] %s", ident->name,
                dt_mismatch_text(d, dt_list_length(n->args), "arg", 1, 1));
    }
    dt_check_expression(d, n->args);
    if (!dt_type_is_integer(n->args->type)) {
        dt_fail(d, n->location, "D_PROTO_ARG",
                "%s[ ] argument #1 is incompatible with prototype:\n"
                "\tprototype: integer\n\t argument: %s",
                ident->name, dt_value_text(d, n->args));
    }
    if (ident->number == DIF_VAR_args && !n->args->is_constant) {
        dt_fail(d, n->location, "D_PROTO_ARG",
                "args[ ] argument #1 is incompatible with prototype:\n"
                "\tprototype: integer constant\n\t argument: %s",
                dt_value_text(d, n->args));
    }
    if (ident->number == DIF_VAR_args) {
        check_args(d, n, ident);
        return;
    }
    n->kind = DT_NODE_IDENT;
    n->ident = ident;
    dt_set_type(n, ident->type);
    dt_use(d, ident);
}

static void member_check_type(struct dt_session *d, struct dt_node *n)
{
    const struct dt_type *t = dt_type_resolve(dt_check_expression(d, n->left));

    if (n->left->kind == DT_NODE_AGG) {
        dt_fail(d, n->location, "D_AGG_MDIM", "aggregation may have one tuple of keys only");
    }
    if (!dt_type_is_pointer(t) && !dt_type_is_string(t)) {
        dt_fail(d, n->location, "D_OP_PTR", "operator [] must be applied to an array or a pointer");
    }
    if (dt_list_length(n->args) != 1) {
        dt_fail(d, n->location, "D_ARR_BADREF", "cannot access %s as an associative array",
                dt_value_text(d, n->left));
    }
    if (!dt_type_is_integer(dt_check_expression(d, n->args))) {
        dt_fail(d, n->location, "D_OP_INT", "operator [] requires operand of integral type");
    }
    n->right = n->args;
    n->args = NULL;
    if (dt_type_is_string(t)) {
        dt_set_type(n, dt_type_basic(d, DT_BASIC_CHAR));
        return;
    }
    if (dt_type_resolve(t->to)->kind == DT_TYPE_VOID) {
        dt_fail(d, n->location, "D_DEREF_VOID", "cannot dereference pointer to void");
    }
    dt_set_type(n, t->to);
    n->is_lvalue = true;
    n->is_writable = t->kind == DT_TYPE_POINTER || n->left->is_writable;
}

void dt_check_index(struct dt_session *d, struct dt_node *n)
{
    struct dt_node *name = n->left;
    struct dt_ident *ident = NULL;

    if (name->kind == DT_NODE_NAME) {
        ident = dt_variable_lookup(d, name->scope, name->text);
    }
    if (ident && ident->kind == DT_IDENT_ARRAY && ident->flags & DT_IDENT_BUILTIN) {
        check_builtin_array(d, n, ident);
    } else if (ident && ident->kind == DT_IDENT_ARRAY) {
        if (!ident->type) {
            dt_fail(d, n->location, "D_IDENT_UNDEF", "%s has not yet been declared or assigned",
                    ident->name);
        }
        dt_check_keys(d, n, ident);
        n->kind = DT_NODE_IDENT;
        n->ident = ident;
        n->is_lvalue = true;
        n->is_writable = (ident->flags & DT_IDENT_WRITE) != 0;
        ident->flags |= DT_IDENT_USED;
        dt_set_type(n, ident->type);
    } else if (ident && ident->kind == DT_IDENT_INLINE && ident->ninline_parameters) {
        dt_inline_expand(d, n, ident, n->args);
    } else {
        member_check_type(d, n);
    }
}

/* ---- sizeof, offsetof, stringof ---------------------------------------------------- */

static uint64_t member_size_of(struct dt_session *d, struct dt_node *n)
{
    struct dt_node *of = n->left;

    if (of->kind == DT_NODE_STRING) {
        return strlen(of->text) + 1;
    }
    if (of->kind == DT_NODE_NAME) {
        struct dt_ident *ident = dt_variable_lookup(d, of->scope, of->text);
        if (ident && ident->kind == DT_IDENT_ARRAY) {
            dt_fail(d, n->location, "D_IDENT_BADREF",
                    "cannot apply sizeof to associative array '%s'", of->text);
        }
    }
    const struct dt_type *type = of->kind == DT_NODE_TYPE ? of->type : dt_check_expression(d, of);
    if (dt_type_is_bit_field(type) && of->kind != DT_NODE_TYPE) {
        dt_fail(d, n->location, "D_SIZEOF_BITFIELD", "cannot apply sizeof to a bit-field");
    }
    const struct dt_type *t = dt_type_resolve(type);
    if (t->kind == DT_TYPE_STRING) {
        return dtrace_option(d, "strsize");
    }
    if (t->kind == DT_TYPE_VOID || t->kind == DT_TYPE_DYNAMIC || t->kind == DT_TYPE_FORWARD ||
        t->kind == DT_TYPE_FUNCTION || t->kind == DT_TYPE_STACK) {
        dt_fail(d, n->location, "D_SIZEOF_TYPE", "cannot apply sizeof to an operand of type \"%s\"",
                dt_type_full_text(d, type));
    }
    return t->size;
}

static uint64_t member_offset_of(struct dt_session *d, struct dt_node *n)
{
    const struct dt_type *t = dt_type_resolve(n->left ? n->left->type : n->type);
    uint64_t bits = 0;

    if (!dt_type_is_struct(t)) {
        dt_fail(d, n->location, "D_OFFSETOF_TYPE",
                "offsetof operand must be a struct or union type");
    }
    const struct dt_member *m = dt_type_member(t, n->text, &bits);
    if (!m) {
        dt_fail(d, n->location, "D_UNKNOWN", "%s is not a member of %s", n->text,
                dt_type_full_text(d, t));
    }
    if (dt_type_is_bit_field(m->type)) {
        dt_fail(d, n->location, "D_OFFSETOF_BITFIELD", "cannot take offset of a bit-field: %s",
                n->text);
    }
    return bits / 8;
}

void dt_check_size(struct dt_session *d, struct dt_node *n)
{
    if (n->kind == DT_NODE_STRINGOF) {
        const struct dt_type *t = dt_type_resolve(dt_check_expression(d, n->left));

        if (!dt_type_is_string_like(t) && !dt_type_is_scalar(t) && !dt_type_is_pointer(t)) {
            dt_fail(d, n->location, "D_STRINGOF_TYPE",
                    "cannot apply stringof to a value of type %s", dt_value_text(d, n->left));
        }
        dt_set_type(n, dt_type_basic(d, DT_BASIC_STRING));
        return;
    }
    n->value = n->kind == DT_NODE_SIZEOF ? member_size_of(d, n) : member_offset_of(d, n);
    n->kind = DT_NODE_INT;
    n->is_constant = true;
    dt_set_type(n, dt_type_basic(d, DT_BASIC_SIZE));
}
