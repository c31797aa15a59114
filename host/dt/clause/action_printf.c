/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * printf() and its kin: a format, and a value for each of its conversions.
 */
#include "host/dt/check/check.h"
#include "host/dt/clause/action.h"
#include "host/dt/code/object.h"

#include <string.h>

void dt_action_check_text(struct dt_session *d, const struct dt_node *call, bool empty_ok)
{
    const struct dt_node *text = call->args;

    dt_action_want_type(d, call, text, text->kind == DT_NODE_STRING, "D_PRINTF_ARG_FMT",
                        "string constant");
    dt_action_want(d, call, text->text[0] || empty_ok, "D_PRINTF_FMT_EMPTY",
                   "format string is empty");
}

struct dt_printf *dt_action_parse(struct dt_session *d, const struct dt_node *call)
{
    const char *why = NULL;
    struct dt_printf *parsed = dt_printf_parse(d, call->args->text, &why);

    dt_action_want(d, call, parsed != NULL, "D_SYNTAX", why ? why : "bad format");
    return parsed;
}

static void formatted(struct dt_session *d, struct dt_clause *c, struct dt_node *call,
                      uint16_t kind)
{
    struct dt_node *args = call->args->next;
    struct dt_printf *parsed = dt_action_parse(d, call);
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
        if (!dt_action_place(d, c, arg, format)) {
            dt_action_datum(d, c, arg, format);
        }
    }
}

void dt_do_printf(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_check_text(d, call, false);
    formatted(d, c, call, DTRACE_ACT_PRINTF);
}

void dt_do_system(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_destructive(d, c, call);
    dt_action_check_text(d, call, false);
    formatted(d, c, call, DTRACE_ACT_SYSTEM);
}

void dt_do_freopen(struct dt_session *d, struct dt_clause *c, struct dt_node *call)
{
    dt_action_destructive(d, c, call);
    dt_action_check_text(d, call, true);
    dt_action_want(d, call, strcmp(call->args->text, ".") != 0, "D_FREOPEN_INVALID",
                   "argument #1 cannot be \".\"");
    formatted(d, c, call, DTRACE_ACT_FREOPEN);
}
