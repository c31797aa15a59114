/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of actions, except of those that record where something is (action_location.c).
 */
#include "host/dt/check/check.h"
#include "host/dt/clause/action.h"
#include "host/dt/code/object.h"

#include <string.h>

/* ---- values: trace(), print(), tracemem(), exit() ----------------------------------- */

static void action_want_value(struct dt_session *d, const struct dt_node *call, bool is_void,
                              enum dt_type_kind kind)
{
    dt_action_want(d, call, !is_void, "D_TRACE_VOID", "may not be applied to a void expression");
    dt_action_want(d, call, kind != DT_TYPE_DYNAMIC, "D_PROTO_ARG",
                   "may not be applied to a dynamic expression");
}

/* An argument that is recorded as 64 bits, whatever its type. */
static struct dt_node *action_cast_to_64(struct dt_session *d, struct dt_node *value)
{
    value = dt_node_cast(d, value, dt_type_basic(d, DT_BASIC_INT64));
    dt_check_expression(d, value);
    return value;
}

void dt_do_trace(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    struct dt_node *arg = dt_recorded(d, call->args);
    enum dt_type_kind kind = dt_type_resolve(arg->type)->kind;

    bool is_void = kind == DT_TYPE_VOID || (arg->kind == DT_NODE_CALL && kind == DT_TYPE_DYNAMIC &&
                                            !dt_is_location_call(arg));

    action_want_value(d, call, is_void, kind);
    dt_action_datum(d, c, arg, dt_action_format(d, DTRACE_ACT_DIFEXPR, 0, arg));
}

void dt_do_print(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    struct dt_node *arg = call->args;
    enum dt_type_kind kind = dt_type_resolve(arg->type)->kind;

    action_want_value(d, call, kind == DT_TYPE_VOID, kind);
    uint32_t format = dt_action_format(d, DTRACE_ACT_LIBACT, DTRACE_LIBACT_PRINT, arg);
    struct dtrace_image_action *a = dt_action_add(d, c, DTRACE_ACT_LIBACT);
    a->arg = DTRACE_LIBACT_PRINT;
    a->format = format;
    dt_action_datum(d, c, arg, format);
}

void dt_do_tracemem(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    struct dt_node *size = call->args->next, *dynamic = size->next;

    dt_action_want_type(d, call, call->args, dt_action_is_address(call->args), "D_PROTO_ARG",
                        "const void *");
    uint64_t bytes = dt_action_constant(d, call, size, "D_TRACEMEM_SIZE", false);
    if (dynamic) {
        dt_action_want_type(d, call, dynamic, dt_type_is_integer(dynamic->type), "D_PROTO_ARG",
                            "size_t");
    }
    uint16_t kind = dynamic ? DTRACE_ACT_TRACEMEM_DYNSIZE : DTRACE_ACT_TRACEMEM;
    uint32_t format = dt_action_format(d, kind, bytes, NULL);
    uint32_t object = dt_object_make(d, c->program, call->args, false);
    struct dtrace_image_action *a = dt_action_add(d, c, kind);
    a->object = object;
    a->arg = bytes;
    a->format = format;
    if (dynamic) {
        dt_action_datum(d, c, action_cast_to_64(d, dynamic), format);
    }
}

void dt_do_exit(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    struct dt_node *status = dt_node_cast(d, call->args, dt_type_basic(d, DT_BASIC_INT));

    dt_action_want_type(d, call, call->args, dt_type_is_integer(call->args->type), "D_PROTO_ARG",
                        "int");
    dt_check_expression(d, status);
    uint32_t object = dt_object_make(d, c->program, status, false);
    struct dtrace_image_action *a = dt_action_add(d, c, DTRACE_ACT_EXIT);
    a->object = object;
    a->format = dt_action_format(d, DTRACE_ACT_EXIT, 0, status);
}

/* ---- printf() and its kin: a format, and a value for each conversion ---------------- */

static void action_check_text(struct dt_session *d, const struct dt_node *call, bool empty_ok)
{
    const struct dt_node *text = call->args;

    dt_action_want_type(d, call, text, text->kind == DT_NODE_STRING, "D_PRINTF_ARG_FMT",
                        "string constant");
    dt_action_want(d, call, text->text[0] || empty_ok, "D_PRINTF_FMT_EMPTY",
                   "format string is empty");
}

