/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a program's flat image for a target (trace/dtrace/image.h), and the data that the consumer
 * looks up by number afterwards.
 */
#include "host/dt/code/object.h"

#include <stdlib.h>
#include <string.h>

/* ---- numbers ----------------------------------------------------------------------- */

uint32_t dt_format_add(struct dt_session *d, const struct dt_format *format)
{
    struct dt_programs *programs = d->programs;

    *(struct dt_format *)dt_list_add(d, &programs->formats, sizeof(*format)) = *format;
    return programs->formats.n;
}

const struct dt_format *dt_session_format(const struct dt_session *d, uint32_t number)
{
    const struct dt_array *list = &d->programs->formats;

    return number && number <= list->n ? (const struct dt_format *)list->data + number - 1 : NULL;
}

uint64_t dt_datum_type_add(struct dt_session *d, const struct dt_type *type)
{
    struct dt_programs *programs = d->programs;

    *(const struct dt_type **)dt_list_add(d, &programs->datum_types, sizeof(type)) = type;
    return programs->datum_types.n;
}

const struct dt_type *dt_session_datum_type(const struct dt_session *d, uint64_t number)
{
    const struct dt_array *list = &d->programs->datum_types;

    return number && number <= list->n ? ((const struct dt_type *const *)list->data)[number - 1]
                                       : NULL;
}

unsigned dt_session_clauses(const struct dt_session *d)
{
    return d->programs->clauses.n;
}

const struct dt_clause_info *dt_session_clause(const struct dt_session *d, uint32_t clause)
{
    const struct dt_array *list = &d->programs->clauses;

    return clause < list->n ? (const struct dt_clause_info *)list->data + clause : NULL;
}

unsigned dt_session_aggregations(const struct dt_session *d)
{
    return d->programs->aggregations.n;
}

const struct dt_aggregation_info *dt_session_aggregation(const struct dt_session *d,
                                                         uint32_t number)
{
    const struct dt_array *list = &d->programs->aggregations;

    return number && number <= list->n
               ? ((struct dt_aggregation_info *const *)list->data)[number - 1]
               : NULL;
}

/* ---- tables that grow -------------------------------------------------------------- */

struct table {
    char *data;
    size_t bytes, room;
};

static void *table_add(struct table *t, const void *from, size_t bytes)
{
    if (!t->data || t->bytes + bytes > t->room) {
        t->room = (t->bytes + bytes) * 2 + 64;
        t->data = realloc(t->data, t->room);
        if (!t->data) {
            dt_no_memory();
        }
    }
    void *at = t->data + t->bytes;
    if (bytes) {
        memcpy(at, from, bytes);
    }
    t->bytes += bytes;
    return at;
}

enum table_name { OPTIONS, ECBS, ACTIONS, OBJECTS, VARIABLES, TEXT, INTS, STRINGS, TABLES };

static const size_t element_bytes[TABLES] = {
    [OPTIONS] = sizeof(struct dtrace_image_option),
    [ECBS] = sizeof(struct dtrace_image_ecb),
    [ACTIONS] = sizeof(struct dtrace_image_action),
    [OBJECTS] = sizeof(struct dtrace_image_object),
    [VARIABLES] = sizeof(struct dif_variable),
    [TEXT] = sizeof(dif_insn),
    [INTS] = sizeof(uint64_t),
    [STRINGS] = 1,
};

static uint32_t image_count_entries(const struct table *t, enum table_name name)
{
    return (uint32_t)(t[name].bytes / element_bytes[name]);
}

static uint32_t add_string(struct table *t, const char *text)
{
    uint32_t at = image_count_entries(t, STRINGS);

    if (!text || !*text) {
        return 0; /* the table begins with an empty one */
    }
    table_add(&t[STRINGS], text, strlen(text) + 1);
    return at;
}

static void add_object(struct table *t, const struct dif_object *o)
{
    struct dtrace_image_object object = {
        .first_text = image_count_entries(t, TEXT),
        .ntext = o->ntext,
        .first_int = image_count_entries(t, INTS),
        .nints = o->nints,
        .first_string = image_count_entries(t, STRINGS),
        .strings_size = o->strings_size,
        .first_var = image_count_entries(t, VARIABLES),
        .nvars = o->nvars,
        .result = o->result,
    };

    table_add(&t[TEXT], o->text, o->ntext * sizeof(*o->text));
    table_add(&t[INTS], o->ints, o->nints * sizeof(*o->ints));
    table_add(&t[STRINGS], o->strings, o->strings_size);
    table_add(&t[VARIABLES], o->vars, o->nvars * sizeof(*o->vars));
    table_add(&t[OBJECTS], &object, sizeof(object));
}

