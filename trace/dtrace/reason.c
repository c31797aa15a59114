/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The texts of refusals, for programs that show them to a person. Over a link only the number is
 * sent; for programs in its own image (BOOT_D, the event log's gate) a board prints the text.
 * Control context.
 */
#include "trace/dtrace/dtrace.h"
#include "trace/dtrace/short_text.h"

#include "build/gen/d_reasons.inc.h"

const char *dtrace_reason_text(enum dtrace_reason reason)
{
    static char text[TEXT_MOST]; /* [k] */
    unsigned left = reason, bit = 0;

    if (left > REASONS) {
        return "unknown reason";
    }
    for (; left > 0; left--) {
        bit = dtrace_short_text(texts, bit, codes, text);
    }
    return reason ? text : NULL;
}

const char *dtrace_refusal_text(const struct dtrace_refusal *refusal)
{
    const char *text = dtrace_reason_text((enum dtrace_reason)refusal->reason);

    return refusal->text[0] ? refusal->text : text ? text : "";
}
