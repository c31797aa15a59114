/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules for a clause's actions: every kind is known and has the objects it needs, aggregating
 * functions have a possible shape and their keys before them; destructive ones occur only in a
 * destructive program. Also the size that an action records. Control context. Tested by
 * test/d_machine/image_test.c.
 */
#include "trace/dtrace/image_check.h"

/* An action's requirement for its object. */
enum need { UNKNOWN, NOTHING, MAYBE, ANY, VALUE };

static enum need action_needs(uint16_t kind)
{
    enum { N = NOTHING, M = MAYBE, A = ANY, V = VALUE, ROW = 10 };
    static const uint8_t needs[8 * ROW] = {
        [DTRACE_ACT_NONE] = N,         [DTRACE_ACT_DIFEXPR] = A,
        [DTRACE_ACT_EXIT] = V,         [DTRACE_ACT_PRINTF] = M,
        [DTRACE_ACT_PRINTA] = M,       [DTRACE_ACT_LIBACT] = M,
        [DTRACE_ACT_TRACEMEM] = V,     [DTRACE_ACT_TRACEMEM_DYNSIZE] = V,
        [DTRACE_ACT_PRINTM] = V,
#define AT(kind) [((kind) >> 8) * ROW + ((kind)&0xff)]
        AT(DTRACE_ACT_USTACK) = N,     AT(DTRACE_ACT_JSTACK) = N,
        AT(DTRACE_ACT_USYM) = V,       AT(DTRACE_ACT_UMOD) = V,
        AT(DTRACE_ACT_UADDR) = V,      AT(DTRACE_ACT_STOP) = N,
        AT(DTRACE_ACT_RAISE) = V,      AT(DTRACE_ACT_SYSTEM) = M,
        AT(DTRACE_ACT_FREOPEN) = M,    AT(DTRACE_ACT_STACK) = N,
        AT(DTRACE_ACT_SYM) = V,        AT(DTRACE_ACT_MOD) = V,
        AT(DTRACE_ACT_BREAKPOINT) = N, AT(DTRACE_ACT_PANIC) = N,
        AT(DTRACE_ACT_CHILL) = V,      AT(DTRACE_ACT_SPECULATE) = V,
        AT(DTRACE_ACT_COMMIT) = V,     AT(DTRACE_ACT_DISCARD) = V,
        AT(DTRACE_ACT_LOGSTOP) = N,    AT(DTRACE_AGG_COUNT) = N,
        AT(DTRACE_AGG_MIN) = V,        AT(DTRACE_AGG_MAX) = V,
        AT(DTRACE_AGG_AVG) = V,        AT(DTRACE_AGG_SUM) = V,
        AT(DTRACE_AGG_STDDEV) = V,     AT(DTRACE_AGG_QUANTIZE) = V,
        AT(DTRACE_AGG_LQUANTIZE) = V,  AT(DTRACE_AGG_LLQUANTIZE) = V,
#undef AT
    };
    uint32_t group = kind >> 8, n = kind & 0xff;

    return group < 8 && n < ROW ? (enum need)needs[group * ROW + n] : UNKNOWN;
}

bool dtrace_image_value_object(const struct dtrace_image *image, uint32_t object, bool required)
{
    if (object == 0) {
        return !required;
    }
    return object <= image->objects.count &&
           !DTRACE_IMAGE_TABLE(image, objects, struct dtrace_image_object)[object - 1].result.ref;
}

static bool object_fits(const struct dtrace_image *image, uint32_t object, enum need need)
{
    switch (need) {
    case NOTHING:
        return object == 0;
    case MAYBE:
        return object <= image->objects.count;
    case ANY:
        return object > 0 && object <= image->objects.count;
    default:
        return dtrace_image_value_object(image, object, true);
    }
}

/* Key data: actions that put exactly their value into an entry. */
static bool image_action_is_key(uint16_t kind)
{
    return kind == DTRACE_ACT_DIFEXPR || kind == DTRACE_ACT_STACK || kind == DTRACE_ACT_SYM ||
           kind == DTRACE_ACT_MOD || (DTRACE_ACT_USTACK <= kind && kind <= DTRACE_ACT_UADDR);
}

static bool keys_fit(const struct dtrace_image_action *all, uint32_t n, uint32_t nkeys)
{
    if (nkeys > n) {
        return false;
    }
    for (uint32_t i = 1; i <= nkeys; i++) {
        if (!image_action_is_key(all[n - i].kind)) {
            return false;
        }
    }
    return true;
}

/* Returns whether base^exponent fits in 64 bits. At most 64 steps. */
static bool power_fits(uint32_t base, unsigned exponent)
{
    uint64_t low = 1, high = 0; /* its words of 32 bits; the base has 16 */

    while (exponent-- > 0 && high >> 32 == 0) {
        low *= base;
        high = high * base + (low >> 32);
        low &= UINT32_MAX;
    }
    return high >> 32 == 0;
}

static bool shape_fits(uint16_t kind, uint64_t shape)
{
    uint32_t factor = DTRACE_LLQUANTIZE_FACTOR(shape), nsteps = DTRACE_LLQUANTIZE_NSTEPS(shape);
    uint32_t low = DTRACE_LLQUANTIZE_LOW(shape), high = DTRACE_LLQUANTIZE_HIGH(shape);

    switch (kind) {
    case DTRACE_AGG_LQUANTIZE:
        return DTRACE_LQUANTIZE_STEP(shape) > 0 && DTRACE_LQUANTIZE_LEVELS(shape) > 0;
    case DTRACE_AGG_LLQUANTIZE:
        return factor >= 2 && low < high && nsteps >= factor && nsteps % factor == 0 &&
               power_fits(factor, high + 1);
    default:
        return shape == 0;
    }
}