/* ---- programs ---------------------------------------------------------------------- */

static uint32_t image_shift_number(uint32_t number, uint32_t by)
{
    return number ? number + by : 0;
}

static void image_add_program(struct table *t, const struct dt_program *p)
{
    const struct dt_made_object *objects = p->objects.data;
    const struct dt_made_action *actions = p->actions.data;
    const struct dt_made_ecb *ecbs = p->ecbs.data;
    uint32_t first_object = image_count_entries(t, OBJECTS),
             first_action = image_count_entries(t, ACTIONS);

    for (unsigned i = 0; i < p->objects.n; i++) {
        add_object(t, &objects[i].dif);
    }
    for (unsigned i = 0; i < p->actions.n; i++) {
        struct dtrace_image_action a = actions[i].image;
        a.object = image_shift_number(a.object, first_object);
        a.weight = image_shift_number(a.weight, first_object);
        table_add(&t[ACTIONS], &a, sizeof(a));
    }
    for (unsigned i = 0; i < p->ecbs.n; i++) {
        struct dtrace_image_ecb e = {
            .provider = add_string(t, ecbs[i].provider),
            .module = add_string(t, ecbs[i].module),
            .function = add_string(t, ecbs[i].function),
            .name = add_string(t, ecbs[i].name),
            .probe = ecbs[i].probe,
            .predicate = image_shift_number(ecbs[i].predicate, first_object),
            .first_action = ecbs[i].first_action + first_action,
            .nactions = ecbs[i].nactions,
            .clause = ecbs[i].clause,
            .flags = ecbs[i].flags,
        };
        table_add(&t[ECBS], &e, sizeof(e));
    }
}

/* Whether a helper may name the frames that the action records. */
static bool may_have_helpers(const struct dtrace_image_action *a)
{
    return (a->kind == DTRACE_ACT_USTACK || a->kind == DTRACE_ACT_JSTACK) && (uint32_t)a->arg &&
           a->arg >> 32;
}

/* All of them go to all such actions: which one is meant is known when the probe fires. */
static void add_helpers(struct dt_session *d, struct table *t)
{
    struct dtrace_image_action *a = (void *)t[ACTIONS].data;
    const uint32_t n = image_count_entries(t, ACTIONS), first = image_count_entries(t, OBJECTS) + 1;
    const struct dt_program *helpers = NULL;
    uint32_t i = 0;

    for (; i < n && !helpers; i++) {
        helpers = may_have_helpers(&a[i]) ? d->make_helpers(d) : NULL;
    }
    if (!helpers || helpers->objects.n == 0) {
        return;
    }
    for (uint32_t k = 0; k < helpers->objects.n; k++) {
        add_object(t, &((const struct dt_made_object *)helpers->objects.data)[k].dif);
    }
    for (i = 0; i < n; i++) {
        if (may_have_helpers(&a[i])) {
            a[i].object = first;
            a[i].weight = first + helpers->objects.n - 1;
        }
    }
}

/* dtrace:::ERROR { records arg1 … arg5 }: what the consumer reports faults by. */
static void add_fault_clause(struct table *t)
{
    struct dtrace_image_ecb e = {
        .provider = add_string(t, "dtrace"),
        .name = add_string(t, "ERROR"),
        .first_action = image_count_entries(t, ACTIONS),
        .nactions = 5,
        .clause = DTRACE_CLAUSE_FAULT,
        .flags = DTRACE_ECB_PART,
    };

    for (unsigned i = 1; i <= 5; i++) {
        dif_insn text[2] = {DIF_INDEX(DIF_OP_ldgs, DIF_VAR_arg0 + i, 1),
                            DIF_RRR(DIF_OP_ret, 0, 0, 1)};
        struct dif_object o = {.text = text,
                               .ntext = 2,
                               .strings = "",
                               .strings_size = 1,
                               .result = {.kind = DIF_TYPE_CTF, .size = 8}};
        struct dtrace_image_action a = {.kind = DTRACE_ACT_DIFEXPR};
        add_object(t, &o);
        a.object = image_count_entries(t, OBJECTS);
        table_add(&t[ACTIONS], &a, sizeof(a));
    }
    table_add(&t[ECBS], &e, sizeof(e));
}

