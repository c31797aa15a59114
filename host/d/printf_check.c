/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * printf's and printa's conversions against their arguments.
 */
#include "host/d/back.h"
#include "host/d/printf.h"

#include <string.h>

static _Noreturn void fail(struct d_session *d, const struct d_node *call, const char *tag,
                           const char *what, const struct d_conversion *c)
{
    d_fail(d, call->place, tag, "%s(): %%%s: %s", call->text, c ? c->name : "", what);
}

static bool is_char_array(const struct d_type *type)
{
    const struct d_type *t = d_type_resolve(type);

    return t->kind == D_TYPE_ARRAY && d_type_is_string_like(t);
}

/* Whether the conversion can print such a value. */
static bool prints(const struct d_conversion *c, const struct d_type *type)
{
    bool integer = d_type_is_integer(type), pointer = d_type_is_pointer(type);
    bool string = d_type_is_string(type) || is_char_array(type);

    if (c->name[0] == 'w') {
        return c->name[1] == 's' ? string : integer;
    }
    switch (c->name[0]) {
    case 's':
    case 'S':
    case 'I':
        return string;
    case 'p':
    case 'a':
    case 'A':
        return integer || (pointer && !string);
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
        return d_type_resolve(type)->kind == D_TYPE_FLOAT;
    default:
        return integer && c->name[0] != 'k';
    }
}

/* stack() and the like, as printf's arguments and as keys. */
static bool prints_place(const struct d_conversion *c, enum d_type_kind kind)
{
    if (kind == D_TYPE_STACK) {
        return c->name[0] == 'k';
    }
    return kind == D_TYPE_SYMADDR || kind == D_TYPE_USYMADDR;
}

static bool prints_argument(const struct d_conversion *c, const struct d_node *arg)
{
    if (d_type_resolve(arg->type)->kind == D_TYPE_DYNAMIC) {
        return c->name[0] == 'k' && d_is_place_call(arg);
    }
    return prints(c, arg->type);
}

static struct d_node *take_dynamic(struct d_session *d, const struct d_node *call,
                                   const struct d_conversion *c, struct d_node *arg)
{
    if (!arg) {
        fail(d, call, "D_PRINTF_DYN_PROTO", "* has no argument", c);
    }
    if (!d_type_is_integer(arg->type)) {
        fail(d, call, "D_PRINTF_DYN_TYPE", "* wants an integer", c);
    }
    return arg->next;
}

static struct d_node *take_value(struct d_session *d, const struct d_node *call,
                                 const struct d_conversion *c, struct d_node *arg)
{
    if (c->flags & D_CONV_DYNWIDTH) {
        arg = take_dynamic(d, call, c, arg);
    }
    if (c->flags & D_CONV_DYNPREC) {
        arg = take_dynamic(d, call, c, arg);
    }
    if (!arg) {
        fail(d, call, "D_PRINTF_ARG_PROTO", "has no argument", c);
    }
    if (!prints_argument(c, arg)) {
        fail(d, call, "D_PRINTF_ARG_TYPE", "the argument has another type", c);
    }
    return arg->next;
}

void d_printf_check(struct d_session *d, const struct d_node *call, struct d_printf *parsed,
                    struct d_node *args)
{
    for (unsigned i = 0; i < parsed->n; i++) {
        const struct d_conversion *c = &parsed->conversions[i];
        if (!c->name[0]) {
            continue;
        }
        if (c->flags & D_CONV_AGG) {
            fail(d, call, "D_PRINTF_AGG_CONV", "@ belongs into printa()", c);
        }
        args = take_value(d, call, c, args);
    }
    if (args) {
        d_fail(d, call->place, "D_PRINTF_ARG_EXTRA", "%s(): more arguments than conversions",
               call->text);
    }
}

/* One conversion of printa(): takes up to three keys from *i on, if there are as many. */
static void take_keys(struct d_session *d, const struct d_node *call, const struct d_conversion *c,
                      const struct d_aggregation_info *agg, unsigned *i)
{
    unsigned dynamic = !!(c->flags & D_CONV_DYNWIDTH) + !!(c->flags & D_CONV_DYNPREC);

    for (; dynamic > 0 && *i < agg->nkeys; dynamic--, (*i)++) {
        if (!d_type_is_integer(agg->keys[*i])) {
            fail(d, call, "D_PRINTF_DYN_TYPE", "* wants an integer", c);
        }
    }
    if ((c->flags & D_CONV_AGG) || *i >= agg->nkeys) {
        return;
    }
    const struct d_type *key = agg->keys[(*i)++];
    if (!prints(c, key) && !prints_place(c, d_type_resolve(key)->kind)) {
        fail(d, call, "D_PRINTF_ARG_TYPE", "the key has another type", c);
    }
}

void d_printa_check(struct d_session *d, const struct d_node *call, const struct d_printf *parsed,
                    const struct d_aggregation_info *agg)
{
    unsigned key = 0;

    for (unsigned i = 0; i < parsed->n; i++) {
        if (parsed->conversions[i].name[0]) {
            take_keys(d, call, &parsed->conversions[i], agg, &key);
        }
    }
}
