/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The texts of refusals, for programs that show them to a person. Over a link only the number is
 * sent; for programs in its own image (BOOT_D, the event log's gate) a board prints the text. Any
 * context.
 */
#include "trace/dtrace/dtrace.h"

/* One behind the other; a place in them takes half of what a pointer does. */
static const struct texts {
    char none; /* place 0 */
#define DTRACE_REASON(name, error, text) char name[sizeof(text)];
#include "trace/dtrace/reasons.def"
} texts = {
#define DTRACE_REASON(name, error, text) .name = (text),
#include "trace/dtrace/reasons.def"
};
static const uint16_t places[] = {
#define DTRACE_REASON(name, error, text) [DTRACE_REASON_##name] = offsetof(struct texts, name),
#include "trace/dtrace/reasons.def"
};

const char *dtrace_reason_text(enum dtrace_reason reason)
{
    if (reason >= sizeof(places) / sizeof(*places)) {
        return "unknown reason";
    }
    return places[reason] ? (const char *)&texts + places[reason] : NULL;
}

const char *dtrace_refusal_text(const struct dtrace_refusal *refusal)
{
    const char *text = dtrace_reason_text((enum dtrace_reason)refusal->reason);

    return refusal->text[0] ? refusal->text : text ? text : "";
}
