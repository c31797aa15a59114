/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actions: each call becomes one or several actions of the image, and a format that tells the
 * consumer what they mean. A row of the table says how many arguments a call takes, of what types,
 * and who makes it.
 */
#include "host/d/action.h"
#include "host/d/back.h"
#include "host/d/printf.h"

#include <string.h>

struct d_image_action *d_action_add(struct d_session *d, struct d_clause *clause, uint16_t kind)
{
    struct d_made_action *a = d_list_add(d, &clause->program->actions, sizeof(*a));

    a->image.kind = kind;
    return &a->image;
}

/* ---- what may follow what in a clause ----------------------------------------------------------
 */

static const char *first_problem(const struct d_clause *c, enum d_action_name what, bool records)
{
    if (what == D_DO_SPECULATE) {
        return c->speculates ? "D_SPEC_SPEC"
               : c->commits  ? "D_SPEC_COMM"
               : c->records  ? "D_SPEC_DREC"
                             : NULL;
    }
    if (what == D_DO_COMMIT) {
        return c->commits ? "D_COMM_COMM" : c->records ? "D_COMM_DREC" : NULL;
    }
    if (records && c->commits) {
        return "D_DREC_COMM";
    }
    return what == D_DO_EXIT && c->speculates ? "D_EXIT_SPEC" : NULL;
}

static void check_order(struct d_session *d, struct d_clause *c, const struct d_node *call,
                        enum d_action_name what, bool records)
{
    const char *problem = first_problem(c, what, records);

    if (problem) {
        d_fail(d, call->place, problem, "%s() may not follow what this clause did before",
               call->text);
    }
    c->records |= records;
    c->speculates |= what == D_DO_SPECULATE;
    c->commits |= what == D_DO_COMMIT;
    c->exits |= what == D_DO_EXIT;
}

static void check_not_speculative(struct d_session *d, const struct d_clause *c,
                                  const struct d_node *call)
{
    if (c->speculates) {
        d_fail(d, call->place, "D_ACT_SPEC", "%s() may not follow speculate()", call->text);
    }
}

static void check_destructive(struct d_session *d, struct d_clause *c, const struct d_node *call)
{
    check_not_speculative(d, c, call);
    c->destructive = true;
}

/* ---- arguments ---------------------------------------------------------------------------------
 */

static void check_args(struct d_session *d, struct d_node *call)
{
    for (struct d_node *arg = call->args; arg; arg = arg->next) {
        d_check_expression(d, arg);
    }
}

static void want(struct d_session *d, const struct d_node *call, bool ok, const char *tag,
                 const char *what)
{
    if (!ok) {
        d_fail(d, call->place, tag, "%s(): %s", call->text, what);
    }
}

static void want_count(struct d_session *d, const struct d_node *call, unsigned least,
                       unsigned most, const char *tag)
{
    unsigned n = d_list_length(call->args);

    want(d, call, n >= least && n <= most, tag, "wrong number of arguments");
}

static bool is_address(const struct d_node *n)
{
    return d_type_is_pointer(n->type) || d_type_is_integer(n->type);
}

