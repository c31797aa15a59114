/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actions: each call becomes one or several actions of the image, and a format that tells the
 * consumer what they mean. A row of the table says how many arguments a call takes, whether it
 * records something, and who makes it: action_*.c.
 */
#include "host/d/action.h"

struct d_image_action *d_action_add(struct d_session *d, struct d_clause *clause, uint16_t kind)
{
    struct d_made_action *a = d_list_add(d, &clause->program->actions, sizeof(*a));

    a->image.kind = kind;
    return &a->image;
}

uint32_t d_action_format(struct d_session *d, enum d_action_kind kind, uint64_t arg,
                         struct d_node *args)
{
    unsigned n = d_list_length(args), i = 0;
    const struct d_type **types = d_alloc(d, (n + 1) * sizeof(*types));

    for (; args; args = args->next) {
        types[i++] = args->type;
    }
    struct d_format f = {.kind = kind, .arg = arg, .types = types, .ntypes = n};
    return d_format_add(d, &f);
}

void d_action_datum(struct d_session *d, struct d_clause *c, struct d_node *n, uint32_t format)
{
    uint32_t object = d_object_make(d, c->program, n, false);
    struct d_image_action *a = d_action_add(d, c, D_ACT_DIFEXPR);

    a->object = object;
    a->format = format;
    a->uarg = d_datum_type_add(d, n->type);
}

enum { ANY = 1000 };

static const struct row {
    d_action_maker *make;
    uint16_t least, most;
    bool records;
    const char *count_tag; /* NULL: D_PROTO_LEN */
} rows[] = {
    [D_DO_BREAKPOINT] = {d_do_breakpoint, 0, 0, false, NULL},
    [D_DO_CHILL] = {d_do_chill, 1, 1, false, NULL},
    [D_DO_CLEAR] = {d_do_clear, 1, 1, true, "D_CLEAR_PROTO"},
    [D_DO_COMMIT] = {d_do_commit, 1, 1, false, NULL},
    [D_DO_DENORMALIZE] = {d_do_denormalize, 1, 1, true, "D_NORMALIZE_PROTO"},
    [D_DO_DISCARD] = {d_do_discard, 1, 1, false, NULL},
    [D_DO_EXIT] = {d_do_exit, 1, 1, true, NULL},
    [D_DO_FREOPEN] = {d_do_freopen, 1, ANY, true, NULL},
    [D_DO_FTRUNCATE] = {d_do_ftruncate, 0, 0, true, NULL},
    [D_DO_FUNC] = {d_do_place, 0, ANY, true, NULL},
    [D_DO_JSTACK] = {d_do_place, 0, ANY, true, NULL},
    [D_DO_LOGSTOP] = {d_do_logstop, 0, 0, false, NULL},
    [D_DO_MOD] = {d_do_place, 0, ANY, true, NULL},
    [D_DO_NORMALIZE] = {d_do_normalize, 2, 2, true, "D_NORMALIZE_PROTO"},
    [D_DO_PANIC] = {d_do_panic, 0, 0, false, NULL},
    [D_DO_PRINT] = {d_do_print, 1, 1, true, NULL},
    [D_DO_PRINTA] = {d_do_printa, 1, ANY, true, NULL},
    [D_DO_PRINTF] = {d_do_printf, 1, ANY, true, NULL},
    [D_DO_RAISE] = {d_do_raise, 1, 1, false, NULL},
    [D_DO_SETOPT] = {d_do_setopt, 1, 2, true, NULL},
    [D_DO_SPECULATE] = {d_do_speculate, 1, 1, false, NULL},
    [D_DO_STACK] = {d_do_place, 0, ANY, true, NULL},
    [D_DO_STOP] = {d_do_stop, 0, 0, false, NULL},
    [D_DO_SYM] = {d_do_place, 0, ANY, true, NULL},
    [D_DO_SYSTEM] = {d_do_system, 1, ANY, true, NULL},
    [D_DO_TRACE] = {d_do_trace, 1, 1, true, NULL},
    [D_DO_TRACEMEM] = {d_do_tracemem, 2, 3, true, NULL},
    [D_DO_TRUNC] = {d_do_trunc, 1, 2, true, "D_TRUNC_PROTO"},
    [D_DO_UADDR] = {d_do_place, 0, ANY, true, NULL},
    [D_DO_UFUNC] = {d_do_place, 0, ANY, true, NULL},
    [D_DO_UMOD] = {d_do_place, 0, ANY, true, NULL},
    [D_DO_USTACK] = {d_do_place, 0, ANY, true, NULL},
    [D_DO_USYM] = {d_do_place, 0, ANY, true, NULL},
};

void d_action_call(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    const struct row *row = &rows[call->ident->number];

    d_action_want_count(d, call, row->least, row->most,
                        row->count_tag ? row->count_tag : "D_PROTO_LEN");
    d_action_check_args(d, call);
    d_action_check_order(d, c, call, call->ident->number, row->records);
    row->make(d, c, call);
}

void d_action_try(struct d_session *d, struct d_node *call)
{
    struct d_clause scratch = {.program = d_program_new(d)};

    d_action_call(d, &scratch, call);
}
