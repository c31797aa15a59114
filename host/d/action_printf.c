/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * printf() and its kin: a format, and a value for each of its conversions.
 */
#include "host/d/action.h"
#include "host/d/printf.h"

#include <string.h>

void d_action_check_text(struct d_session *d, const struct d_node *call, bool empty_ok)
{
    const struct d_node *text = call->args;

    d_action_want_type(d, call, text, text->kind == D_NODE_STRING, "D_PRINTF_ARG_FMT",
                       "string constant");
    d_action_want(d, call, text->text[0] || empty_ok, "D_PRINTF_FMT_EMPTY",
                  "format string is empty");
}

struct d_printf *d_action_parse(struct d_session *d, const struct d_node *call)
{
    const char *why = NULL;
    struct d_printf *parsed = d_printf_parse(d, call->args->text, &why);

    d_action_want(d, call, parsed != NULL, "D_SYNTAX", why ? why : "bad format");
    return parsed;
}

static void formatted(struct d_session *d, struct d_clause *c, struct d_node *call, uint16_t kind)
{
    struct d_node *args = call->args->next;
    struct d_printf *parsed = d_action_parse(d, call);
    unsigned n = d_list_length(args), i = 0;
    const struct d_type **types = d_alloc(d, (n + 1) * sizeof(*types));

    d_printf_check(d, call, parsed, args);
    for (struct d_node **arg = &args; *arg; arg = &(*arg)->next) {
        *arg = d_recorded(d, *arg);
        types[i++] = (*arg)->type;
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

void d_do_printf(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    d_action_check_text(d, call, false);
    formatted(d, c, call, D_ACT_PRINTF);
}

void d_do_system(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    d_action_destructive(d, c, call);
    d_action_check_text(d, call, false);
    formatted(d, c, call, D_ACT_SYSTEM);
}

void d_do_freopen(struct d_session *d, struct d_clause *c, struct d_node *call)
{
    d_action_destructive(d, c, call);
    d_action_check_text(d, call, true);
    d_action_want(d, call, strcmp(call->args->text, ".") != 0, "D_FREOPEN_INVALID",
                  "argument #1 cannot be \".\"");
    formatted(d, c, call, D_ACT_FREOPEN);
}