static const char *const option_names[DTRACE_OPT_MAX] = {
    [DTRACE_OPT_BUFSIZE] = "bufsize",
    [DTRACE_OPT_AGGSIZE] = "aggsize",
    [DTRACE_OPT_SPECSIZE] = "specsize",
    [DTRACE_OPT_NSPEC] = "nspec",
    [DTRACE_OPT_DYNVARSIZE] = "dynvarsize",
    [DTRACE_OPT_STRSIZE] = "strsize",
    [DTRACE_OPT_BUFPOLICY] = "bufpolicy",
    [DTRACE_OPT_BUFRESIZE] = "bufresize",
    [DTRACE_OPT_CPU] = "cpu",
    [DTRACE_OPT_CLEANRATE] = "cleanrate",
    [DTRACE_OPT_STATUSRATE] = "statusrate",
    [DTRACE_OPT_STACKFRAMES] = "stackframes",
    [DTRACE_OPT_USTACKFRAMES] = "ustackframes",
    [DTRACE_OPT_DESTRUCTIVE] = "destructive",
    [DTRACE_OPT_RETAIN] = "retain",
};

const char *dt_image_option_name(uint32_t option)
{
    return option < DTRACE_OPT_MAX ? option_names[option] : NULL;
}

static size_t image_align_size(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

static void *image_assemble_tables(const struct dt_session *d, struct table *t, size_t *size)
{
    struct dtrace_image head = {
        .magic = DTRACE_IMAGE_MAGIC,
        .version = DTRACE_IMAGE_VERSION,
        .pointer_bytes = (uint8_t)d->model->pointer,
        .dif_version = DIF_VERSION,
    };
    memcpy(head.kernel, d->kernel_id, sizeof(head.kernel));
    struct dtrace_image_table *tables = &head.options;
    size_t at = image_align_size(sizeof(head));

    for (unsigned i = 0; i < TABLES; i++) {
        tables[i] = (struct dtrace_image_table){(uint32_t)at, image_count_entries(t, i)};
        at = image_align_size(at + t[i].bytes);
    }
    head.size = (uint32_t)at;
    char *image = calloc(1, at);
    if (!image) {
        dt_no_memory();
    }
    for (unsigned i = 0; i < TABLES; i++) {
        memcpy(image + tables[i].offset, t[i].data ? t[i].data : "", t[i].bytes);
    }
    memcpy(image, &head, sizeof(head));
    *size = at;
    return image;
}

void *dt_image_make(struct dt_session *d, struct dt_program *const *programs, unsigned n,
                    size_t *size)
{
    struct table tables[TABLES] = {{0}};

    table_add(&tables[STRINGS], "", 1);
    for (uint32_t i = 1; i < DTRACE_OPT_MAX; i++) {
        struct dtrace_image_option o = {.option = i, .value = dtrace_option(d, option_names[i])};
        if (o.value != DT_OPTION_UNSET) {
            table_add(&tables[OPTIONS], &o, sizeof(o));
        }
    }
    for (unsigned i = 0; i < n; i++) {
        image_add_program(tables, programs[i]);
    }
    add_helpers(d, tables);
    /* Where each clause's ECBs are, for -v. */
    const struct dtrace_image_ecb *ecbs = (const void *)tables[ECBS].data;
    struct dt_clause_info *clauses = d->programs->clauses.data;

    for (uint32_t i = 0; i < image_count_entries(tables, ECBS); i++) {
        if (ecbs[i].clause < d->programs->clauses.n) {
            struct dt_clause_info *info = &clauses[ecbs[i].clause];
            info->first_ecb = info->necbs ? info->first_ecb : i;
            info->necbs++;
        }
    }
    if (image_count_entries(tables, ECBS)) {
        add_fault_clause(tables);
    }
    void *image = image_assemble_tables(d, tables, size);
    for (unsigned i = 0; i < TABLES; i++) {
        free(tables[i].data);
    }
    return image;
}
