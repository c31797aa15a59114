/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A helper's clauses run one after the other. Each is `predicate ? (statements, 0) : 0`, the values
 * of their last statements are assigned to a hidden clause-local variable, and that is the object's
 * value, if the process runs the program at all.
 */
#include "host/dt/clause/helper.h"

#include "host/dt/check/check.h"
#include "host/dt/code/object.h"
#include "trace/dtrace/dtrace.h"

#include <string.h>

enum { STATEMENTS_MOST = 256 };

/* ---- trees --------------------------------------------------------------------------- */

static struct dt_node *helper_choice(struct dt_session *d, struct dt_node *condition,
                                     struct dt_node *yes, struct dt_node *no)
{
    struct dt_node *n = dt_node_new(d, DT_NODE_TERNARY, condition->location);

    n->left = condition;
    n->right = yes;
    n->third = no;
    return n;
}

static struct dt_node *helper_name_node(struct dt_session *d, struct dt_location location,
                                        const char *scope, const char *text)
{
    struct dt_node *n = dt_node_new(d, DT_NODE_NAME, location);

    n->scope = scope;
    n->text = text;
    return n;
}

static struct dt_node *helper_string(struct dt_session *d, struct dt_location location)
{
    struct dt_node *n = dt_node_new(d, DT_NODE_STRING, location);

    n->text = "";
    return n;
}

/* `left, right`; NULL: there is no left one yet. */
static struct dt_node *helper_then(struct dt_session *d, struct dt_node *left,
                                   struct dt_node *right)
{
    return left ? dt_node_operator(d, ',', left, right) : right;
}

static struct dt_node *helper_zero(struct dt_session *d, struct dt_location location)
{
    return dt_node_int(d, location, 0, dt_type_basic(d, DT_BASIC_INT));
}

/* An expression of D's text. */
static struct dt_node *helper_text(struct dt_session *d, struct dt_location location,
                                   const char *text)
{
    return helper_name_node(d, location, NULL, d->define_inline(d, "int", text));
}

/* ---- clauses ------------------------------------------------------------------------- */

struct named_function {
    const char *name;
    uint64_t address, size;
};

static void function_compare(void *arg, const struct dt_function *f)
{
    struct named_function *wanted = arg;

    if (strcmp(f->name, wanted->name) == 0) {
        wanted->address = f->address;
        wanted->size = f->size;
    }
}

/* Whether the frame is one of the function that the description names; NULL: it names none. */
static struct dt_node *function_test(struct dt_session *d, const struct dt_node *probe)
{
    struct named_function f = {.name = probe->probe_name};
    const char *nearest;

    if (!*f.name) {
        return NULL;
    }
    dt_object_functions(d, d->helper->program, function_compare, &f);
    if (f.size == 0) {
        nearest = dt_object_nearest(d, d->helper->program, f.name);
        dt_fail(d, probe->location, "D_PDESC_ZERO", "%s has no function %s%s%s%s",
                d->helper->program, f.name, nearest ? "; " : "", nearest ? nearest : "",
                nearest ? "?" : "");
    }
    return helper_text(d, probe->location,
                       dt_sprintf(d,
                                  d->model->moves ? "(uint32_t)(arg0 - arg2 - %lluull) < %lluull"
                                                  : "(uint64_t)arg0 - %lluull < %lluull",
                                  (unsigned long long)f.address, (unsigned long long)f.size));
}

static bool is_assignment(const struct dt_node *n)
{
    return n->kind == DT_NODE_BINARY &&
           (n->op == '=' || (DT_OP_ADD_SET <= n->op && n->op <= DT_OP_SHR_SET));
}

/* The statements; the value of the last one is the frame's name, unless it is an assignment. */
static struct dt_node *statements_of(struct dt_session *d, struct dt_node *list)
{
    struct dt_node *all = NULL;

    for (; list; list = list->next) {
        struct dt_node *n = list->kind == DT_NODE_EXPR_STATEMENT ? list->left : list;

        if (!n) {
            continue;
        }
        bool aggregates =
            n->kind == DT_NODE_AGG || (n->kind == DT_NODE_BINARY && n->left->kind == DT_NODE_AGG);
        if (n->kind == DT_NODE_IF || aggregates || d->helper->statements++ == STATEMENTS_MOST) {
            dt_fail(d, n->location, "D_HELPER",
                    n->kind == DT_NODE_IF ? "a helper may not use if: write several clauses"
                    : aggregates          ? "a helper may not aggregate"
                                          : "a helper has at most 256 statements");
        }
        if (!list->next && !is_assignment(n)) {
            n = dt_node_operator(d, '=', helper_name_node(d, n->location, "this", "%name"), n);
        }
        all = helper_then(d, all, n);
    }
    return all;
}

