/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * printf's and printa's conversions against their arguments.
 */
#include "host/dt/check/wording.h"
#include "host/dt/clause/clause.h"

#include <string.h>

/* "conversion #1 (%d)" */
static const char *conversion_text(struct dt_session *d, const struct dt_printf *parsed,
                                   const struct dt_conversion *c)
{
    unsigned number = 1;

    for (const struct dt_conversion *x = parsed->conversions; x < c; x++) {
        number += x->name[0] != '\0';
    }
    return dt_sprintf(d, "conversion #%u (%%%s)", number, c->name);
}

/* number: of the argument, the format being the first. */
static _Noreturn void printf_check_report_mismatch(struct dt_session *d, const struct dt_node *call,
                                                   const char *tag, const char *prototype,
                                                   const char *conversion, unsigned number,
                                                   const char *type)
{
    dt_fail(d, call->location, tag,
            "%s( ) argument #%u is incompatible with %s prototype:\n"
            "\tprototype: %s\n\t argument: %s",
            call->text, number, conversion, prototype, type);
}

/* Returns the type that a conversion prints. */
static const char *prototype_text(const struct dt_conversion *c)
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

/* Whether the conversion can print such a value. */
static bool printf_check_can_print(const struct dt_conversion *c, const struct dt_type *type)
{
    bool integer = dt_type_is_integer(type), pointer = dt_type_is_pointer(type);
    const struct dt_type *t = dt_type_resolve(type);
    bool string =
        dt_type_is_string(type) || (t->kind == DT_TYPE_ARRAY && dt_type_is_string_like(t));

    if (c->name[0] == 'w') {
        return c->name[1] == 's' ? string : integer;
    }
    switch (c->name[0]) {
    case 's': /* of an enum: its enumerator's name */
        return string || dt_type_resolve(type)->kind == DT_TYPE_ENUM;
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
        return dt_type_resolve(type)->kind == DT_TYPE_FLOAT;
    default:
        return integer && c->name[0] != 'k';
    }
}

static _Noreturn void printf_check_report_missing(struct dt_session *d, const struct dt_node *call,
                                                  const char *tag, const char *conversion,
                                                  const char *what)
{
    dt_fail(d, call->location, tag,
            "%s( ) prototype mismatch: %s is missing a corresponding %s argument", call->text,
            conversion, what);
}

/* The number of an argument of the call: the format is the first. */
static unsigned printf_check_argument_number(const struct dt_node *call, const struct dt_node *arg)
{
    return dt_list_length(call->args) - dt_list_length(arg) + 1;
}

static struct dt_node *take_dynamic(struct dt_session *d, const struct dt_node *call,
                                    const char *conversion, struct dt_node *arg, const char *what)
{
    if (!arg) {
        printf_check_report_missing(d, call, "D_PRINTF_DYN_PROTO", conversion, what);
    }
    if (!dt_type_is_integer(arg->type)) {
        printf_check_report_mismatch(d, call, "D_PRINTF_DYN_TYPE", "int", conversion,
                                     printf_check_argument_number(call, arg),
                                     dt_value_text(d, arg));
    }
    return arg->next;
}

static struct dt_node *take_value(struct dt_session *d, const struct dt_node *call,
                                  const struct dt_printf *parsed, const struct dt_conversion *c,
                                  struct dt_node *arg)
{
    const char *conversion = conversion_text(d, parsed, c);

    if (c->flags & DT_CONV_DYNWIDTH) {
        arg = take_dynamic(d, call, conversion, arg, "\"width\"");
    }
    if (c->flags & DT_CONV_DYNPREC) {
        arg = take_dynamic(d, call, conversion, arg, "\"prec\"");
    }
    if (!arg) {
        printf_check_report_missing(d, call, "D_PRINTF_ARG_PROTO", conversion, "value");
    }
    bool dynamic = dt_type_resolve(arg->type)->kind == DT_TYPE_DYNAMIC;
    if (dynamic ? c->name[0] != 'k' || !dt_is_location_call(arg)
                : !printf_check_can_print(c, arg->type)) {
        printf_check_report_mismatch(d, call, "D_PRINTF_ARG_TYPE", prototype_text(c), conversion,
                                     printf_check_argument_number(call, arg),
                                     dt_value_text(d, arg));
    }
    return arg->next;
}

void dt_printf_check(struct dt_session *d, const struct dt_node *call, struct dt_printf *parsed,
                     struct dt_node *args)
{
    for (unsigned i = 0; i < parsed->n; i++) {
        const struct dt_conversion *c = &parsed->conversions[i];
        if (!c->name[0]) {
            continue;
        }
        if (c->flags & DT_CONV_AGG) {
            dt_fail(d, call->location, "D_PRINTF_AGG_CONV",
                    "%s( ) %s is only for use with printa( )", call->text,
                    conversion_text(d, parsed, c));
        }
        args = take_value(d, call, parsed, c, args);
    }
    if (args) {
        dt_fail(d, call->location, "D_PRINTF_ARG_EXTRA",
                "%s( ) prototype mismatch: only %u arguments required by this format string",
                call->text, printf_check_argument_number(call, args) - 1);
    }
}

/* Checks a conversion of printa(): takes up to three keys from *i on, if there are as many. */
static void take_keys(struct dt_session *d, const struct dt_node *call,
                      const struct dt_printf *parsed, const struct dt_conversion *c,
                      const struct dt_aggregation_info *agg, unsigned *i)
{
    unsigned dynamic = !!(c->flags & DT_CONV_DYNWIDTH) + !!(c->flags & DT_CONV_DYNPREC);

    for (; dynamic > 0 && *i < agg->nkeys; dynamic--, (*i)++) {
        if (!dt_type_is_integer(agg->keys[*i])) {
            printf_check_report_mismatch(d, call, "D_PRINTF_DYN_TYPE", "int",
                                         conversion_text(d, parsed, c), *i + 1,
                                         dt_type_full_text(d, agg->keys[*i]));
        }
    }
    if ((c->flags & DT_CONV_AGG) || *i >= agg->nkeys) {
        return;
    }
    const struct dt_type *key = agg->keys[(*i)++];
    enum dt_type_kind kind = dt_type_resolve(key)->kind;
    bool location = kind == DT_TYPE_STACK ? c->name[0] == 'k'
                                          : kind == DT_TYPE_SYMADDR || kind == DT_TYPE_USYMADDR;
    if (!location && !printf_check_can_print(c, key)) {
        printf_check_report_mismatch(d, call, "D_PRINTF_ARG_TYPE", prototype_text(c),
                                     conversion_text(d, parsed, c), *i, dt_type_full_text(d, key));
    }
}

void dt_printa_check(struct dt_session *d, const struct dt_node *call,
                     const struct dt_printf *parsed, const struct dt_aggregation_info *agg)
{
    unsigned key = 0;

    for (unsigned i = 0; i < parsed->n; i++) {
        if (parsed->conversions[i].name[0]) {
            take_keys(d, call, parsed, &parsed->conversions[i], agg, &key);
        }
    }
}
