/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `@name[keys] = function(value …)`: the first one fixes the function, the keys' types and a
 * distribution's shape for the rest of the program. The shapes of lquantize() and llquantize() are
 * constants, which every use of an aggregation repeats.
 */
#include "host/dt/check/check.h"
#include "host/dt/check/suggest.h"
#include "host/dt/clause/clause.h"
#include "host/dt/code/object.h"
#include "trace/dtrace/action.h"

#include <string.h>

static _Noreturn void agg_fail(struct dt_session *d, const struct dt_node *call, const char *tag,
                               const char *what)
{
    dt_fail(d, call->location, tag, "%s( ) %s", call->text, what);
}

/* ---- the shape of a distribution ---------------------------------------------------- */

static int64_t aggregation_constant_argument(struct dt_session *d, const struct dt_node *call,
                                             const struct dt_node *arg, const char *tag)
{
    bool is_step = strcmp(tag, "D_LQUANT_STEPTYPE") == 0;

    if (arg->kind != DT_NODE_INT) {
        bool is_string = dt_type_is_string_like(arg->type) && !is_step;
        unsigned number = dt_list_length(call->args->next) - dt_list_length(arg) + 1;

        agg_fail(
            d, call, is_string ? "D_PROTO_ARG" : tag,
            dt_sprintf(d, "argument #%u must be %s", number,
                       is_step ? "a non-zero positive integer constant" : "an integer constant"));
    }
    return (int64_t)arg->value;
}

static uint64_t lquantize_shape(struct dt_session *d, const struct dt_node *call)
{
    const struct dt_node *base_arg = call->args->next, *limit_arg = base_arg->next;
    const struct dt_node *step_arg = limit_arg->next;
    int64_t base = aggregation_constant_argument(d, call, base_arg, "D_LQUANT_BASETYPE");
    int64_t limit = aggregation_constant_argument(d, call, limit_arg, "D_LQUANT_LIMTYPE"), step = 1;

    if (base < INT32_MIN || base > INT32_MAX) {
        agg_fail(d, call, "D_LQUANT_BASEVAL", "argument #1 must be a 32-bit quantity");
    }
    if (limit < INT32_MIN || limit > INT32_MAX) {
        agg_fail(d, call, "D_LQUANT_LIMVAL", "argument #2 must be a 32-bit quantity");
    }
    if (base >= limit) {
        agg_fail(d, call, "D_LQUANT_MISMATCH",
                 "base (argument #1) must be less than limit (argument #2)");
    }
    if (step_arg) {
        step = aggregation_constant_argument(d, call, step_arg, "D_LQUANT_STEPTYPE");
        if (step <= 0) {
            agg_fail(d, call, "D_LQUANT_STEPTYPE",
                     "argument #3 must be a non-zero positive integer constant");
        }
        if (step > UINT16_MAX) {
            agg_fail(d, call, "D_LQUANT_STEPVAL", "argument #3 must be a 16-bit quantity");
        }
    }
    int64_t levels = (limit - base) / step;
    if (levels == 0) {
        agg_fail(d, call, "D_LQUANT_STEPLARGE",
                 "step (argument #3) too large: must have at least one quantization level");
    }
    if (levels > UINT16_MAX) {
        agg_fail(d, call, "D_LQUANT_STEPSMALL",
                 "step (argument #3) too small: number of quantization levels must be a 16-bit "
                 "quantity");
    }
    return DTRACE_LQUANTIZE_ARG(step, levels, base);
}

static const struct llquantize_argument {
    const char *type, *value, *match;
} llquantize_arguments[] = {
    {"D_LLQUANT_FACTORTYPE", "D_LLQUANT_FACTORVAL", "D_LLQUANT_FACTORMATCH"},
    {"D_LLQUANT_LOWTYPE", "D_LLQUANT_LOWVAL", "D_LLQUANT_LOWMATCH"},
    {"D_LLQUANT_HIGHTYPE", "D_LLQUANT_HIGHVAL", "D_LLQUANT_HIGHMATCH"},
    {"D_LLQUANT_NSTEPTYPE", "D_LLQUANT_NSTEPVAL", "D_LLQUANT_NSTEPMATCH"},
};