static struct dt_printf *action_parse(struct dt_session *d, const struct dt_node *call)
{
    const char *why = NULL;
    struct dt_printf *parsed = dt_printf_parse(d, call->args->text, &why);

    dt_action_want(d, call, parsed != NULL, "D_SYNTAX", why ? why : "bad format");
    return parsed;
}

static void action_make_formatted(struct dt_session *d, struct dt_clause *c, struct dt_node *call,
                                  uint16_t kind)
{
    struct dt_node *args = call->args->next;
    struct dt_printf *parsed = action_parse(d, call);
    unsigned n = dt_list_length(args), i = 0;
    const struct dt_type **types = dt_alloc(d, (n + 1) * sizeof(*types));

    dt_printf_check(d, call, parsed, args);
    for (struct dt_node **arg = &args; *arg; arg = &(*arg)->next) {
        *arg = dt_recorded(d, *arg);
        types[i++] = (*arg)->type;
    }
    struct dt_format f = {
        .kind = kind, .text = call->args->text, .parsed = parsed, .types = types, .ntypes = n};
    uint32_t format = dt_format_add(d, &f);
    dt_action_add(d, c, kind)->format = format;
    for (struct dt_node *arg = args; arg; arg = arg->next) {
        if (!dt_action_location(d, c, arg, format)) {
            dt_action_datum(d, c, arg, format);
        }
    }
}

void dt_do_printf(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    action_check_text(d, call, false);
    action_make_formatted(d, c, call, DTRACE_ACT_PRINTF);
}

void dt_do_system(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_destructive(d, c, call);
    action_check_text(d, call, false);
    action_make_formatted(d, c, call, DTRACE_ACT_SYSTEM);
}

void dt_do_freopen(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_destructive(d, c, call);
    action_check_text(d, call, true);
    dt_action_want(d, call, strcmp(call->args->text, ".") != 0, "D_FREOPEN_INVALID",
                   "argument #1 cannot be \".\"");
    action_make_formatted(d, c, call, DTRACE_ACT_FREOPEN);
}

/* ---- what only the consumer does: printa(), setopt() and the like ------------------- */

static const struct dt_aggregation_info *agg_of(struct dt_session *d, const struct dt_node *call,
                                                const struct dt_node *arg, const char *tag)
{
    dt_action_want_type(d, call, arg, arg->kind == DT_NODE_AGG, tag, "aggregation");
    return dt_agg_lookup(d, arg)->aggregation;
}

static bool action_check_keys(struct dt_session *d, const struct dt_node *call,
                              const struct dt_aggregation_info *a,
                              const struct dt_aggregation_info *b)
{
    dt_action_want(d, call, a->nkeys == b->nkeys, "D_PRINTA_AGGKEY",
                   "aggregations have different numbers of keys");
    for (unsigned i = 0; i < a->nkeys; i++) {
        const struct dt_type *x = dt_type_resolve(a->keys[i]), *y = dt_type_resolve(b->keys[i]);
        if (x->kind != y->kind || x->size != y->size) {
            return false;
        }
    }
    return true;
}

void dt_do_printa(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    struct dt_node *aggs = call->args;
    struct dt_format f = {.kind = DTRACE_ACT_PRINTA};
    bool formatted_text = dt_node_is_string(aggs);

    if (formatted_text) {
        action_check_text(d, call, false);
        f.text = aggs->text;
        f.parsed = action_parse(d, call);
        aggs = aggs->next;
        dt_action_want(d, call, aggs != NULL, "D_PRINTA_PROTO",
                       "prototype mismatch: only 1 arg passed, aggregation expected");
    }
    uint32_t *numbers = dt_alloc(d, dt_list_length(aggs) * sizeof(*numbers));
    const struct dt_aggregation_info *first = agg_of(d, call, aggs, "D_PRINTA_AGGARG");
    for (struct dt_node *arg = aggs; arg; arg = arg->next) {
        const struct dt_aggregation_info *a = agg_of(d, call, arg, "D_PRINTA_AGGARG");
        dt_action_want(d, call, action_check_keys(d, call, first, a), "D_PRINTA_AGGPROTO",
                       "aggregations have keys of different types");
        numbers[f.naggregations++] = dt_agg_lookup(d, arg)->number;
    }
    f.aggregations = numbers;
    if (f.parsed) {
        dt_printa_check(d, call, f.parsed, first);
    }
    dt_action_add(d, c, DTRACE_ACT_PRINTA)->format = dt_format_add(d, &f);
}