static enum dtrace_reason check_aggregating(const struct dtrace_image *image,
                                            const struct dtrace_image_action *all, uint32_t n)
{
    const struct dtrace_image_action *a = &all[n];

    if (!shape_fits(a->kind, a->arg)) {
        return DTRACE_REASON_SHAPE;
    }
    if (!keys_fit(all, n, a->nkeys)) {
        return DTRACE_REASON_NO_KEYS;
    }
    if (a->kind < DTRACE_AGG_QUANTIZE && a->weight) {
        return DTRACE_REASON_WEIGHT_OF_NOTHING;
    }
    return dtrace_image_value_object(image, a->weight, false) ? DTRACE_REASON_NONE
                                                              : DTRACE_REASON_WEIGHT;
}

static enum dtrace_reason check_action(const struct dtrace_image *image,
                                       const struct dtrace_image_action *all, uint32_t n)
{
    const struct dtrace_image_action *a = &all[n];
    enum need need = action_needs(a->kind);

    if (need == UNKNOWN) {
        return DTRACE_REASON_ACTION;
    }
    if (!object_fits(image, a->object, need)) {
        return DTRACE_REASON_NEEDS_OBJECT;
    }
    if (DTRACE_ACT_IS_AGG(a->kind)) {
        return check_aggregating(image, all, n);
    }
    if (a->nkeys || a->weight) {
        return DTRACE_REASON_KEY_OF_NOTHING;
    }
    return a->kind == DTRACE_ACT_LIBACT &&
                   (a->arg < DTRACE_LIBACT_CLEAR || a->arg > DTRACE_LIBACT_PRINT)
               ? DTRACE_REASON_CONSUMER_ACTION
               : DTRACE_REASON_NONE;
}

int dtrace_image_check_actions(const struct dtrace_image *image, const struct dtrace_image_ecb *e,
                               struct dtrace_refusal *refusal)
{
    const struct dtrace_image_action *all =
        DTRACE_IMAGE_TABLE(image, actions, struct dtrace_image_action) + e->first_action;
    bool destructive = dtrace_image_option_value(image, DTRACE_OPT_DESTRUCTIVE, 0) != 0;

    for (uint32_t n = 0; n < e->nactions; n++) {
        enum dtrace_reason reason = check_action(image, all, n);
        if (reason) {
            return dtrace_refuse(refusal, reason);
        }
        if (DTRACE_ACT_IS_DESTRUCTIVE(all[n].kind) && !destructive) {
            return dtrace_refuse(refusal, DTRACE_REASON_DESTRUCTIVE);
        }
    }
    return 0;
}

static uint32_t image_action_limited(uint64_t bytes)
{
    return bytes < DTRACE_ACTION_BYTES_MAX ? (uint32_t)bytes : DTRACE_ACTION_BYTES_MAX;
}

/* A value is aligned to its size, a string is unaligned, an object is aligned to the largest power
 * of two in its size. */
static uint32_t result_bytes(const struct dif_type *t, uint32_t strsize, uint32_t *align)
{
    bool string = t->kind == DIF_TYPE_STRING;
    uint32_t bytes = string && t->size == 0 ? strsize : t->size;

    *align = string || bytes == 0 ? 1 : bytes & (0 - bytes);
    *align = *align > 8 ? 8 : *align;
    return image_action_limited(bytes);
}

uint32_t dtrace_action_bytes(const struct dtrace_image *image, const struct dtrace_image_action *a,
                             uint32_t strsize, uint32_t *align)
{
    uint64_t frames = a->arg & UINT32_MAX;

    *align = 8;
    switch (a->kind) {
    case DTRACE_ACT_STACK:
        return image_action_limited(frames * 8);
    case DTRACE_ACT_USTACK:
    case DTRACE_ACT_JSTACK:
        return image_action_limited((frames + 1) * 8 + (a->arg >> 32));
    case DTRACE_ACT_SYM:
    case DTRACE_ACT_MOD:
        return 8;
    case DTRACE_ACT_USYM:
    case DTRACE_ACT_UMOD:
    case DTRACE_ACT_UADDR:
        return 16;
    case DTRACE_ACT_EXIT:
        *align = 4;
        return 4;
    case DTRACE_ACT_TRACEMEM:
    case DTRACE_ACT_TRACEMEM_DYNSIZE: /* the next action has the size to show */
        *align = 1;
        return image_action_limited(a->arg);
    case DTRACE_ACT_RAISE:
    case DTRACE_ACT_CHILL:
    case DTRACE_ACT_SPECULATE:
    case DTRACE_ACT_COMMIT:
    case DTRACE_ACT_DISCARD:
        *align = 1;
        return 0;
    }
    *align = 1;
    if (a->object == 0 || DTRACE_ACT_IS_AGG(a->kind)) {
        return 0;
    }
    return result_bytes(
        &DTRACE_IMAGE_TABLE(image, objects, struct dtrace_image_object)[a->object - 1].result,
        strsize, align);
}