static uint64_t llquantize_shape(struct dt_session *d, const struct dt_node *call)
{
    const struct dt_node *arg = call->args->next;
    int64_t v[4];

    for (unsigned i = 0; i < 4; i++, arg = arg->next) {
        v[i] = aggregation_constant_argument(d, call, arg, llquantize_arguments[i].type);
        if (v[i] < 0 || v[i] > UINT16_MAX) {
            agg_fail(d, call, llquantize_arguments[i].value,
                     dt_sprintf(d, "argument #%u must be an unsigned 16-bit quantity", i + 1));
        }
    }
    int64_t factor = v[0], low = v[1], high = v[2], nsteps = v[3], power = factor;

    if (factor < 2) {
        agg_fail(d, call, "D_LLQUANT_FACTORSMALL", "factor (argument #1) must be two or more");
    }
    if (high <= low) {
        agg_fail(d, call, "D_LLQUANT_MAGRANGE",
                 "high magnitude (argument #3) must be greater than low magnitude (argument #2)");
    }
    if (nsteps < factor) {
        agg_fail(d, call, "D_LLQUANT_FACTORNSTEPS",
                 "number of steps (argument #4) must be at least the factor (argument #1)");
    }
    while (power < nsteps) {
        power *= factor;
    }
    if (nsteps % factor != 0 || power % nsteps != 0) {
        agg_fail(d, call, "D_LLQUANT_FACTOREVEN",
                 "factor (argument #1) must divide the number of steps (argument #4) evenly");
    }
    uint64_t most = 1;
    for (int64_t i = 0; i <= high; i++) {
        if (__builtin_mul_overflow(most, (uint64_t)factor, &most)) {
            agg_fail(d, call, "D_LLQUANT_MAGTOOBIG",
                     "factor (argument #1) raised to the power of high magnitude (argument #3) "
                     "overflows 64 bits");
        }
    }
    return DTRACE_LLQUANTIZE_ARG(v[0], v[1], v[2], v[3]);
}

/* Fails if the shape isn't the first use's. */
static void agg_match_shape(struct dt_session *d, const struct dt_node *call, uint64_t first,
                            uint64_t shape)
{
    if (call->ident->number == DTRACE_AGG_LQUANTIZE) {
        int64_t limit_a = DTRACE_LQUANTIZE_BASE(first) +
                          (int64_t)DTRACE_LQUANTIZE_STEP(first) * DTRACE_LQUANTIZE_LEVELS(first);
        int64_t limit_b = DTRACE_LQUANTIZE_BASE(shape) +
                          (int64_t)DTRACE_LQUANTIZE_STEP(shape) * DTRACE_LQUANTIZE_LEVELS(shape);

        if (DTRACE_LQUANTIZE_BASE(first) != DTRACE_LQUANTIZE_BASE(shape)) {
            agg_fail(d, call, "D_LQUANT_MATCHBASE",
                     "base (argument #1) doesn't match previous declaration");
        }
        if (limit_a != limit_b) {
            agg_fail(d, call, "D_LQUANT_MATCHLIM",
                     "limit (argument #2) doesn't match previous declaration");
        }
        if (first != shape) {
            agg_fail(d, call, "D_LQUANT_MATCHSTEP",
                     "step (argument #3) doesn't match previous declaration");
        }
    } else if (call->ident->number == DTRACE_AGG_LLQUANTIZE) {
        static const unsigned shifts[] = {48, 32, 16, 0};

        for (unsigned i = 0; i < 4; i++) {
            if ((uint16_t)(first >> shifts[i]) != (uint16_t)(shape >> shifts[i])) {
                agg_fail(d, call, llquantize_arguments[i].match,
                         dt_sprintf(d, "argument #%u doesn't match previous declaration", i + 1));
            }
        }
    }
}

