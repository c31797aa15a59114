/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of a row of CSV (values.h).
 */
#include "host/fleet/values.h"

#include <string.h>

void fleet_int_put(struct out *out, int64_t value)
{
    out_char(out, ',');
    out_i64(out, value);
}

void fleet_maybe_put(struct out *out, int64_t value, int64_t unknown)
{
    if (value == unknown) {
        out_str(out, ",\\N");
    } else {
        fleet_int_put(out, value);
    }
}

void fleet_quoted_put(struct out *out, const char *text, size_t length)
{
    while (length > 0) {
        const char *quote = memchr(text, '"', length);
        size_t plain = quote == NULL ? length : (size_t)(quote - text) + 1;

        out_bytes(out, text, plain);
        if (quote != NULL) {
            out_char(out, '"');
        }
        text += plain;
        length -= plain;
    }
}

void fleet_text_put(struct out *out, const char *text)
{
    if (text == NULL) {
        out_str(out, ",\\N");
        return;
    }
    out_str(out, ",\"");
    out_csv_bytes(out, text, strlen(text));
    out_char(out, '"');
}
