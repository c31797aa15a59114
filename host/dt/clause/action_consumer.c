/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actions that only the consumer does, when it comes to their record: printa() and the other
 * actions on aggregations, setopt(), ftruncate().
 */
#include "host/dt/check/check.h"
#include "host/dt/clause/action.h"
#include "host/dt/code/object.h"

static const struct dt_aggregation_info *agg_of(struct dt_session *d, const struct dt_node *call,
                                                const struct dt_node *arg, const char *tag)
{
    dt_action_want_type(d, call, arg, arg->kind == DT_NODE_AGG, tag, "aggregation");
    return dt_agg_lookup(d, arg)->aggregation;
}

static bool same_keys(struct dt_session *d, const struct dt_node *call,
                      const struct dt_aggregation_info *a, const struct dt_aggregation_info *b)
{
    dt_action_want(d, call, a->nkeys == b->nkeys, "D_PRINTA_AGGKEY",
                   "aggregations have different numbers of keys");
    for (unsigned i = 0; i < a->nkeys; i++) {
        const struct dt_type *x = dt_type_resolve(a->keys[i]), *y = dt_type_resolve(b->keys[i]);
        if (x->kind != y->kind || x->size != y->size) {
            return false;
        }
    }
    return true;
}

void dt_do_printa(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    struct dt_node *aggs = call->args;
    struct dt_format f = {.kind = DTRACE_ACT_PRINTA};
    bool formatted_text = dt_node_is_string(aggs);

    if (formatted_text) {
        dt_action_check_text(d, call, false);
        f.text = aggs->text;
        f.parsed = dt_action_parse(d, call);
        aggs = aggs->next;
        dt_action_want(d, call, aggs != NULL, "D_PRINTA_PROTO",
                       "prototype mismatch: only 1 arg passed, aggregation expected");
    }
    uint32_t *numbers = dt_alloc(d, dt_list_length(aggs) * sizeof(*numbers));
    const struct dt_aggregation_info *first = agg_of(d, call, aggs, "D_PRINTA_AGGARG");
    for (struct dt_node *arg = aggs; arg; arg = arg->next) {
        const struct dt_aggregation_info *a = agg_of(d, call, arg, "D_PRINTA_AGGARG");
        dt_action_want(d, call, same_keys(d, call, first, a), "D_PRINTA_AGGPROTO",
                       "aggregations have keys of different types");
        numbers[f.naggregations++] = dt_agg_lookup(d, arg)->number;
    }
    f.aggregations = numbers;
    if (f.parsed) {
        dt_printa_check(d, call, f.parsed, first);
    }
    dt_action_add(d, c, DTRACE_ACT_PRINTA)->format = dt_format_add(d, &f);
}

static void libact(struct dt_session *d, struct dt_clause *c, enum dtrace_libact what,
                   const struct dt_node *agg, struct dt_node *value)
{
    uint32_t *number = dt_alloc(d, sizeof(*number));
    struct dt_format f = {.kind = DTRACE_ACT_LIBACT, .arg = what};

    if (agg) {
        *number = dt_agg_lookup(d, agg)->number;
        f.aggregations = number;
        f.naggregations = 1;
    }
    uint32_t format = dt_format_add(d, &f);
    struct dtrace_image_action *a = dt_action_add(d, c, DTRACE_ACT_LIBACT);
    a->arg = what;
    a->format = format;
    for (; value; value = value->next) {
        dt_action_datum(d, c, value, format);
    }
}

static void agg_action(struct dt_session *d, struct dt_clause *c, struct dt_node *call,
                       enum dtrace_libact what, const char *aggarg, const char *scalar)
{
    struct dt_node *value = call->args->next;

    agg_of(d, call, call->args, aggarg);
    if (value) {
        dt_action_want(d, call, dt_type_is_scalar(value->type), scalar,
                       "argument #2 must be of scalar type");
        value = dt_node_cast(d, value, dt_type_basic(d, DT_BASIC_INT64));
        dt_check_expression(d, value);
    }
    libact(d, c, what, call->args, value);
}

void dt_do_clear(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    agg_action(d, c, call, DTRACE_LIBACT_CLEAR, "D_CLEAR_AGGARG", "");
}

void dt_do_trunc(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    agg_action(d, c, call, DTRACE_LIBACT_TRUNC, "D_TRUNC_AGGARG", "D_TRUNC_SCALAR");
}

void dt_do_normalize(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    agg_action(d, c, call, DTRACE_LIBACT_NORMALIZE, "D_NORMALIZE_AGGARG", "D_NORMALIZE_SCALAR");
}

void dt_do_denormalize(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    agg_action(d, c, call, DTRACE_LIBACT_DENORMALIZE, "D_NORMALIZE_AGGARG", "");
}

void dt_do_setopt(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    for (const struct dt_node *arg = call->args; arg; arg = arg->next) {
        dt_action_want_type(d, call, arg, dt_node_is_string(arg), "D_PROTO_ARG", "const char *");
    }
    libact(d, c, DTRACE_LIBACT_SETOPT, NULL, call->args);
}

void dt_do_ftruncate(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    (void)call;
    libact(d, c, DTRACE_LIBACT_FTRUNCATE, NULL, NULL);
}
