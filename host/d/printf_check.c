/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * printf's and printa's conversions against their arguments.
 */
#include "host/d/back.h"
#include "host/d/printf.h"

#include <string.h>

/* "conversion #1 (%d)" */
static const char *conversion_text(struct d_session *d, const struct d_printf *parsed,
                                   const struct d_conversion *c)
{
    unsigned number = 1;

    for (const struct d_conversion *x = parsed->conversions; x < c; x++) {
        number += x->name[0] != '\0';
    }
    return d_sprintf(d, "conversion #%u (%%%s)", number, c->name);
}

/* number: of the argument, the format being the first. */
static _Noreturn void mismatch(struct d_session *d, const struct d_node *call, const char *tag,
                               const char *prototype, const char *conversion, unsigned number,
                               const char *type)
{
    d_fail(d, call->place, tag,
           "%s( ) argument #%u is incompatible with %s prototype:\n"
           "\tprototype: %s\n\t argument: %s",
           call->text, number, conversion, prototype, type);
}

/* What a conversion prints. */
static const char *prototype_text(const struct d_conversion *c)
{
    switch (c->name[0] == 'w' ? c->name[1] : c->name[0]) {
    case 's':
    case 'S':
    case 'I':
        return "char [] or string (or use stringof)";
    case 'p':
    case 'a':
    case 'A':
        return "pointer or integer";
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
        return "float, double, or long double";
    case 'k':
        return "stack or ustack";
    default:
        return "char, short, int, long, or long long";
    }
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
    case 's': /* of an enum: its enumerator's name */
        return string || d_type_resolve(type)->kind == D_TYPE_ENUM;
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

static _Noreturn void missing(struct d_session *d, const struct d_node *call, const char *tag,
                              const char *conversion, const char *what)
{
    d_fail(d, call->place, tag,
           "%s( ) prototype mismatch: %s is missing a corresponding %s argument", call->text,
           conversion, what);
}

/* The number of an argument of the call: the format is the first. */
static unsigned number_of(const struct d_node *call, const struct d_node *arg)
{
    return d_list_length(call->args) - d_list_length(arg) + 1;
}

static struct d_node *take_dynamic(struct d_session *d, const struct d_node *call,
                                   const char *conversion, struct d_node *arg, const char *what)
{
    if (!arg) {
        missing(d, call, "D_PRINTF_DYN_PROTO", conversion, what);
    }
    if (!d_type_is_integer(arg->type)) {
        mismatch(d, call, "D_PRINTF_DYN_TYPE", "int", conversion, number_of(call, arg),
                 d_value_text(d, arg));
    }
    return arg->next;
}

static struct d_node *take_value(struct d_session *d, const struct d_node *call,
                                 const struct d_printf *parsed, const struct d_conversion *c,
                                 struct d_node *arg)
{
    const char *conversion = conversion_text(d, parsed, c);

    if (c->flags & D_CONV_DYNWIDTH) {
        arg = take_dynamic(d, call, conversion, arg, "\"width\"");
    }
    if (c->flags & D_CONV_DYNPREC) {
        arg = take_dynamic(d, call, conversion, arg, "\"prec\"");
    }
    if (!arg) {
        missing(d, call, "D_PRINTF_ARG_PROTO", conversion, "value");
    }
    if (!prints_argument(c, arg)) {
        mismatch(d, call, "D_PRINTF_ARG_TYPE", prototype_text(c), conversion, number_of(call, arg),
                 d_value_text(d, arg));
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
            d_fail(d, call->place, "D_PRINTF_AGG_CONV", "%s( ) %s is only for use with printa( )",
                   call->text, conversion_text(d, parsed, c));
        }
        args = take_value(d, call, parsed, c, args);
    }
    if (args) {
        d_fail(d, call->place, "D_PRINTF_ARG_EXTRA",
               "%s( ) prototype mismatch: only %u arguments required by this format string",
               call->text, number_of(call, args) - 1);
    }
}

/* One conversion of printa(): takes up to three keys from *i on, if there are as many. */
static void take_keys(struct d_session *d, const struct d_node *call, const struct d_printf *parsed,
                      const struct d_conversion *c, const struct d_aggregation_info *agg,
                      unsigned *i)
{
    unsigned dynamic = !!(c->flags & D_CONV_DYNWIDTH) + !!(c->flags & D_CONV_DYNPREC);

    for (; dynamic > 0 && *i < agg->nkeys; dynamic--, (*i)++) {
        if (!d_type_is_integer(agg->keys[*i])) {
            mismatch(d, call, "D_PRINTF_DYN_TYPE", "int", conversion_text(d, parsed, c), *i + 1,
                     d_type_full_text(d, agg->keys[*i]));
        }
    }
    if ((c->flags & D_CONV_AGG) || *i >= agg->nkeys) {
        return;
    }
    const struct d_type *key = agg->keys[(*i)++];
    if (!prints(c, key) && !prints_place(c, d_type_resolve(key)->kind)) {
        mismatch(d, call, "D_PRINTF_ARG_TYPE", prototype_text(c), conversion_text(d, parsed, c), *i,
                 d_type_full_text(d, key));
    }
}

void d_printa_check(struct d_session *d, const struct d_node *call, const struct d_printf *parsed,
                    const struct d_aggregation_info *agg)
{
    unsigned key = 0;

    for (unsigned i = 0; i < parsed->n; i++) {
        if (parsed->conversions[i].name[0]) {
            take_keys(d, call, parsed, &parsed->conversions[i], agg, &key);
        }
    }
}
