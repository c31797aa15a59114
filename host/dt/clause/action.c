/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actions: each call becomes one or several actions of the image, and a format that tells the
 * consumer their meaning. A table entry has the number of a call's arguments, whether it records
 * something, and the function that makes it: action_make.c, action_location.c.
 */
#include "host/dt/clause/action.h"
#include "host/dt/code/object.h"

struct dtrace_image_action *dt_action_add(struct dt_session *d, struct dt_clause *clause,
                                          uint16_t kind)
{
    struct dt_made_action *a = dt_list_add(d, &clause->program->actions, sizeof(*a));

    a->image.kind = kind;
    return &a->image;
}

uint32_t dt_action_format(struct dt_session *d, enum dtrace_action_kind kind, uint64_t arg,
                          struct dt_node *args)
{
    unsigned n = dt_list_length(args), i = 0;
    const struct dt_type **types = dt_alloc(d, (n + 1) * sizeof(*types));

    for (; args; args = args->next) {
        types[i++] = args->type;
    }
    struct dt_format f = {.kind = kind, .arg = arg, .types = types, .ntypes = n};
    return dt_format_add(d, &f);
}

void dt_action_datum(struct dt_session *d, struct dt_clause *c, struct dt_node *n, uint32_t format)
{
    uint32_t object = dt_object_make(d, c->program, n, false);
    struct dtrace_image_action *a = dt_action_add(d, c, DTRACE_ACT_DIFEXPR);

    a->object = object;
    a->format = format;
    a->uarg = dt_datum_type_add(d, n->type);
}

enum { ANY = 1000 };

static const struct row {
    dt_action_maker *make;
    uint16_t least, most;
    bool records;
    const char *count_tag; /* NULL: DT_PROTO_LEN */
} rows[] = {
    [DT_DO_BREAKPOINT] = {dt_do_breakpoint, 0, 0, false, NULL},
    [DT_DO_CHILL] = {dt_do_chill, 1, 1, false, NULL},
    [DT_DO_CLEAR] = {dt_do_clear, 1, 1, true, "D_CLEAR_PROTO"},
    [DT_DO_COMMIT] = {dt_do_commit, 1, 1, false, NULL},
    [DT_DO_DENORMALIZE] = {dt_do_denormalize, 1, 1, true, "D_NORMALIZE_PROTO"},
    [DT_DO_DISCARD] = {dt_do_discard, 1, 1, false, NULL},
    [DT_DO_EXIT] = {dt_do_exit, 1, 1, true, NULL},
    [DT_DO_FREOPEN] = {dt_do_freopen, 1, ANY, true, NULL},
    [DT_DO_FTRUNCATE] = {dt_do_ftruncate, 0, 0, true, NULL},
    [DT_DO_FUNC] = {dt_do_location, 0, ANY, true, NULL},
    [DT_DO_JSTACK] = {dt_do_location, 0, ANY, true, NULL},
    [DT_DO_LOGSTOP] = {dt_do_logstop, 0, 0, false, NULL},
    [DT_DO_MOD] = {dt_do_location, 0, ANY, true, NULL},
    [DT_DO_NORMALIZE] = {dt_do_normalize, 2, 2, true, "D_NORMALIZE_PROTO"},
    [DT_DO_PANIC] = {dt_do_panic, 0, 0, false, NULL},
    [DT_DO_PRINT] = {dt_do_print, 1, 1, true, NULL},
    [DT_DO_PRINTA] = {dt_do_printa, 1, ANY, true, NULL},
    [DT_DO_PRINTF] = {dt_do_printf, 1, ANY, true, NULL},
    [DT_DO_RAISE] = {dt_do_raise, 1, 1, false, NULL},
    [DT_DO_SETOPT] = {dt_do_setopt, 1, 2, true, NULL},
    [DT_DO_SPECULATE] = {dt_do_speculate, 1, 1, false, NULL},
    [DT_DO_STACK] = {dt_do_location, 0, ANY, true, NULL},
    [DT_DO_STOP] = {dt_do_stop, 0, 0, false, NULL},
    [DT_DO_SYM] = {dt_do_location, 0, ANY, true, NULL},
    [DT_DO_SYSTEM] = {dt_do_system, 1, ANY, true, NULL},
    [DT_DO_TRACE] = {dt_do_trace, 1, 1, true, NULL},
    [DT_DO_TRACEMEM] = {dt_do_tracemem, 2, 3, true, NULL},
    [DT_DO_TRUNC] = {dt_do_trunc, 1, 2, true, "D_TRUNC_PROTO"},
    [DT_DO_UADDR] = {dt_do_location, 0, ANY, true, NULL},
    [DT_DO_UFUNC] = {dt_do_location, 0, ANY, true, NULL},
    [DT_DO_UMOD] = {dt_do_location, 0, ANY, true, NULL},
    [DT_DO_USTACK] = {dt_do_location, 0, ANY, true, NULL},
    [DT_DO_USYM] = {dt_do_location, 0, ANY, true, NULL},
};

void dt_action_call(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    const struct row *row = &rows[call->ident->number];

    dt_action_want_count(d, call, row->least, row->most,
                         row->count_tag ? row->count_tag : "D_PROTO_LEN");
    dt_action_check_args(d, call);
    dt_action_check_order(d, c, call, call->ident->number, row->records);
    row->make(d, c, call);
}
