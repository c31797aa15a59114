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
    for (unsigned taken; length > 0; text += taken, length -= taken) {
        fwrite(escaped, 1, json_char(escaped, text, length, &taken), to);
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
