/* SPDX-License-Identifier: BSD-2-Clause */
/* User events, and the words of events without a description. Called by line.c. */
#include "host/print/line.h"

void line_words(struct out *out, const struct kev_event *event, const struct line_style *style)
{
    for (unsigned i = 0; i < event->nwords; i++) {
        if (i > 0 && i % 4 == 0 && !style->one_line) {
            out_char(out, '\n');
            out_pad(out, 21);
        }
        out_str(out, " d");
        out_u64(out, i);
        out_char(out, ':');
        out_hex32(out, kev_word(event, i));
    }
    out_char(out, '\n');
}

void line_user_body(struct out *out, const struct kev_event *event, bool is_text, size_t len,
                    const struct line_style *style)
{
    if (is_text) {
        out_str(out, " STR:\"");
        out_text(out, (const char *)event->words, len);
        out_str(out, "\"\n");
    } else {
        line_words(out, event, style);
    }
}
