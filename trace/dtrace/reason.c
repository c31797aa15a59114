/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The texts of refusals, for programs that show them to a person. Over a link only the number is
 * sent; for programs in its own image (BOOT_D, the event log's gate) a board prints the text. Any
 * context.
 */
#include "trace/dtrace/dtrace.h"

static const char *const texts[] = {
#define DTRACE_REASON(name, error, text) [DTRACE_REASON_##name] = (text),
#include "trace/dtrace/reasons.def"
};

const char *dtrace_reason_text(enum dtrace_reason reason)
{
    return reason < sizeof(texts) / sizeof(texts[0]) ? texts[reason] : "unknown reason";
}

const char *dtrace_refusal_text(const struct dtrace_refusal *refusal)
{
    const char *text = dtrace_reason_text((enum dtrace_reason)refusal->reason);

    return refusal->text[0] ? refusal->text : text ? text : "";
}
