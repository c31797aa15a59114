/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `@name[keys] = function(value …)`: the first one fixes the function, the keys' types and a
 * distribution's shape for the rest of the program.
 */
#include "host/d/back.h"

#include "trace/d/aggregate.h"

#include <string.h>

struct d_ident *d_agg_lookup(struct d_session *d, const struct d_node *n)
{
    struct d_ident *ident = d_ident_lookup(d_session_agg_idents(d), n->text);

    if (!ident || !ident->aggregation) {
        d_fail(d, n->place, "D_IDENT_UNDEF", "aggregation @%s is never assigned", n->text);
    }
    return ident;
}

static _Noreturn void fail(struct d_session *d, const struct d_node *call, const char *tag,
                           const char *what)
{
    d_fail(d, call->place, tag, "%s(): %s", call->text, what);
}

/* ---- the shapes of distributions ---------------------------------------------------------------
 */

static int64_t constant(struct d_session *d, const struct d_node *call, const struct d_node *arg,
                        const char *tag)
{
    bool is_step = strcmp(tag, "D_LQUANT_STEPTYPE") == 0;

    if (d_type_is_string_like(arg->type) && !is_step) {
        fail(d, call, "D_PROTO_ARG", "integer constants are wanted");
    }
    if (arg->kind != D_NODE_INT) {
        fail(d, call, tag, "an integer constant is wanted");
    }
    return (int64_t)arg->value;
}

static uint64_t lquantize_shape(struct d_session *d, const struct d_node *call)
{
    const struct d_node *base_arg = call->args->next, *limit_arg = base_arg->next;
    const struct d_node *step_arg = limit_arg->next;
    int64_t base = constant(d, call, base_arg, "D_LQUANT_BASETYPE");
    int64_t limit = constant(d, call, limit_arg, "D_LQUANT_LIMTYPE"), step = 1;

    if (base < INT32_MIN || base > INT32_MAX) {
        fail(d, call, "D_LQUANT_BASEVAL", "the base must fit 32 bits");
    }
    if (limit < INT32_MIN || limit > INT32_MAX) {
        fail(d, call, "D_LQUANT_LIMVAL", "the limit must fit 32 bits");
    }
    if (base >= limit) {
        fail(d, call, "D_LQUANT_MISMATCH", "the base must be below the limit");
    }
    if (step_arg) {
        step = constant(d, call, step_arg, "D_LQUANT_STEPTYPE");
        if (step <= 0) {
            fail(d, call, "D_LQUANT_STEPTYPE", "the step must be positive");
        }
        if (step > UINT16_MAX) {
            fail(d, call, "D_LQUANT_STEPVAL", "the step must fit 16 bits");
        }
    }
    int64_t levels = (limit - base) / step;
    if (levels == 0) {
        fail(d, call, "D_LQUANT_STEPLARGE", "the step leaves no level");
    }
    if (levels > UINT16_MAX) {
        fail(d, call, "D_LQUANT_STEPSMALL", "the step makes more than 65535 levels");
    }
    return D_LQUANTIZE_ARG(step, levels, base);
}

static const struct llquantize_argument {
    const char *type, *value, *match;
} llquantize_arguments[] = {
    {"D_LLQUANT_FACTORTYPE", "D_LLQUANT_FACTORVAL", "D_LLQUANT_FACTORMATCH"},
    {"D_LLQUANT_LOWTYPE", "D_LLQUANT_LOWVAL", "D_LLQUANT_LOWMATCH"},
    {"D_LLQUANT_HIGHTYPE", "D_LLQUANT_HIGHVAL", "D_LLQUANT_HIGHMATCH"},
    {"D_LLQUANT_NSTEPTYPE", "D_LLQUANT_NSTEPVAL", "D_LLQUANT_NSTEPMATCH"},
};

static bool power_fits(uint64_t factor, uint64_t exponent)
{
    uint64_t value = 1;

    for (uint64_t i = 0; i < exponent; i++) {
        if (value > UINT64_MAX / factor) {
            return false;
        }
        value *= factor;
    }
    return true;
}

static void llquantize_check(struct d_session *d, const struct d_node *call, const int64_t v[4])
{
    int64_t factor = v[0], low = v[1], high = v[2], nsteps = v[3], power = factor;

    if (factor < 2) {
        fail(d, call, "D_LLQUANT_FACTORSMALL", "the factor must be 2 or more");
    }
    if (high <= low) {
        fail(d, call, "D_LLQUANT_MAGRANGE", "the high magnitude must be above the low one");
    }
    if (nsteps < factor) {
        fail(d, call, "D_LLQUANT_FACTORNSTEPS", "there must be at least factor steps");
    }
    while (power < nsteps) {
        power *= factor;
    }
    if (nsteps % factor != 0 || power % nsteps != 0) {
        fail(d, call, "D_LLQUANT_FACTOREVEN", "the factor must divide the steps evenly");
    }
    if (!power_fits((uint64_t)factor, (uint64_t)high + 1)) {
        fail(d, call, "D_LLQUANT_MAGTOOBIG", "the high magnitude is beyond 64 bits");
    }
}

