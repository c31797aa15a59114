/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actions that only the consumer does, when it comes to their record: printa() and the other
 * actions on aggregations, setopt(), ftruncate().
 */
#include "host/d/action.h"
#include "host/d/printf.h"

static const struct d_aggregation_info *agg_of(struct d_session *d, const struct d_node *call,
                                               const struct d_node *arg, const char *tag)
{
    d_action_want_type(d, call, arg, arg->kind == D_NODE_AGG, tag, "aggregation");
    return d_agg_lookup(d, arg)->aggregation;
}

static bool same_keys(struct d_session *d, const struct d_node *call,
                      const struct d_aggregation_info *a, const struct d_aggregation_info *b)
{
    d_action_want(d, call, a->nkeys == b->nkeys, "D_PRINTA_AGGKEY",
                  "aggregations have different numbers of keys");
    for (unsigned i = 0; i < a->nkeys; i++) {
        const struct d_type *x = d_type_resolve(a->keys[i]), *y = d_type_resolve(b->keys[i]);
        if (x->kind != y->kind || x->size != y->size) {
            return false;
        }
    }
    return true;
}

void d_do_printa(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    struct d_node *aggs = call->args;
    struct d_format f = {.kind = D_ACT_PRINTA};
    bool formatted_text = d_node_is_string(aggs);

    if (formatted_text) {
        d_action_check_text(d, call, false);
        f.text = aggs->text;
        f.parsed = d_action_parse(d, call);
        aggs = aggs->next;
        d_action_want(d, call, aggs != NULL, "D_PRINTA_PROTO",
                      "prototype mismatch: only 1 arg passed, aggregation expected");
    }
    uint32_t *numbers = d_alloc(d, d_list_length(aggs) * sizeof(*numbers));
    const struct d_aggregation_info *first = agg_of(d, call, aggs, "D_PRINTA_AGGARG");
    for (struct d_node *arg = aggs; arg; arg = arg->next) {
        const struct d_aggregation_info *a = agg_of(d, call, arg, "D_PRINTA_AGGARG");
        d_action_want(d, call, same_keys(d, call, first, a), "D_PRINTA_AGGPROTO",
                      "aggregations have keys of different types");
        numbers[f.naggregations++] = d_agg_lookup(d, arg)->number;
    }
    f.aggregations = numbers;
    if (f.parsed) {
        d_printa_check(d, call, f.parsed, first);
    }
    d_action_add(d, c, D_ACT_PRINTA)->format = d_format_add(d, &f);
}

static void libact(struct d_session *d, struct d_clause *c, enum d_libact what,
                   const struct d_node *agg, struct d_node *value)
{
    uint32_t *number = d_alloc(d, sizeof(*number));
    struct d_format f = {.kind = D_ACT_LIBACT, .arg = what};

    if (agg) {
        *number = d_agg_lookup(d, agg)->number;
        f.aggregations = number;
        f.naggregations = 1;
    }
    uint32_t format = d_format_add(d, &f);
    struct d_image_action *a = d_action_add(d, c, D_ACT_LIBACT);
    a->arg = what;
    a->format = format;
    for (; value; value = value->next) {
        d_action_datum(d, c, value, format);
    }
}

static void agg_action(struct d_session *d, struct d_clause *c, struct d_node *call,
                       enum d_libact what, const char *aggarg, const char *scalar)
{
    struct d_node *value = call->args->next;

    agg_of(d, call, call->args, aggarg);
    if (value) {
        d_action_want(d, call, d_type_is_scalar(value->type), scalar,
                      "argument #2 must be of scalar type");
        value = d_node_cast(d, value, d_type_basic(d, D_BASIC_INT64));
        d_check_expression(d, value);
    }
    libact(d, c, what, call->args, value);
}

void d_do_clear(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    agg_action(d, c, call, D_LIBACT_CLEAR, "D_CLEAR_AGGARG", "");
}

void d_do_trunc(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    agg_action(d, c, call, D_LIBACT_TRUNC, "D_TRUNC_AGGARG", "D_TRUNC_SCALAR");
}

void d_do_normalize(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    agg_action(d, c, call, D_LIBACT_NORMALIZE, "D_NORMALIZE_AGGARG", "D_NORMALIZE_SCALAR");
}

void d_do_denormalize(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    agg_action(d, c, call, D_LIBACT_DENORMALIZE, "D_NORMALIZE_AGGARG", "");
}

void d_do_setopt(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    for (const struct d_node *arg = call->args; arg; arg = arg->next) {
        d_action_want_type(d, call, arg, d_node_is_string(arg), "D_PROTO_ARG", "const char *");
    }
    libact(d, c, D_LIBACT_SETOPT, NULL, call->args);
}

void d_do_ftruncate(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    (void)call;
    libact(d, c, D_LIBACT_FTRUNCATE, NULL, NULL);
}
