/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `@name[keys] = function(value …)`: the first one fixes the function, the keys' types and a
 * distribution's shape for the rest of the program.
 */
#include "host/d/back.h"
#include "host/d/suggest.h"

struct d_ident *d_agg_lookup(struct d_session *d, const struct d_node *n)
{
    struct d_ident *ident = d_ident_lookup(d_session_agg_idents(d), n->text);

    if (!ident || !ident->aggregation) {
        d_fail(d, n->place, "D_IDENT_UNDEF", "undefined aggregation: @%s%s", n->text,
               d_suggest_aggregation(d, n->text));
    }
    return ident;
}

_Noreturn void d_agg_fail(struct d_session *d, const struct d_node *call, const char *tag,
                          const char *what)
{
    d_fail(d, call->place, tag, "%s( ) %s", call->text, what);
}

/* ---- the call ----------------------------------------------------------------------------------
 */

static void check_function(struct d_session *d, struct d_node *call)
{
    static const struct {
        uint8_t least, most;
    } counts[] = {{0, 0}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 2}, {3, 5}, {5, 6}};
    unsigned n = d_list_length(call->args), f = call->ident->number - D_AGG_COUNT;

    if (n < counts[f].least || n > counts[f].most) {
        d_agg_fail(d, call, "D_PROTO_LEN",
                   d_mismatch_text(d, n, "arg", counts[f].least, counts[f].most));
    }
    for (struct d_node *arg = call->args; arg; arg = arg->next) {
        d_check_expression(d, arg);
    }
    if (call->args && !d_type_is_scalar(call->args->type)) {
        d_agg_fail(d, call, "D_AGG_SCALAR", "argument #1 must be of scalar type");
    }
}

/* The argument that says how much a value counts; NULL: 1. */
static struct d_node *weight_of(struct d_session *d, struct d_node *call)
{
    unsigned at = call->ident->number == D_AGG_QUANTIZE     ? 1
                  : call->ident->number == D_AGG_LQUANTIZE  ? 4
                  : call->ident->number == D_AGG_LLQUANTIZE ? 5
                                                            : 100;
    struct d_node *arg = call->args;

    for (unsigned i = 0; arg && i < at; i++) {
        arg = arg->next;
    }
    if (arg && !d_type_is_scalar(arg->type)) {
        d_agg_fail(d, call, "D_PROTO_ARG", "increment value must be of scalar type");
    }
    return arg;
}

/* ---- keys --------------------------------------------------------------------------------------
 */

static void check_key(struct d_session *d, struct d_node *key, unsigned number)
{
    switch (d_type_resolve(d_check_expression(d, key))->kind) {
    case D_TYPE_VOID:
    case D_TYPE_FUNCTION:
        d_fail(d, key->place, "D_KEY_TYPE",
               "%s expression may not be used as aggregation index: key #%u", d_value_text(d, key),
               number);
    case D_TYPE_DYNAMIC:
        if (!d_is_place_call(key)) {
            d_fail(d, key->place, "D_KEY_TYPE",
                   "dynamic expression may not be used as aggregation index: key #%u", number);
        }
        break;
    default:
        break;
    }
}

static const struct d_type *key_type(struct d_session *d, const struct d_node *key)
{
    const struct d_type *t = d_type_resolve(key->type);

    if (d_is_place_call(key)) {
        return d_place_type(d, key);
    }
    if (t->kind == D_TYPE_INTEGER && t->bits && t->bits < t->size * 8) {
        return d_promote(d, key->type);
    }
    return d_recorded_type(d, key);
}

static struct d_aggregation_info *first_use(struct d_session *d, struct d_ident *ident,
                                            const struct d_node *agg, uint32_t function,
                                            uint64_t shape)
{
    struct d_aggregation_info *info = d_alloc(d, sizeof(*info));
    unsigned n = d_list_length(agg->args), i = 0;
    const struct d_type **keys = d_alloc(d, (n + 1) * sizeof(*keys));

    for (const struct d_node *key = agg->args; key; key = key->next) {
        keys[i++] = key_type(d, key);
    }
    *info = (struct d_aggregation_info){agg->text, function, shape, keys, n};
    *(struct d_aggregation_info **)d_list_add(d, &d_session_back(d)->aggregations, sizeof(info)) =
        info;
    ident->number = d_session_back(d)->aggregations.n;
    ident->aggregation = info;
    return info;
}