static uint64_t llquantize_shape(struct d_session *d, const struct d_node *call)
{
    const struct d_node *arg = call->args->next;
    int64_t v[4];

    for (unsigned i = 0; i < 4; i++, arg = arg->next) {
        v[i] = constant(d, call, arg, llquantize_arguments[i].type);
        if (v[i] < 0 || v[i] > UINT16_MAX) {
            fail(d, call, llquantize_arguments[i].value, "must lie in 0 to 65535");
        }
    }
    llquantize_check(d, call, v);
    return D_LLQUANTIZE_ARG(v[0], v[1], v[2], v[3]);
}

static void match_lquantize(struct d_session *d, const struct d_node *call, uint64_t a, uint64_t b)
{
    int64_t limit_a = D_LQUANTIZE_BASE(a) + (int64_t)D_LQUANTIZE_STEP(a) * D_LQUANTIZE_LEVELS(a);
    int64_t limit_b = D_LQUANTIZE_BASE(b) + (int64_t)D_LQUANTIZE_STEP(b) * D_LQUANTIZE_LEVELS(b);

    if (D_LQUANTIZE_BASE(a) != D_LQUANTIZE_BASE(b)) {
        fail(d, call, "D_LQUANT_MATCHBASE", "the base differs from the first use's");
    }
    if (limit_a != limit_b) {
        fail(d, call, "D_LQUANT_MATCHLIM", "the limit differs from the first use's");
    }
    if (a != b) {
        fail(d, call, "D_LQUANT_MATCHSTEP", "the step differs from the first use's");
    }
}

static void match_llquantize(struct d_session *d, const struct d_node *call, uint64_t a, uint64_t b)
{
    static const unsigned shifts[] = {48, 32, 16, 0};

    for (unsigned i = 0; i < 4; i++) {
        if ((uint16_t)(a >> shifts[i]) != (uint16_t)(b >> shifts[i])) {
            fail(d, call, llquantize_arguments[i].match, "differs from the first use");
        }
    }
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
        fail(d, call, "D_PROTO_LEN", "wrong number of arguments");
    }
    for (struct d_node *arg = call->args; arg; arg = arg->next) {
        d_check_expression(d, arg);
    }
    if (call->args && !d_type_is_scalar(call->args->type)) {
        fail(d, call, "D_AGG_SCALAR", "the value must be a number or a pointer");
    }
}

static uint64_t shape_of(struct d_session *d, const struct d_node *call)
{
    switch (call->ident->number) {
    case D_AGG_LQUANTIZE:
        return lquantize_shape(d, call);
    case D_AGG_LLQUANTIZE:
        return llquantize_shape(d, call);
    default:
        return 0;
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
        fail(d, call, "D_PROTO_ARG", "the weight must be a number");
    }
    return arg;
}

/* ---- keys --------------------------------------------------------------------------------------
 */

static void check_key(struct d_session *d, struct d_node *key)
{
    switch (d_type_resolve(d_check_expression(d, key))->kind) {
    case D_TYPE_VOID:
    case D_TYPE_FUNCTION:
        d_fail(d, key->place, "D_KEY_TYPE", "a key can't be of this type");
    case D_TYPE_DYNAMIC:
        if (!d_is_place_call(key)) {
            d_fail(d, key->place, "D_KEY_TYPE", "an aggregation or action can't be a key");
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
    return key->type;
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
        d_fail(d, agg->place, "D_PROTO_LEN", "@%s has %u keys", agg->text, info->nkeys);
    }
    for (const struct d_node *key = agg->args; key; key = key->next, i++) {
        if (!fits_key(d, key, info->keys[i])) {
            d_fail(d, key->place, "D_PROTO_ARG", "key %u of @%s must be %s", i + 1, agg->text,
                   d_type_text(d, info->keys[i], NULL));
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
        fail(d, call, "D_AGG_REDEF", "the aggregation has another function already");
    }
    check_same_keys(d, agg, info);
    if (info->function == D_AGG_LQUANTIZE) {
        match_lquantize(d, call, info->shape, shape);
    } else if (info->function == D_AGG_LLQUANTIZE) {
        match_llquantize(d, call, info->shape, shape);
    }
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
        d_fail(d, agg->place, "D_AGG_SPEC", "an aggregation may not follow speculate()");
    }
    if (c->commits) {
        d_fail(d, agg->place, "D_AGG_COMM", "an aggregation may not follow commit()");
    }
}

void d_aggregate(struct d_session *d, struct d_clause *c, struct d_node *agg, struct d_node *call)
{
    unsigned i = 0;

    for (struct d_node *key = agg->args; key; key = key->next) {
        check_key(d, key);
    }
    check_function(d, call);
    check_order(d, c, agg);
    uint64_t shape = shape_of(d, call);
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