static uint32_t simple_format(struct d_session *d, enum d_action_kind kind, uint64_t arg,
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

static void action_object(struct d_session *d, struct d_clause *c, uint16_t kind, struct d_node *n)
{
    uint32_t object = d_object_make(d, c->program, n, false);

    d_action_add(d, c, kind)->object = object;
}

/* ---- stack(), sym() and the like: also keys of aggregations ------------------------------------
 */

static const struct place_action {
    enum d_action_name name;
    uint16_t kind;
} place_actions[] = {
    {D_DO_STACK, D_ACT_STACK}, {D_DO_USTACK, D_ACT_USTACK}, {D_DO_JSTACK, D_ACT_JSTACK},
    {D_DO_SYM, D_ACT_SYM},     {D_DO_FUNC, D_ACT_SYM},      {D_DO_MOD, D_ACT_MOD},
    {D_DO_USYM, D_ACT_USYM},   {D_DO_UFUNC, D_ACT_USYM},    {D_DO_UMOD, D_ACT_UMOD},
    {D_DO_UADDR, D_ACT_UADDR},
};

static uint16_t place_kind(uint32_t name)
{
    for (size_t i = 0; i < sizeof(place_actions) / sizeof(*place_actions); i++) {
        if (place_actions[i].name == name) {
            return place_actions[i].kind;
        }
    }
    return D_ACT_NONE;
}

bool d_is_place_call(const struct d_node *n)
{
    return n->kind == D_NODE_CALL && n->ident && n->ident->kind == D_IDENT_ACTION &&
           place_kind(n->ident->number) != D_ACT_NONE;
}

const struct d_type *d_place_type(struct d_session *d, const struct d_node *call)
{
    switch (place_kind(call->ident->number)) {
    case D_ACT_STACK:
    case D_ACT_USTACK:
    case D_ACT_JSTACK:
        return d_type_basic(d, D_BASIC_STACK);
    case D_ACT_SYM:
    case D_ACT_MOD:
        return d_type_basic(d, D_BASIC_SYMADDR);
    default:
        return d_type_basic(d, D_BASIC_USYMADDR);
    }
}

static uint64_t positive_constant(struct d_session *d, const struct d_node *call,
                                  const struct d_node *arg, const char *tag, bool zero_ok)
{
    bool ok = arg->kind == D_NODE_INT && d_type_is_integer(arg->type) &&
              (int64_t)arg->value >= !zero_ok && arg->value <= INT32_MAX;

    want(d, call, ok, tag, "a positive constant is wanted");
    return arg->value;
}

static uint64_t frames_of(struct d_session *d, const struct d_node *call, const char *tag,
                          const char *option)
{
    return call->args ? positive_constant(d, call, call->args, tag, false) : d_option(d, option);
}

static void action_stack(struct d_session *d, struct d_clause *c, struct d_node *call,
                         uint32_t format)
{
    bool user = call->ident->number != D_DO_STACK, java = call->ident->number == D_DO_JSTACK;
    uint64_t arg;

    want_count(d, call, 0, user ? 2 : 1, user ? "D_USTACK_PROTO" : "D_STACK_PROTO");
    check_args(d, call);
    arg = frames_of(d, call, user ? "D_USTACK_FRAMES" : "D_STACK_SIZE",
                    java   ? "jstackframes"
                    : user ? "ustackframes"
                           : "stackframes");
    if (call->args && call->args->next) {
        arg |= positive_constant(d, call, call->args->next, "D_USTACK_STRSIZE", true) << 32;
    } else if (java) {
        arg |= d_option(d, "jstackstrsize") << 32;
    }
    struct d_image_action *a = d_action_add(d, c, place_kind(call->ident->number));
    a->arg = arg;
    a->format = format;
}

bool d_action_place(struct d_session *d, struct d_clause *c, struct d_node *call, uint32_t format)
{
    if (!d_is_place_call(call)) {
        return false;
    }
    uint16_t kind = place_kind(call->ident->number);
    if (kind == D_ACT_STACK || kind == D_ACT_USTACK || kind == D_ACT_JSTACK) {
        action_stack(d, c, call, format);
        return true;
    }
    want_count(d, call, 1, 1, "D_PROTO_LEN");
    check_args(d, call);
    want(d, call, is_address(call->args), "D_PROTO_ARG", "an address is wanted");
    uint32_t object = d_object_make(d, c->program, call->args, false);
    struct d_image_action *a = d_action_add(d, c, kind);
    a->object = object;
    a->format = format;
    return true;
}

static void do_place(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    d_action_place(d, c, call, simple_format(d, place_kind(call->ident->number), 0, NULL));
}

/* ---- recording ---------------------------------------------------------------------------------
 */

static void do_trace(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    struct d_node *arg = call->args;
    enum d_type_kind kind = d_type_resolve(arg->type)->kind;

    bool is_void = kind == D_TYPE_VOID ||
                   (arg->kind == D_NODE_CALL && kind == D_TYPE_DYNAMIC && !d_is_place_call(arg));

    want(d, call, !is_void, "D_TRACE_VOID", "void can't be traced");
    want(d, call, kind != D_TYPE_DYNAMIC, "D_PROTO_ARG", "an aggregation or action has no value");
    d_action_datum(d, c, arg, simple_format(d, D_ACT_DIFEXPR, 0, arg));
}

static void do_print(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    struct d_node *arg = call->args;
    enum d_type_kind kind = d_type_resolve(arg->type)->kind;

    want(d, call, kind != D_TYPE_VOID, "D_TRACE_VOID", "void can't be printed");
    want(d, call, kind != D_TYPE_DYNAMIC, "D_PROTO_ARG", "an aggregation or action has no value");
    uint32_t format = simple_format(d, D_ACT_LIBACT, D_LIBACT_PRINT, arg);
    struct d_image_action *a = d_action_add(d, c, D_ACT_LIBACT);
    a->arg = D_LIBACT_PRINT;
    a->format = format;
    d_action_datum(d, c, arg, format);
}

static void do_tracemem(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    struct d_node *size = call->args->next, *dynamic = size->next;

    want(d, call, is_address(call->args), "D_PROTO_ARG", "an address is wanted");
    uint64_t bytes = positive_constant(d, call, size, "D_TRACEMEM_SIZE", false);
    want(d, call, !dynamic || d_type_is_integer(dynamic->type), "D_PROTO_ARG",
         "the size must be an integer");
    uint16_t kind = dynamic ? D_ACT_TRACEMEM_DYNSIZE : D_ACT_TRACEMEM;
    uint32_t format = simple_format(d, kind, bytes, NULL);
    uint32_t object = d_object_make(d, c->program, call->args, false);
    struct d_image_action *a = d_action_add(d, c, kind);
    a->object = object;
    a->arg = bytes;
    a->format = format;
    if (dynamic) {
        dynamic = d_node_cast(d, dynamic, d_type_basic(d, D_BASIC_INT64));
        d_check_expression(d, dynamic);
        d_action_datum(d, c, dynamic, format);
    }
}

static void do_exit(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    struct d_node *status = d_node_cast(d, call->args, d_type_basic(d, D_BASIC_INT));

    want(d, call, d_type_is_integer(call->args->type), "D_PROTO_ARG", "an integer is wanted");
    d_check_expression(d, status);
    uint32_t object = d_object_make(d, c->program, status, false);
    struct d_image_action *a = d_action_add(d, c, D_ACT_EXIT);
    a->object = object;
    a->format = simple_format(d, D_ACT_EXIT, 0, status);
}

/* ---- printf and its kin ------------------------------------------------------------------------
 */

static void check_format_text(struct d_session *d, const struct d_node *call, bool empty_ok)
{
    const struct d_node *text = call->args;

    want(d, call, text->kind == D_NODE_STRING, "D_PRINTF_ARG_FMT",
         "the format must be a string constant");
    want(d, call, text->text[0] || empty_ok, "D_PRINTF_FMT_EMPTY", "the format is empty");
}

static struct d_printf *parse_format(struct d_session *d, const struct d_node *call)
{
    const char *why = NULL;
    struct d_printf *parsed = d_printf_parse(d, call->args->text, &why);

    want(d, call, parsed != NULL, "D_SYNTAX", why ? why : "bad format");
    return parsed;
}

static void formatted(struct d_session *d, struct d_clause *c, struct d_node *call, uint16_t kind)
{
    struct d_node *args = call->args->next;
    struct d_printf *parsed = parse_format(d, call);
    unsigned n = d_list_length(args), i = 0;
    const struct d_type **types = d_alloc(d, (n + 1) * sizeof(*types));

    d_printf_check(d, call, parsed, args);
    for (struct d_node *arg = args; arg; arg = arg->next) {
        types[i++] = arg->type;
    }
    struct d_format f = {
        .kind = kind, .text = call->args->text, .parsed = parsed, .types = types, .ntypes = n};
    uint32_t format = d_format_add(d, &f);
    d_action_add(d, c, kind)->format = format;
    for (struct d_node *arg = args; arg; arg = arg->next) {
        if (!d_action_place(d, c, arg, format)) {
            d_action_datum(d, c, arg, format);
        }
    }
}

static void do_printf(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    check_format_text(d, call, false);
    formatted(d, c, call, D_ACT_PRINTF);
}

static void do_system(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    check_destructive(d, c, call);
    check_format_text(d, call, false);
    formatted(d, c, call, D_ACT_SYSTEM);
}

static void do_freopen(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    check_destructive(d, c, call);
    check_format_text(d, call, true);
    want(d, call, strcmp(call->args->text, ".") != 0, "D_FREOPEN_INVALID",
         "\".\" can't be written");
    formatted(d, c, call, D_ACT_FREOPEN);
}

/* ---- aggregations ------------------------------------------------------------------------------
 */

static const struct d_aggregation_info *agg_of(struct d_session *d, const struct d_node *call,
                                               const struct d_node *arg, const char *tag)
{
    want(d, call, arg && arg->kind == D_NODE_AGG, tag, "an aggregation is wanted");
    return d_agg_lookup(d, arg)->aggregation;
}

static bool same_keys(struct d_session *d, const struct d_node *call,
                      const struct d_aggregation_info *a, const struct d_aggregation_info *b)
{
    want(d, call, a->nkeys == b->nkeys, "D_PRINTA_AGGKEY",
         "the aggregations have different numbers of keys");
    for (unsigned i = 0; i < a->nkeys; i++) {
        const struct d_type *x = d_type_resolve(a->keys[i]), *y = d_type_resolve(b->keys[i]);
        if (x->kind != y->kind || x->size != y->size) {
            return false;
        }
    }
    return true;
}

static void do_printa(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    struct d_node *aggs = call->args;
    struct d_format f = {.kind = D_ACT_PRINTA};
    bool formatted_text = d_node_is_string(aggs);

    if (formatted_text) {
        check_format_text(d, call, false);
        f.text = aggs->text;
        f.parsed = parse_format(d, call);
        aggs = aggs->next;
        want(d, call, aggs != NULL, "D_PRINTA_PROTO", "an aggregation is wanted");
    }
    uint32_t *numbers = d_alloc(d, d_list_length(aggs) * sizeof(*numbers));
    const struct d_aggregation_info *first = agg_of(d, call, aggs, "D_PRINTA_AGGARG");
    for (struct d_node *arg = aggs; arg; arg = arg->next) {
        const struct d_aggregation_info *a = agg_of(d, call, arg, "D_PRINTA_AGGARG");
        want(d, call, same_keys(d, call, first, a), "D_PRINTA_AGGPROTO",
             "the aggregations have keys of different types");
        numbers[f.naggregations++] = d_agg_lookup(d, arg)->number;
    }
    f.aggregations = numbers;
    if (f.parsed) {
        d_printa_check(d, call, f.parsed, first);
    }
    d_action_add(d, c, D_ACT_PRINTA)->format = d_format_add(d, &f);
}

static void libact(struct d_session *d, struct d_clause *c, enum d_libact what,
                   const struct d_node *agg, struct d_node *value)
{
    uint32_t *number = d_alloc(d, sizeof(*number));
    struct d_format f = {.kind = D_ACT_LIBACT, .arg = what};

    if (agg) {
        *number = d_agg_lookup(d, agg)->number;
        f.aggregations = number;
        f.naggregations = 1;
    }
    uint32_t format = d_format_add(d, &f);
    struct d_image_action *a = d_action_add(d, c, D_ACT_LIBACT);
    a->arg = what;
    a->format = format;
    for (; value; value = value->next) {
        d_action_datum(d, c, value, format);
    }
}

static void agg_action(struct d_session *d, struct d_clause *c, struct d_node *call,
                       enum d_libact what, const char *aggarg, const char *scalar)
{
    struct d_node *value = call->args->next;

    agg_of(d, call, call->args, aggarg);
    if (value) {
        want(d, call, d_type_is_scalar(value->type), scalar, "a number is wanted");
        value = d_node_cast(d, value, d_type_basic(d, D_BASIC_INT64));
        d_check_expression(d, value);
    }
    libact(d, c, what, call->args, value);
}

static void do_clear(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    agg_action(d, c, call, D_LIBACT_CLEAR, "D_CLEAR_AGGARG", "");
}

static void do_trunc(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    agg_action(d, c, call, D_LIBACT_TRUNC, "D_TRUNC_AGGARG", "D_TRUNC_SCALAR");
}

static void do_normalize(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    agg_action(d, c, call, D_LIBACT_NORMALIZE, "D_NORMALIZE_AGGARG", "D_NORMALIZE_SCALAR");
}

static void do_denormalize(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    agg_action(d, c, call, D_LIBACT_DENORMALIZE, "D_NORMALIZE_AGGARG", "");
}

static void do_setopt(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    for (const struct d_node *arg = call->args; arg; arg = arg->next) {
        want(d, call, d_node_is_string(arg), "D_PROTO_ARG", "strings are wanted");
    }
    libact(d, c, D_LIBACT_SETOPT, NULL, call->args);
}

static void do_ftruncate(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    (void)call;
    libact(d, c, D_LIBACT_FTRUNCATE, NULL, NULL);
}

/* ---- on speculations and the system ------------------------------------------------------------
 */

static void with_integer(struct d_session *d, struct d_clause *c, struct d_node *call,
                         uint16_t kind)
{
    want(d, call, d_type_is_integer(call->args->type), "D_PROTO_ARG", "an integer is wanted");
    action_object(d, c, kind, call->args);
}

static void do_speculate(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    with_integer(d, c, call, D_ACT_SPECULATE);
}

static void do_commit(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    with_integer(d, c, call, D_ACT_COMMIT);
}

static void do_discard(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    with_integer(d, c, call, D_ACT_DISCARD);
}

static void do_raise(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    check_destructive(d, c, call);
    with_integer(d, c, call, D_ACT_RAISE);
}

static void do_chill(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    check_destructive(d, c, call);
    with_integer(d, c, call, D_ACT_CHILL);
}

static void do_stop(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    check_destructive(d, c, call);
    d_action_add(d, c, D_ACT_STOP);
}

static void do_panic(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    check_destructive(d, c, call);
    d_action_add(d, c, D_ACT_PANIC);
}

static void do_breakpoint(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    check_destructive(d, c, call);
    d_action_add(d, c, D_ACT_BREAKPOINT);
}

/* Not destructive: it ends a recording, as exit() does, and no more. */
static void do_logstop(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    check_not_speculative(d, c, call);
    d_action_add(d, c, D_ACT_LOGSTOP);
}

enum { ANY = 1000 };

static const struct row {
    void (*make)(struct d_session *, struct d_clause *, struct d_node *);
    uint16_t least, most;
    bool records;
    const char *count_tag; /* NULL: D_PROTO_LEN */
} rows[] = {
    [D_DO_BREAKPOINT] = {do_breakpoint, 0, 0, false, NULL},
    [D_DO_CHILL] = {do_chill, 1, 1, false, NULL},
    [D_DO_CLEAR] = {do_clear, 1, 1, true, "D_CLEAR_PROTO"},
    [D_DO_COMMIT] = {do_commit, 1, 1, false, NULL},
    [D_DO_DENORMALIZE] = {do_denormalize, 1, 1, true, "D_NORMALIZE_PROTO"},
    [D_DO_DISCARD] = {do_discard, 1, 1, false, NULL},
    [D_DO_EXIT] = {do_exit, 1, 1, true, NULL},
    [D_DO_FREOPEN] = {do_freopen, 1, ANY, true, NULL},
    [D_DO_FTRUNCATE] = {do_ftruncate, 0, 0, true, NULL},
    [D_DO_FUNC] = {do_place, 0, ANY, true, NULL},
    [D_DO_JSTACK] = {do_place, 0, ANY, true, NULL},
    [D_DO_LOGSTOP] = {do_logstop, 0, 0, false, NULL},
    [D_DO_MOD] = {do_place, 0, ANY, true, NULL},
    [D_DO_NORMALIZE] = {do_normalize, 2, 2, true, "D_NORMALIZE_PROTO"},
    [D_DO_PANIC] = {do_panic, 0, 0, false, NULL},
    [D_DO_PRINT] = {do_print, 1, 1, true, NULL},
    [D_DO_PRINTA] = {do_printa, 1, ANY, true, NULL},
    [D_DO_PRINTF] = {do_printf, 1, ANY, true, NULL},
    [D_DO_RAISE] = {do_raise, 1, 1, false, NULL},
    [D_DO_SETOPT] = {do_setopt, 1, 2, true, NULL},
    [D_DO_SPECULATE] = {do_speculate, 1, 1, false, NULL},
    [D_DO_STACK] = {do_place, 0, ANY, true, NULL},
    [D_DO_STOP] = {do_stop, 0, 0, false, NULL},
    [D_DO_SYM] = {do_place, 0, ANY, true, NULL},
    [D_DO_SYSTEM] = {do_system, 1, ANY, true, NULL},
    [D_DO_TRACE] = {do_trace, 1, 1, true, NULL},
    [D_DO_TRACEMEM] = {do_tracemem, 2, 3, true, NULL},
    [D_DO_TRUNC] = {do_trunc, 1, 2, true, "D_TRUNC_PROTO"},
    [D_DO_UADDR] = {do_place, 0, ANY, true, NULL},
    [D_DO_UFUNC] = {do_place, 0, ANY, true, NULL},
    [D_DO_UMOD] = {do_place, 0, ANY, true, NULL},
    [D_DO_USTACK] = {do_place, 0, ANY, true, NULL},
    [D_DO_USYM] = {do_place, 0, ANY, true, NULL},
};

void d_action_call(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    const struct row *row = &rows[call->ident->number];

    want_count(d, call, row->least, row->most, row->count_tag ? row->count_tag : "D_PROTO_LEN");
    check_args(d, call);
    check_order(d, c, call, call->ident->number, row->records);
    row->make(d, c, call);
}

void d_action_try(struct d_session *d, struct d_node *call)
{
    struct d_clause scratch = {.program = d_program_new(d)};

    d_action_call(d, &scratch, call);
}