static bool fits_key(struct d_session *d, const struct d_node *key, const struct d_type *type)
{
    switch (d_type_resolve(type)->kind) {
    case D_TYPE_STACK:
    case D_TYPE_SYMADDR:
    case D_TYPE_USYMADDR:
        return d_is_place_call(key) && d_type_same(d_place_type(d, key), type);
    default:
        return !d_is_place_call(key) && d_compatible(key, type);
    }
}

static void check_same_keys(struct d_session *d, const struct d_node *agg,
                            const struct d_aggregation_info *info)
{
    unsigned i = 0;

    if (d_list_length(agg->args) != info->nkeys) {
        d_fail(d, agg->place, "D_PROTO_LEN", "@%s[ ] %s", agg->text,
               d_mismatch_text(d, d_list_length(agg->args), "key", info->nkeys, info->nkeys));
    }
    for (const struct d_node *key = agg->args; key; key = key->next, i++) {
        if (!fits_key(d, key, info->keys[i])) {
            d_fail(d, key->place, "D_PROTO_ARG",
                   "@%s[ ] key #%u is incompatible with prototype:\n"
                   "\tprototype: %s\n\t      key: %s",
                   agg->text, i + 1, d_type_full_text(d, info->keys[i]), d_value_text(d, key));
        }
    }
}

static struct d_aggregation_info *info_for(struct d_session *d, struct d_node *agg,
                                           const struct d_node *call, uint64_t shape)
{
    struct d_ident *ident = d_ident_lookup(d_session_agg_idents(d), agg->text);

    if (!ident) {
        ident = d_ident_add(d, d_session_agg_idents(d), agg->text, D_IDENT_AGG);
    }
    agg->ident = ident;
    if (!ident->aggregation) {
        return first_use(d, ident, agg, call->ident->number, shape);
    }
    struct d_aggregation_info *info = ident->aggregation;
    if (info->function != call->ident->number) {
        d_fail(d, call->place, "D_AGG_REDEF",
               "aggregation redefined:\n\t current: @%s = %s( )\n\tprevious: @%s = %s( )",
               agg->text, call->text, agg->text, d_agg_name(info->function));
    }
    check_same_keys(d, agg, info);
    d_agg_match_shape(d, call, info->shape, shape);
    return info;
}

/* A key is recorded in the type that the first use gave it. */
static void key_action(struct d_session *d, struct d_clause *c, struct d_node *key,
                       const struct d_type *type)
{
    if (d_action_place(d, c, key, 0)) {
        return;
    }
    struct d_node *value = d_copy(d, key, NULL, NULL);
    if (d_type_is_integer(type) && !d_type_same(type, key->type)) {
        value = d_node_cast(d, value, type);
        d_check_expression(d, value);
    }
    d_action_datum(d, c, value, 0);
}

static void check_order(struct d_session *d, const struct d_clause *c, const struct d_node *agg)
{
    if (c->speculates) {
        d_fail(d, agg->place, "D_AGG_SPEC", "aggregating actions may not follow speculate( )");
    }
    if (c->commits) {
        d_fail(d, agg->place, "D_AGG_COMM", "aggregating actions may not follow commit( )");
    }
}

void d_aggregate(struct d_session *d, struct d_clause *c, struct d_node *agg, struct d_node *call)
{
    unsigned i = 0;

    for (struct d_node *key = agg->args; key; key = key->next) {
        check_key(d, key, ++i);
    }
    i = 0;
    check_function(d, call);
    check_order(d, c, agg);
    uint64_t shape = d_agg_shape(d, call);
    struct d_node *weight = weight_of(d, call);
    struct d_aggregation_info *info = info_for(d, agg, call, shape);
    for (struct d_node *key = agg->args; key; key = key->next) {
        key_action(d, c, key, info->keys[i++]);
    }
    uint32_t value = call->args ? d_object_make(d, c->program, call->args, false) : 0;
    uint32_t by = weight ? d_object_make(d, c->program, weight, false) : 0;
    struct d_image_action *a = d_action_add(d, c, (uint16_t)call->ident->number);
    a->nkeys = (uint16_t)info->nkeys;
    a->object = value;
    a->weight = by;
    a->arg = shape;
    a->uarg = agg->ident->number;
}
