/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text as a JSON string, to a stream.
 */
#include <string.h>

#include "host/json_text.h"

void json_put_bytes(FILE *to, const char *text, size_t length)
{
    char escaped[JSON_CHAR_MOST];

    putc('"', to);
    for (size_t i = 0; i < length; i++) {
        fwrite(escaped, 1, json_char(escaped, (unsigned char)text[i]), to);
    }
    putc('"', to);
}

void json_put(FILE *to, const char *text)
{
    if (text == NULL) {
        fputs("null", to);
    } else {
        json_put_bytes(to, text, strlen(text));
    }
}