/* ---- the call ---------------------------------------------------------------------- */

static void check_function(struct dt_session *d, struct dt_node *call)
{
    static const struct {
        uint8_t least, most;
    } counts[] = {{0, 0}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 2}, {3, 5}, {5, 6}};
    unsigned n = dt_list_length(call->args), f = call->ident->number - DTRACE_AGG_COUNT;

    if (n < counts[f].least || n > counts[f].most) {
        agg_fail(d, call, "D_PROTO_LEN",
                 dt_mismatch_text(d, n, "arg", counts[f].least, counts[f].most));
    }
    for (struct dt_node *arg = call->args; arg; arg = arg->next) {
        dt_check_expression(d, arg);
    }
    if (call->args && !dt_type_is_scalar(call->args->type)) {
        agg_fail(d, call, "D_AGG_SCALAR", "argument #1 must be of scalar type");
    }
}

/* Returns the argument that is the weight of a value; NULL: there is none, it is 1. */
static struct dt_node *weight_of(struct dt_session *d, struct dt_node *call)
{
    unsigned at = call->ident->number == DTRACE_AGG_QUANTIZE     ? 1
                  : call->ident->number == DTRACE_AGG_LQUANTIZE  ? 4
                  : call->ident->number == DTRACE_AGG_LLQUANTIZE ? 5
                                                                 : 100;
    struct dt_node *arg = call->args;

    for (unsigned i = 0; arg && i < at; i++) {
        arg = arg->next;
    }
    if (arg && !dt_type_is_scalar(arg->type)) {
        agg_fail(d, call, "D_PROTO_ARG", "increment value must be of scalar type");
    }
    return arg;
}

/* ---- keys -------------------------------------------------------------------------- */

static void check_key(struct dt_session *d, struct dt_node *key, unsigned number)
{
    switch (dt_type_resolve(dt_check_expression(d, key))->kind) {
    case DT_TYPE_VOID:
    case DT_TYPE_FUNCTION:
        dt_fail(d, key->location, "D_KEY_TYPE",
                "%s expression may not be used as aggregation index: key #%u",
                dt_value_text(d, key), number);
    case DT_TYPE_DYNAMIC:
        if (!dt_is_location_call(key)) {
            dt_fail(d, key->location, "D_KEY_TYPE",
                    "dynamic expression may not be used as aggregation index: key #%u", number);
        }
        break;
    default:
        break;
    }
}

static struct dt_aggregation_info *first_use(struct dt_session *d, struct dt_ident *ident,
                                             const struct dt_node *agg, uint32_t function,
                                             uint64_t shape)
{
    struct dt_aggregation_info *info = dt_alloc(d, sizeof(*info));
    unsigned n = dt_list_length(agg->args), i = 0;
    const struct dt_type **keys = dt_alloc(d, (n + 1) * sizeof(*keys));

    for (const struct dt_node *key = agg->args; key; key = key->next) {
        keys[i++] = dt_is_location_call(key)          ? dt_location_type(d, key)
                    : dt_type_is_bit_field(key->type) ? dt_promote(d, key->type)
                                                      : dt_recorded_type(d, key);
    }
    *info = (struct dt_aggregation_info){agg->text, function, shape, keys, n};
    *(struct dt_aggregation_info **)dt_list_add(d, &d->programs->aggregations, sizeof(info)) = info;
    ident->number = d->programs->aggregations.n;
    ident->aggregation = info;
    return info;
}

