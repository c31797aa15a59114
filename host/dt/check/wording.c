/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of the compiler's messages that many of them have, in dtrace(1M)'s words. Tested by
 * test/dtrace/rows/messages.tags.
 */
#include "host/dt/check/wording.h"

const char *dt_value_text(struct dt_session *d, const struct dt_node *n)
{
    if (n->kind == DT_NODE_AGG) {
        return dt_sprintf(d, "aggregation @%s", n->text);
    }
    if (!n->type || dt_type_resolve(n->type)->kind == DT_TYPE_DYNAMIC) {
        return n->text ? dt_sprintf(d, "dynamic expression %s", n->text) : "dynamic expression";
    }
    return dt_type_full_text(d, n->type);
}

const char *dt_mismatch_text(struct dt_session *d, unsigned given, const char *unit, unsigned least,
                             unsigned most)
{
    bool few = given < least;

    return dt_sprintf(d, "prototype mismatch: %u %s%s passed, %s%u expected", given, unit,
                      given == 1 ? "" : "s",
                      least == most ? ""
                      : few         ? "at least "
                                    : "no more than ",
                      few ? least : most);
}

const char *dt_what_text(struct dt_session *d, const char *what, enum dt_arg_kind kind)
{
    return dt_sprintf(d, kind == DT_ARG_KEY ? "%s[ ]" : "%s( )", what);
}

const char *dt_agg_name(uint32_t function)
{
    static const char *const names[] = {"count",  "min",      "max",       "avg",       "sum",
                                        "stddev", "quantize", "lquantize", "llquantize"};
    uint32_t i = function - DTRACE_AGG_COUNT;

    return i < sizeof(names) / sizeof(*names) ? names[i] : "aggregate";
}

void dt_fail_context(struct dt_session *d, const struct dt_node *call, struct dt_location location)
{
    dt_fail(d, location, "D_CG_EXPR",
            "%s( ) may not be called from a D expression (D program context required)",
            call->text ? call->text : "action");
}