static void action_make_libact(struct dt_session *d, struct dt_clause *c, enum dtrace_libact what,
                               const struct dt_node *agg, struct dt_node *value)
{
    uint32_t *number = dt_alloc(d, sizeof(*number));
    struct dt_format f = {.kind = DTRACE_ACT_LIBACT, .arg = what};

    if (agg) {
        *number = dt_agg_lookup(d, agg)->number;
        f.aggregations = number;
        f.naggregations = 1;
    }
    uint32_t format = dt_format_add(d, &f);
    struct dtrace_image_action *a = dt_action_add(d, c, DTRACE_ACT_LIBACT);
    a->arg = what;
    a->format = format;
    for (; value; value = value->next) {
        dt_action_datum(d, c, value, format);
    }
}

static void agg_action(struct dt_session *d, struct dt_clause *c, struct dt_node *call,
                       enum dtrace_libact what, const char *aggarg, const char *scalar)
{
    struct dt_node *value = call->args->next;

    agg_of(d, call, call->args, aggarg);
    if (value) {
        dt_action_want(d, call, dt_type_is_scalar(value->type), scalar,
                       "argument #2 must be of scalar type");
        value = action_cast_to_64(d, value);
    }
    action_make_libact(d, c, what, call->args, value);
}

void dt_do_clear(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    agg_action(d, c, call, DTRACE_LIBACT_CLEAR, "D_CLEAR_AGGARG", "");
}

void dt_do_trunc(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    agg_action(d, c, call, DTRACE_LIBACT_TRUNC, "D_TRUNC_AGGARG", "D_TRUNC_SCALAR");
}

void dt_do_normalize(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    agg_action(d, c, call, DTRACE_LIBACT_NORMALIZE, "D_NORMALIZE_AGGARG", "D_NORMALIZE_SCALAR");
}

void dt_do_denormalize(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    agg_action(d, c, call, DTRACE_LIBACT_DENORMALIZE, "D_NORMALIZE_AGGARG", "");
}

void dt_do_setopt(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    for (const struct dt_node *arg = call->args; arg; arg = arg->next) {
        dt_action_want_type(d, call, arg, dt_node_is_string(arg), "D_PROTO_ARG", "const char *");
    }
    action_make_libact(d, c, DTRACE_LIBACT_SETOPT, NULL, call->args);
}

void dt_do_ftruncate(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    (void)call;
    action_make_libact(d, c, DTRACE_LIBACT_FTRUNCATE, NULL, NULL);
}

/* ---- effects where the probe fires: speculations, the system ------------------------ */

static void with_integer(struct dt_session *d, struct dt_clause *c, struct dt_node *call,
                         uint16_t kind)
{
    dt_action_want_type(d, call, call->args, dt_type_is_integer(call->args->type), "D_PROTO_ARG",
                        "int");
    uint32_t object = dt_object_make(d, c->program, call->args, false);

    dt_action_add(d, c, kind)->object = object;
}

void dt_do_speculate(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    with_integer(d, c, call, DTRACE_ACT_SPECULATE);
}

void dt_do_commit(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    with_integer(d, c, call, DTRACE_ACT_COMMIT);
}

void dt_do_discard(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    with_integer(d, c, call, DTRACE_ACT_DISCARD);
}

void dt_do_raise(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_destructive(d, c, call);
    with_integer(d, c, call, DTRACE_ACT_RAISE);
}

void dt_do_chill(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_destructive(d, c, call);
    with_integer(d, c, call, DTRACE_ACT_CHILL);
}

void dt_do_stop(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_destructive(d, c, call);
    dt_action_add(d, c, DTRACE_ACT_STOP);
}

void dt_do_panic(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_destructive(d, c, call);
    dt_action_add(d, c, DTRACE_ACT_PANIC);
}

void dt_do_breakpoint(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_destructive(d, c, call);
    dt_action_add(d, c, DTRACE_ACT_BREAKPOINT);
}

/* Not destructive: it ends a recording, as exit() does, and no more. */
void dt_do_logstop(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_not_speculative(d, c, call);
    dt_action_add(d, c, DTRACE_ACT_LOGSTOP);
}
