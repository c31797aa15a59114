/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shapes of lquantize() and llquantize(): constants, which every use of an aggregation repeats.
 */
#include "host/dt/clause/clause.h"

#include "trace/dtrace/aggregate.h"

#include <string.h>

static int64_t constant(struct dt_session *d, const struct dt_node *call, const struct dt_node *arg,
                        const char *tag)
{
    bool is_step = strcmp(tag, "D_LQUANT_STEPTYPE") == 0;

    if (arg->kind != DT_NODE_INT) {
        bool is_string = dt_type_is_string_like(arg->type) && !is_step;
        unsigned number = dt_list_length(call->args->next) - dt_list_length(arg) + 1;

        dt_agg_fail(
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
    int64_t base = constant(d, call, base_arg, "D_LQUANT_BASETYPE");
    int64_t limit = constant(d, call, limit_arg, "D_LQUANT_LIMTYPE"), step = 1;

    if (base < INT32_MIN || base > INT32_MAX) {
        dt_agg_fail(d, call, "D_LQUANT_BASEVAL", "argument #1 must be a 32-bit quantity");
    }
    if (limit < INT32_MIN || limit > INT32_MAX) {
        dt_agg_fail(d, call, "D_LQUANT_LIMVAL", "argument #2 must be a 32-bit quantity");
    }
    if (base >= limit) {
        dt_agg_fail(d, call, "D_LQUANT_MISMATCH",
                    "base (argument #1) must be less than limit (argument #2)");
    }
    if (step_arg) {
        step = constant(d, call, step_arg, "D_LQUANT_STEPTYPE");
        if (step <= 0) {
            dt_agg_fail(d, call, "D_LQUANT_STEPTYPE",
                        "argument #3 must be a non-zero positive integer constant");
        }
        if (step > UINT16_MAX) {
            dt_agg_fail(d, call, "D_LQUANT_STEPVAL", "argument #3 must be a 16-bit quantity");
        }
    }
    int64_t levels = (limit - base) / step;
    if (levels == 0) {
        dt_agg_fail(d, call, "D_LQUANT_STEPLARGE",
                    "step (argument #3) too large: must have at least one quantization level");
    }
    if (levels > UINT16_MAX) {
        dt_agg_fail(d, call, "D_LQUANT_STEPSMALL",
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

static void llquantize_check(struct dt_session *d, const struct dt_node *call, const int64_t v[4])
{
    int64_t factor = v[0], low = v[1], high = v[2], nsteps = v[3], power = factor;

    if (factor < 2) {
        dt_agg_fail(d, call, "D_LLQUANT_FACTORSMALL", "factor (argument #1) must be two or more");
    }
    if (high <= low) {
        dt_agg_fail(
            d, call, "D_LLQUANT_MAGRANGE",
            "high magnitude (argument #3) must be greater than low magnitude (argument #2)");
    }
    if (nsteps < factor) {
        dt_agg_fail(d, call, "D_LLQUANT_FACTORNSTEPS",
                    "number of steps (argument #4) must be at least the factor (argument #1)");
    }
    while (power < nsteps) {
        power *= factor;
    }
    if (nsteps % factor != 0 || power % nsteps != 0) {
        dt_agg_fail(d, call, "D_LLQUANT_FACTOREVEN",
                    "factor (argument #1) must divide the number of steps (argument #4) evenly");
    }
    uint64_t most = 1;
    for (int64_t i = 0; i <= high; i++) {
        if (__builtin_mul_overflow(most, (uint64_t)factor, &most)) {
            dt_agg_fail(d, call, "D_LLQUANT_MAGTOOBIG",
                        "factor (argument #1) raised to the power of high magnitude (argument #3) "
                        "overflows 64 bits");
        }
    }
}

static uint64_t llquantize_shape(struct dt_session *d, const struct dt_node *call)
{
    const struct dt_node *arg = call->args->next;
    int64_t v[4];

    for (unsigned i = 0; i < 4; i++, arg = arg->next) {
        v[i] = constant(d, call, arg, llquantize_arguments[i].type);
        if (v[i] < 0 || v[i] > UINT16_MAX) {
            dt_agg_fail(d, call, llquantize_arguments[i].value,
                        dt_sprintf(d, "argument #%u must be an unsigned 16-bit quantity", i + 1));
        }
    }
    llquantize_check(d, call, v);
    return DTRACE_LLQUANTIZE_ARG(v[0], v[1], v[2], v[3]);
}

uint64_t dt_agg_shape(struct dt_session *d, const struct dt_node *call)
{
    switch (call->ident->number) {
    case DTRACE_AGG_LQUANTIZE:
        return lquantize_shape(d, call);
    case DTRACE_AGG_LLQUANTIZE:
        return llquantize_shape(d, call);
    default:
        return 0;
    }
}

void dt_agg_match_shape(struct dt_session *d, const struct dt_node *call, uint64_t first,
                        uint64_t shape)
{
    if (call->ident->number == DTRACE_AGG_LQUANTIZE) {
        int64_t limit_a = DTRACE_LQUANTIZE_BASE(first) +
                          (int64_t)DTRACE_LQUANTIZE_STEP(first) * DTRACE_LQUANTIZE_LEVELS(first);
        int64_t limit_b = DTRACE_LQUANTIZE_BASE(shape) +
                          (int64_t)DTRACE_LQUANTIZE_STEP(shape) * DTRACE_LQUANTIZE_LEVELS(shape);

        if (DTRACE_LQUANTIZE_BASE(first) != DTRACE_LQUANTIZE_BASE(shape)) {
            dt_agg_fail(d, call, "D_LQUANT_MATCHBASE",
                        "base (argument #1) doesn't match previous declaration");
        }
        if (limit_a != limit_b) {
            dt_agg_fail(d, call, "D_LQUANT_MATCHLIM",
                        "limit (argument #2) doesn't match previous declaration");
        }
        if (first != shape) {
            dt_agg_fail(d, call, "D_LQUANT_MATCHSTEP",
                        "step (argument #3) doesn't match previous declaration");
        }
    } else if (call->ident->number == DTRACE_AGG_LLQUANTIZE) {
        static const unsigned shifts[] = {48, 32, 16, 0};

        for (unsigned i = 0; i < 4; i++) {
            if ((uint16_t)(first >> shifts[i]) != (uint16_t)(shape >> shifts[i])) {
                dt_agg_fail(
                    d, call, llquantize_arguments[i].match,
                    dt_sprintf(d, "argument #%u doesn't match previous declaration", i + 1));
            }
        }
    }
}
