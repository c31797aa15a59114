/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that an image is well-formed: every offset, count and index, once, so that later readers
 * need no checks. Every action is of a known kind and has the objects it needs, aggregating
 * functions have a possible shape and their keys before them, and destructive actions occur only in
 * a destructive program. validate.c checks the objects. Also computes the size of an action's data.
 * Control context. Tested by test/trace/dtrace/machine/image_test.c.
 */
#include "trace/dtrace/helper.h"
#include "trace/dtrace/port.h"

/* The first of the reasons whose errors differ: these follow in the table of errors after EINVAL,
 * the error of all earlier reasons. */
#define MIXED DTRACE_REASON_OBJECTS_SIZE
#define DTRACE_REASON(name, error, text) \
    &&((error) == DTRACE_EINVAL || DTRACE_REASON_##name >= MIXED)
_Static_assert(true
#include "trace/dtrace/reasons.def"
               ,
               "MIXED");

int dtrace_refuse(struct dtrace_refusal *refusal, enum dtrace_reason reason)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
    static const uint8_t errors[] = {
#define DTRACE_REASON(name, error, text) \
    [DTRACE_REASON_##name < MIXED ? 0 : DTRACE_REASON_##name - MIXED + 1] = (error),
#include "trace/dtrace/reasons.def"
    };
#pragma GCC diagnostic pop

    refusal->error = -errors[reason < MIXED ? 0 : reason - MIXED + 1];
    refusal->object = UINT32_MAX;
    refusal->offset = UINT32_MAX;
    refusal->reason = reason;
    refusal->text[0] = '\0';
    return refusal->error;
}

static int check_header(const struct dtrace_image *image, size_t size,
                        struct dtrace_refusal *refusal)
{
    static const uint8_t elements[] = {
        /* of the tables, which are adjacent in the header */
        sizeof(struct dtrace_image_option),
        sizeof(struct dtrace_image_ecb),
        sizeof(struct dtrace_image_action),
        sizeof(struct dtrace_image_object),
        sizeof(struct dif_variable),
        sizeof(dif_insn),
        sizeof(uint64_t),
        sizeof(char),
    };

    if (size > DTRACE_IMAGE_MAX) {
        return dtrace_refuse(refusal, DTRACE_REASON_PROGRAM_SIZE);
    }
    if ((uintptr_t)image % 8 || size < sizeof(*image)) {
        return dtrace_refuse(refusal, DTRACE_REASON_CUT_OFF);
    }
    if (image->magic != DTRACE_IMAGE_MAGIC || image->version != DTRACE_IMAGE_VERSION ||
        image->pad || image->pad2) {
        return dtrace_refuse(refusal, DTRACE_REASON_VERSION);
    }
    if (image->dif_version != DIF_VERSION || image->pointer_bytes != sizeof(void *)) {
        return dtrace_refuse(refusal, DTRACE_REASON_OTHER_MACHINE);
    }
    if (image->size != size) {
        return dtrace_refuse(refusal, DTRACE_REASON_CUT_OFF);
    }
    const struct dtrace_image_table *t = &image->options;
    for (unsigned i = 0; i < sizeof(elements); i++, t++) {
        if (t->offset % 8 || t->offset < sizeof(*image) || t->offset > size ||
            t->count > (size - t->offset) / elements[i]) {
            return dtrace_refuse(refusal, DTRACE_REASON_NO_TABLE);
        }
    }
    const char *strings = DTRACE_IMAGE_TABLE(image, strings, char);
    if (image->strings.count && strings[image->strings.count - 1]) {
        return dtrace_refuse(refusal, DTRACE_REASON_STRINGS);
    }
    return 0;
}

/* Largest value of each option. 0: there is no such option. */
enum { ANYTHING = 255 };
static const uint8_t option_most[DTRACE_OPT_MAX] = {
    [DTRACE_OPT_BUFSIZE] = ANYTHING,
    [DTRACE_OPT_AGGSIZE] = ANYTHING,
    [DTRACE_OPT_SPECSIZE] = ANYTHING,
    [DTRACE_OPT_NSPEC] = ANYTHING,
    [DTRACE_OPT_DYNVARSIZE] = ANYTHING,
    [DTRACE_OPT_STRSIZE] = ANYTHING, /* see below */
    [DTRACE_OPT_BUFPOLICY] = DTRACE_POLICY_RING,
    [DTRACE_OPT_BUFRESIZE] = DTRACE_RESIZE_MANUAL,
    [DTRACE_OPT_CPU] = ANYTHING,
    [DTRACE_OPT_CLEANRATE] = ANYTHING,
    [DTRACE_OPT_STATUSRATE] = ANYTHING,
    [DTRACE_OPT_STACKFRAMES] = ANYTHING,
    [DTRACE_OPT_USTACKFRAMES] = ANYTHING,
    [DTRACE_OPT_DESTRUCTIVE] = 1,
    [DTRACE_OPT_RETAIN] = 1,
};

static int check_options(const struct dtrace_image *image, struct dtrace_refusal *refusal)
{
    const struct dtrace_image_option *o =
        DTRACE_IMAGE_TABLE(image, options, struct dtrace_image_option);

    for (uint32_t i = 0; i < image->options.count; i++, o++) {
        uint32_t most = o->option < DTRACE_OPT_MAX ? option_most[o->option] : 0;
        if (most == 0 || o->pad) {
            return dtrace_refuse(refusal, DTRACE_REASON_OPTION);
        }
        if ((o->value > most && most != ANYTHING) ||
            (o->value - 1 >= DTRACE_STRSIZE_MAX && o->option == DTRACE_OPT_STRSIZE)) {
            return dtrace_refuse(refusal, DTRACE_REASON_OPTION_RANGE);
        }
    }
    return 0;
}

static bool part_of(uint32_t first, uint32_t n, struct dtrace_image_table table)
{
    return first <= table.count && n <= table.count - first;
}

static int check_objects(const struct dtrace_image *image, struct dtrace_refusal *refusal)
{
    const struct dtrace_image_object *o =
        DTRACE_IMAGE_TABLE(image, objects, struct dtrace_image_object);
    uint32_t bytes = 0; /* never more than the bytes of one object above the limit */

    for (uint32_t i = 0; i < image->objects.count; i++, o++) {
        if (!part_of(o->first_text, o->ntext, image->text) ||
            !part_of(o->first_int, o->nints, image->ints) ||
            !part_of(o->first_string, o->strings_size, image->strings) ||
            !part_of(o->first_var, o->nvars, image->variables)) {
            dtrace_refuse(refusal, DTRACE_REASON_NO_OBJECT);
            refusal->object = i;
            return -DTRACE_EINVAL;
        }
        if (bytes <= DTRACE_IMAGE_MAX) {
            bytes += o->ntext * 4 + o->nints * 8 + o->strings_size + o->nvars * 20;
        }
    }
    return bytes > DTRACE_IMAGE_MAX ? dtrace_refuse(refusal, DTRACE_REASON_OBJECTS_SIZE) : 0;
}

/* ---- actions ----------------------------------------------------------------------- */

/* An action's requirement for its object. */
enum need { UNKNOWN, NOTHING, MAYBE, ANY, VALUE };

static enum need action_needs(uint16_t kind)
{
    enum { N = NOTHING, M = MAYBE, A = ANY, V = VALUE, PER_GROUP = 10 };
    static const uint8_t needs[8 * PER_GROUP] = {
        [DTRACE_ACT_NONE] = N,         [DTRACE_ACT_DIFEXPR] = A,
        [DTRACE_ACT_EXIT] = V,         [DTRACE_ACT_PRINTF] = M,
        [DTRACE_ACT_PRINTA] = M,       [DTRACE_ACT_LIBACT] = M,
        [DTRACE_ACT_TRACEMEM] = V,     [DTRACE_ACT_TRACEMEM_DYNSIZE] = V,
        [DTRACE_ACT_PRINTM] = V,
#define AT(kind) [((kind) >> 8) * PER_GROUP + ((kind)&0xff)]
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

    return group < 8 && n < PER_GROUP ? (enum need)needs[group * PER_GROUP + n] : UNKNOWN;
}

/* Returns whether `object` (+ 1; 0: none) exists and is a value. */
static bool is_value_object(const struct dtrace_image *image, uint32_t object, bool required)
{
    if (object == 0) {
        return !required;
    }
    return object <= image->objects.count &&
           !DTRACE_IMAGE_TABLE(image, objects, struct dtrace_image_object)[object - 1].result.ref;
}

/* Returns whether base^exponent fits in 64 bits. At most 64 steps. */
static bool power_fits(uint32_t base, unsigned exponent)
{
    uint32_t low = 1, high = 0;

    for (; exponent > 0; exponent--) {
        uint64_t product = (uint64_t)low * base;
        low = (uint32_t)product;
        product = (uint64_t)high * base + (product >> 32);
        high = (uint32_t)product;
        if (product >> 32) {
            return false;
        }
    }
    return true;
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
    for (uint32_t i = 1; i <= a->nkeys; i++) {
        uint16_t kind = i > n ? DTRACE_ACT_NONE : all[n - i].kind;
        /* these put exactly their value into an entry */
        bool makes_key = kind == DTRACE_ACT_DIFEXPR || kind == DTRACE_ACT_STACK ||
                         kind == DTRACE_ACT_SYM || kind == DTRACE_ACT_MOD ||
                         (DTRACE_ACT_USTACK <= kind && kind <= DTRACE_ACT_UADDR);
        if (!makes_key) {
            return DTRACE_REASON_NO_KEYS;
        }
    }
    if (a->kind < DTRACE_AGG_QUANTIZE && a->weight) {
        return DTRACE_REASON_WEIGHT_OF_NOTHING;
    }
    return is_value_object(image, a->weight, false) ? DTRACE_REASON_NONE : DTRACE_REASON_WEIGHT;
}

/* Helpers are a range of objects, and need room for their names. */
static bool has_helpers(const struct dtrace_image *image, const struct dtrace_image_action *a)
{
    return DTRACE_PORT_HELPERS && dtrace_helper_kind(a->kind) && a->object && a->weight &&
           a->object <= a->weight && a->weight <= image->objects.count &&
           a->weight - a->object < DTRACE_HELPERS_MOST && a->arg >> 32;
}

static enum dtrace_reason check_action(const struct dtrace_image *image,
                                       const struct dtrace_image_action *all, uint32_t n)
{
    const struct dtrace_image_action *a = &all[n];
    bool fits;

    switch (action_needs(a->kind)) {
    case UNKNOWN:
        return DTRACE_REASON_ACTION;
    case NOTHING:
        fits = a->object == 0 || has_helpers(image, a);
        break;
    case MAYBE:
        fits = a->object <= image->objects.count;
        break;
    case ANY:
        fits = a->object > 0 && a->object <= image->objects.count;
        break;
    default:
        fits = is_value_object(image, a->object, true);
    }
    if (!fits) {
        return DTRACE_REASON_NEEDS_OBJECT;
    }
    if (DTRACE_ACT_IS_AGG(a->kind)) {
        return check_aggregating(image, all, n);
    }
    if (a->nkeys || (a->weight && !has_helpers(image, a))) {
        return DTRACE_REASON_KEY_OF_NOTHING;
    }
    return a->kind == DTRACE_ACT_LIBACT &&
                   (a->arg < DTRACE_LIBACT_CLEAR || a->arg > DTRACE_LIBACT_PRINT)
               ? DTRACE_REASON_CONSUMER_ACTION
               : DTRACE_REASON_NONE;
}

bool dtrace_action_described(uint16_t kind)
{
    return kind == DTRACE_ACT_PRINTF || kind == DTRACE_ACT_PRINTA || kind == DTRACE_ACT_LIBACT ||
           kind == DTRACE_ACT_SYSTEM || kind == DTRACE_ACT_FREOPEN;
}

bool dtrace_action_is_key(const struct dtrace_image_action *actions, uint32_t n, uint32_t nactions)
{
    uint32_t next = n + 1;

    while (next < nactions && !DTRACE_ACT_IS_AGG(actions[next].kind)) {
        next++;
    }
    return next < nactions && next - n <= actions[next].nkeys;
}

static uint32_t image_action_limited(uint64_t bytes)
{
    return bytes < DTRACE_ACTION_BYTES_MAX ? (uint32_t)bytes : DTRACE_ACTION_BYTES_MAX;
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
    /* A value is aligned to its size, a string is unaligned, an object is aligned to the largest
     * power of two in its size. */
    const struct dif_type *t =
        &DTRACE_IMAGE_TABLE(image, objects, struct dtrace_image_object)[a->object - 1].result;
    bool string = t->kind == DIF_TYPE_STRING;
    uint32_t bytes = string && t->size == 0 ? strsize : t->size;
    if (!string && bytes) {
        *align = bytes & (0 - bytes);
        *align = *align > 8 ? 8 : *align;
    }
    return image_action_limited(bytes);
}

/* ---- the whole image --------------------------------------------------------------- */

/* Checks a clause: its description, its predicate and its actions. */
static enum dtrace_reason check_ecb(const struct dtrace_image *image,
                                    const struct dtrace_image_ecb *e, bool destructive)
{
    const struct dtrace_image_action *all =
        DTRACE_IMAGE_TABLE(image, actions, struct dtrace_image_action);
    uint32_t strings = image->strings.count;

    if (e->provider >= strings || e->module >= strings || e->function >= strings ||
        e->name >= strings) {
        return DTRACE_REASON_NO_DESCRIPTION;
    }
    if (!part_of(e->first_action, e->nactions, image->actions) ||
        e->flags & ~(uint32_t)DTRACE_ECB_PART) {
        return DTRACE_REASON_NO_ACTIONS;
    }
    if (!is_value_object(image, e->predicate, false)) {
        return DTRACE_REASON_PREDICATE;
    }
    for (uint32_t n = 0; n < e->nactions; n++) {
        enum dtrace_reason reason = check_action(image, &all[e->first_action], n);
        if (reason) {
            return reason;
        }
        if (DTRACE_ACT_IS_DESTRUCTIVE(all[e->first_action + n].kind) && !destructive) {
            return DTRACE_REASON_DESTRUCTIVE;
        }
    }
    return DTRACE_REASON_NONE;
}

static int check_ecbs(const struct dtrace_image *image, struct dtrace_refusal *refusal)
{
    const struct dtrace_image_ecb *e = DTRACE_IMAGE_TABLE(image, ecbs, struct dtrace_image_ecb);
    bool destructive = dtrace_image_option_value(image, DTRACE_OPT_DESTRUCTIVE, 0) != 0;
    enum dtrace_reason reason = DTRACE_REASON_NONE;
    uint64_t actions = 0;

    for (uint32_t i = 0; i < image->ecbs.count; i++) {
        actions += e[i].nactions;
    }
    if (actions > DTRACE_ACTIONS_MAX) {
        return dtrace_refuse(refusal, DTRACE_REASON_ACTIONS);
    }
    for (uint32_t i = 0; i < image->ecbs.count && !reason; i++) {
        reason = check_ecb(image, &e[i], destructive);
    }
    return reason ? dtrace_refuse(refusal, reason) : 0;
}

int dtrace_image_check(const void *p, size_t size, struct dtrace_refusal *refusal)
{
    const struct dtrace_image *image = p;
    int error = check_header(image, size, refusal);

    if (!error && !dtrace_port_is_kernel(image->kernel, NULL)) {
        error = dtrace_refuse(refusal, DTRACE_REASON_OTHER_KERNEL);
        dtrace_port_is_kernel(image->kernel, refusal->text);
    }
    error = error ? error : check_options(image, refusal);
    error = error ? error : check_objects(image, refusal);
    return error ? error : check_ecbs(image, refusal);
}

size_t dtrace_image_option_value(const struct dtrace_image *image, enum dtrace_option option,
                                 size_t absent)
{
    const struct dtrace_image_option *o =
        DTRACE_IMAGE_TABLE(image, options, struct dtrace_image_option);
    size_t value = absent;

    for (uint32_t i = 0; i < image->options.count; i++) {
        if (o[i].option == option) {
            value = o[i].value < DTRACE_OPTION_MOST ? (size_t)o[i].value : DTRACE_OPTION_MOST;
        }
    }
    return value;
}

void dtrace_image_object_at(const struct dtrace_image *image, uint32_t n, struct dif_object *to)
{
    const struct dtrace_image_object *o =
        &DTRACE_IMAGE_TABLE(image, objects, struct dtrace_image_object)[n];

    trace_assert(n < image->objects.count);
    *to = (struct dif_object){
        .text = DTRACE_IMAGE_TABLE(image, text, dif_insn) + o->first_text,
        .ints = DTRACE_IMAGE_TABLE(image, ints, uint64_t) + o->first_int,
        .strings = DTRACE_IMAGE_TABLE(image, strings, char) + o->first_string,
        .vars = DTRACE_IMAGE_TABLE(image, variables, struct dif_variable) + o->first_var,
        .ntext = o->ntext,
        .nints = o->nints,
        .strings_size = o->strings_size,
        .nvars = o->nvars,
        .result = o->result,
    };
}
