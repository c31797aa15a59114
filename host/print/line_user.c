/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * User events, and the words of events without a description. A short string is marked as one
 * (trace/slot.h). Other user events have no field that says whether they were inserted as words or
 * as a string: they are taken for a string if they are one beyond doubt. Captures older than
 * version 3 of the system page have no marks. Called by line.c.
 */
#include "host/print/line.h"

/* Characters: a shorter text in a simple event may as well be two numbers. */
#define STRING_LEAST 5

/* Beyond doubt: printable characters, a NUL, and zeros up to the end of the slot. */
bool line_user_text(const struct kev_event *event, size_t *len)
{
    const char *text = (const char *)event->words;
    size_t bytes = 4 * (size_t)event->nwords;
    bool marked = event->nwords == 4 && kev_word(event, 2) == TRACE_SHORT_TEXT_D1 &&
                  kev_word(event, 3) == TRACE_SHORT_TEXT_D2;

    if (marked && memchr(text, '\0', TRACE_SHORT_TEXT_BYTES) != NULL) {
        *len = strlen(text);
        return true;
    }
    *len = strnlen(text, bytes);
    if (*len < STRING_LEAST || *len >= bytes || bytes - *len > 8) {
        return false;
    }
    for (size_t i = 0; i < bytes; i++) {
        char c = text[i];
        bool printable = (c >= ' ' && c < 0x7f) || c == '\t' || c == '\n';
        if (i < *len ? !printable : c != '\0') {
            return false;
        }
    }
    return true;
}

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