static void check_description(struct dt_session *d, const struct dt_node *n)
{
    if (n->next || strcmp(n->provider, "dtrace") != 0 || strcmp(n->module, "helper") != 0 ||
        strcmp(n->function, "ustack") != 0) {
        dt_fail(d, n->location, "D_HELPER",
                "a helper's clauses are on dtrace:helper:ustack:, or with one function after "
                "that");
    }
}

void dt_helper_clause(struct dt_session *d, const struct dt_node *clause)
{
    struct dt_node *copy = dt_copy(d, clause, NULL, NULL), *condition, *body;

    check_description(d, clause->probes);
    condition = function_test(d, clause->probes);
    if (clause->left) {
        condition =
            condition ? dt_node_operator(d, DT_OP_ANDAND, condition, copy->left) : copy->left;
    }
    body = statements_of(d, copy->body);
    if (!body) {
        return;
    }
    body = helper_then(d, body, helper_zero(d, clause->location));
    if (condition) {
        body = helper_choice(d, condition, body, helper_zero(d, clause->location));
    }
    d->helper->body = helper_then(d, d->helper->body, body);
}

/* ---- the object ---------------------------------------------------------------------- */

/* Fails with the name of what a helper may not use. */
static _Noreturn void helper_fail_forbidden(struct dt_session *d, struct dt_location at, dif_insn i)
{
    static const char *const ops[] = {
#define DIF_OP(number, name, format, doc) [number] = #name,
#include "trace/dtrace/opcodes.def"
    };
    const uint32_t op = DIF_INSN_OP(i), index = DIF_INSN_INDEX(i);
    const char *what = op <= DIF_OP_MAX ? ops[op] : "this", *kind = "the instruction ";

    switch (op) {
    case DIF_OP_call:
        kind = "";
        what = "this subroutine";
        switch (index) {
#define DIF_SUBR(number, name, result, args, cost, doc) \
    case number: \
        what = #name "()"; \
        break;
#include "trace/dtrace/opcodes.def"
        default:
            break;
        }
        break;
    case DIF_OP_ldgs:
    case DIF_OP_ldga:
        kind = "";
        what = "global variables";
        switch (op == DIF_OP_ldga ? DIF_INSN_VAR_A(i) : index) {
#define DIF_VAR(number, name, array, type, doc) \
    case number: \
        what = #name; \
        break;
#include "trace/dtrace/opcodes.def"
        default:
            break;
        }
        break;
    case DIF_OP_stgs:
    case DIF_OP_ldgaa:
    case DIF_OP_stgaa:
        kind = "";
        what = "global variables";
        break;
    case DIF_OP_ldta:
    case DIF_OP_ldts:
    case DIF_OP_stts:
    case DIF_OP_ldtaa:
    case DIF_OP_sttaa:
        kind = "";
        what = "variables of self->";
        break;
    default:
        break;
    }
    dt_fail(d, at, "D_HELPER", "a helper may not use %s%s", kind, what);
}

void dt_helper_end(struct dt_session *d, struct dt_program *program)
{
    struct dt_node *body = d->helper->body, *n;
    struct dt_location at;
    uint32_t offset;

    if (!body) {
        dt_fail(d, (struct dt_location){.line = 1}, "D_HELPER", "no clause names a frame");
    }
    at = (struct dt_location){.file = body->location.file};
    n = dt_node_operator(d, '=', helper_name_node(d, at, "this", "%name"), helper_string(d, at));
    n = helper_then(d, helper_then(d, n, body), helper_name_node(d, at, "this", "%name"));
    n = helper_choice(d, helper_text(d, at, d->helper->guard), n, helper_string(d, at));
    d->programs->expansions = 0;
    dt_check_expression(d, n);
    uint32_t object = dt_object_make(d, program, n, false);
    const struct dif_object *made =
        &((struct dt_made_object *)program->objects.data)[object - 1].dif;
    if (dtrace_helper_check(made, &offset)) {
        helper_fail_forbidden(d, at, offset < made->ntext ? made->text[offset] : 0);
    }
}