static void check_same_keys(struct dt_session *d, const struct dt_node *agg,
                            const struct dt_aggregation_info *info)
{
    unsigned i = 0;

    if (dt_list_length(agg->args) != info->nkeys) {
        dt_fail(d, agg->location, "D_PROTO_LEN", "@%s[ ] %s", agg->text,
                dt_mismatch_text(d, dt_list_length(agg->args), "key", info->nkeys, info->nkeys));
    }
    for (const struct dt_node *key = agg->args; key; key = key->next, i++) {
        enum dt_type_kind kind = dt_type_resolve(info->keys[i])->kind;
        bool location =
            kind == DT_TYPE_STACK || kind == DT_TYPE_SYMADDR || kind == DT_TYPE_USYMADDR;
        bool fits = location ? dt_is_location_call(key) &&
                                   dt_type_same(dt_location_type(d, key), info->keys[i])
                             : !dt_is_location_call(key) && dt_compatible(key, info->keys[i]);
        if (!fits) {
            dt_fail(d, key->location, "D_PROTO_ARG",
                    "@%s[ ] key #%u is incompatible with prototype:\n"
                    "\tprototype: %s\n\t      key: %s",
                    agg->text, i + 1, dt_type_full_text(d, info->keys[i]), dt_value_text(d, key));
        }
    }
}

static struct dt_aggregation_info *info_for(struct dt_session *d, struct dt_node *agg,
                                            const struct dt_node *call, uint64_t shape)
{
    struct dt_ident *ident = dt_ident_lookup(d->aggregations, agg->text);

    if (!ident) {
        ident = dt_ident_add(d, d->aggregations, agg->text, DT_IDENT_AGG);
    }
    agg->ident = ident;
    if (!ident->aggregation) {
        return first_use(d, ident, agg, call->ident->number, shape);
    }
    struct dt_aggregation_info *info = ident->aggregation;
    if (info->function != call->ident->number) {
        dt_fail(d, call->location, "D_AGG_REDEF",
                "aggregation redefined:\n\t current: @%s = %s( )\n\tprevious: @%s = %s( )",
                agg->text, call->text, agg->text, dt_agg_name(info->function));
    }
    check_same_keys(d, agg, info);
    agg_match_shape(d, call, info->shape, shape);
    return info;
}

void dt_aggregate(struct dt_session *d, struct dt_clause *c, struct dt_node *agg,
                  struct dt_node *call)
{
    unsigned i = 0;

    for (struct dt_node *key = agg->args; key; key = key->next) {
        check_key(d, key, ++i);
    }
    i = 0;
    check_function(d, call);
    if (c->speculates) {
        dt_fail(d, agg->location, "D_AGG_SPEC", "aggregating actions may not follow speculate( )");
    }
    if (c->commits) {
        dt_fail(d, agg->location, "D_AGG_COMM", "aggregating actions may not follow commit( )");
    }
    uint64_t shape = call->ident->number == DTRACE_AGG_LQUANTIZE    ? lquantize_shape(d, call)
                     : call->ident->number == DTRACE_AGG_LLQUANTIZE ? llquantize_shape(d, call)
                                                                    : 0;
    struct dt_node *weight = weight_of(d, call);
    struct dt_aggregation_info *info = info_for(d, agg, call, shape);
    for (struct dt_node *key = agg->args; key; key = key->next) {
        const struct dt_type *type = info->keys[i++]; /* that the first use gave it */
        if (dt_action_location(d, c, key, 0)) {
            continue;
        }
        struct dt_node *value = dt_copy(d, key, NULL, NULL);
        if (dt_type_is_integer(type) && !dt_type_same(type, key->type)) {
            value = dt_node_cast(d, value, type);
            dt_check_expression(d, value);
        }
        dt_action_datum(d, c, value, 0);
    }
    uint32_t value = call->args ? dt_object_make(d, c->program, call->args, false) : 0;
    uint32_t by = weight ? dt_object_make(d, c->program, weight, false) : 0;
    struct dtrace_image_action *a = dt_action_add(d, c, (uint16_t)call->ident->number);
    a->nkeys = (uint16_t)info->nkeys;
    a->object = value;
    a->weight = by;
    a->arg = shape;
    a->uarg = agg->ident->number;
}
