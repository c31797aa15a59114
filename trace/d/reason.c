/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The texts of refusals: for whoever talks to a person. Over a link goes the number; of what lies
 * in a board's own image (BOOT_D, the event log's gate) the board says the text. Any context.
 */
#include "trace/d/d.h"

static const char *const texts[] = {
#define D_REASON(name, error, text) [D_REASON_##name] = (text),
#include "trace/d/reasons.def"
};

const char *d_reason_text(enum d_reason reason)
{
    return reason < sizeof(texts) / sizeof(texts[0]) ? texts[reason] : "unknown reason";
}

const char *d_refusal_text(const struct d_refusal *refusal)
{
    const char *text = d_reason_text((enum d_reason)refusal->reason);

    return refusal->text[0] ? refusal->text : text ? text : "";
}
