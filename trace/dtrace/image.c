/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that an image is well-formed: every offset, count and index, once, so that later readers
 * need no checks. image_action.c checks the actions, validate.c the objects. Control context.
 * Tested by test/d_machine/image_test.c.
 */
#include "trace/dtrace/image_check.h"
#include "trace/dtrace/port.h"

int dtrace_refuse(struct dtrace_refusal *refusal, enum dtrace_reason reason)
{
    static const uint8_t errors[] = {
        0,
#define DTRACE_REASON(name, error, text) (error),
#include "trace/dtrace/reasons.def"
    };

    refusal->error = -errors[reason];
    refusal->object = UINT32_MAX;
    refusal->offset = UINT32_MAX;
    refusal->reason = reason;
    refusal->text[0] = '\0';
    return refusal->error;
}

static bool table_fits(const struct dtrace_image *image, struct dtrace_image_table table,
                       size_t element)
{
    uint64_t end = table.offset + (uint64_t)table.count * element;

    return table.offset % 8 == 0 && table.offset >= sizeof(*image) && end <= image->size;
}

/* The tables are adjacent in the header. */
static bool tables_fit(const struct dtrace_image *image)
{
    static const uint8_t elements[] = {
        sizeof(struct dtrace_image_option),
        sizeof(struct dtrace_image_ecb),
        sizeof(struct dtrace_image_action),
        sizeof(struct dtrace_image_object),
        sizeof(struct dif_variable),
        sizeof(dif_insn),
        sizeof(uint64_t),
        sizeof(char),
    };
    const struct dtrace_image_table *tables = &image->options;
    bool fit = true;

    for (unsigned i = 0; i < sizeof(elements); i++) {
        fit &= table_fits(image, tables[i], elements[i]);
    }
    return fit;
}

static int check_header(const struct dtrace_image *image, size_t size,
                        struct dtrace_refusal *refusal)
{
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
    if (!tables_fit(image)) {
        return dtrace_refuse(refusal, DTRACE_REASON_NO_TABLE);
    }
    const char *strings = DTRACE_IMAGE_TABLE(image, strings, char);
    if (image->strings.count && strings[image->strings.count - 1]) {
        return dtrace_refuse(refusal, DTRACE_REASON_STRINGS);
    }
    return 0;
}

static int check_kernel(const struct dtrace_image *image, struct dtrace_refusal *refusal)
{
    if (dtrace_port_is_kernel(image->kernel, NULL)) {
        return 0;
    }
    dtrace_refuse(refusal, DTRACE_REASON_OTHER_KERNEL);
    dtrace_port_is_kernel(image->kernel, refusal->text);
    return -DTRACE_EINVAL;
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
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < image->objects.count; i++, o++) {
        if (!part_of(o->first_text, o->ntext, image->text) ||
            !part_of(o->first_int, o->nints, image->ints) ||
            !part_of(o->first_string, o->strings_size, image->strings) ||
            !part_of(o->first_var, o->nvars, image->variables)) {
            dtrace_refuse(refusal, DTRACE_REASON_NO_OBJECT);
            refusal->object = i;
            return -DTRACE_EINVAL;
        }
        bytes += o->ntext * 4ull + o->nints * 8ull + o->strings_size + o->nvars * 20ull;
    }
    return bytes > DTRACE_IMAGE_MAX ? dtrace_refuse(refusal, DTRACE_REASON_OBJECTS_SIZE) : 0;
}

static int check_ecb(const struct dtrace_image *image, const struct dtrace_image_ecb *e,
                     struct dtrace_refusal *refusal)
{
    uint32_t strings = image->strings.count;

    if (e->provider >= strings || e->module >= strings || e->function >= strings ||
        e->name >= strings) {
        return dtrace_refuse(refusal, DTRACE_REASON_NO_DESCRIPTION);
    }
    if (!part_of(e->first_action, e->nactions, image->actions) ||
        e->flags & ~(uint32_t)DTRACE_ECB_PART) {
        return dtrace_refuse(refusal, DTRACE_REASON_NO_ACTIONS);
    }
    if (!dtrace_image_value_object(image, e->predicate, false)) {
        return dtrace_refuse(refusal, DTRACE_REASON_PREDICATE);
    }
    return dtrace_image_check_actions(image, e, refusal);
}

static int check_ecbs(const struct dtrace_image *image, struct dtrace_refusal *refusal)
{
    const struct dtrace_image_ecb *e = DTRACE_IMAGE_TABLE(image, ecbs, struct dtrace_image_ecb);
    uint64_t actions = 0;
    int error = 0;

    for (uint32_t i = 0; i < image->ecbs.count; i++) {
        actions += e[i].nactions;
    }
    if (actions > DTRACE_ACTIONS_MAX) {
        return dtrace_refuse(refusal, DTRACE_REASON_ACTIONS);
    }
    for (uint32_t i = 0; i < image->ecbs.count && !error; i++) {
        error = check_ecb(image, &e[i], refusal);
    }
    return error;
}

int dtrace_image_check(const void *p, size_t size, struct dtrace_refusal *refusal)
{
    const struct dtrace_image *image = p;
    int error = check_header(image, size, refusal);

    error = error ? error : check_kernel(image, refusal);
    error = error ? error : check_options(image, refusal);
    error = error ? error : check_objects(image, refusal);
    return error ? error : check_ecbs(image, refusal);
}

uint64_t dtrace_image_option_value(const struct dtrace_image *image, enum dtrace_option option,
                                   uint64_t absent)
{
    const struct dtrace_image_option *o =
        DTRACE_IMAGE_TABLE(image, options, struct dtrace_image_option);
    uint64_t value = absent;

    for (uint32_t i = 0; i < image->options.count; i++) {
        if (o[i].option == option) {
            value = o[i].value;
        }
    }
    return value;
}

void dtrace_image_object_at(const struct dtrace_image *image, uint32_t n, struct dif_object *to)
{
    const struct dtrace_image_object *o =
        &DTRACE_IMAGE_TABLE(image, objects, struct dtrace_image_object)[n];

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
