/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of the compiler's messages that many of them have, in dtrace(1M)'s words. Tested by
 * test/d/rows/messages.rows.
 */
#include "host/d/back.h"

const char *d_value_text(struct d_session *d, const struct d_node *n)
{
    if (n->kind == D_NODE_AGG) {
        return d_sprintf(d, "aggregation @%s", n->text);
    }
    if (!n->type || d_type_resolve(n->type)->kind == D_TYPE_DYNAMIC) {
        return n->text ? d_sprintf(d, "dynamic expression %s", n->text) : "dynamic expression";
    }
    return d_type_full_text(d, n->type);
}

const char *d_mismatch_text(struct d_session *d, unsigned given, const char *unit, unsigned least,
                            unsigned most)
{
    bool few = given < least;

    return d_sprintf(d, "prototype mismatch: %u %s%s passed, %s%u expected", given, unit,
                     given == 1 ? "" : "s",
                     least == most ? ""
                     : few         ? "at least "
                                   : "no more than ",
                     few ? least : most);
}

const char *d_what_text(struct d_session *d, const char *what, enum d_arg_kind kind)
{
    return d_sprintf(d, kind == D_ARG_KEY ? "%s[ ]" : "%s( )", what);
}

const char *d_agg_name(uint32_t function)
{
    static const char *const names[] = {"count",  "min",      "max",       "avg",       "sum",
                                        "stddev", "quantize", "lquantize", "llquantize"};
    uint32_t i = function - D_AGG_COUNT;

    return i < sizeof(names) / sizeof(*names) ? names[i] : "aggregate";
}

void d_fail_context(struct d_session *d, const struct d_node *call, struct d_place place)
{
    d_fail(d, place, "D_CG_EXPR",
           "%s( ) may not be called from a D expression (D program context required)",
           call->text ? call->text : "action");
}
