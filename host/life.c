/* SPDX-License-Identifier: BSD-2-Clause */
/* See life.h. */
#include "host/life.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *life_tid_text(int32_t tid, uint32_t life, char text[LIFE_TEXT])
{
    int used = snprintf(text, LIFE_TEXT, "%" PRId32, tid);

    if (life > 1) {
        snprintf(text + used, LIFE_TEXT - (size_t)used, "@%" PRIu32, life);
    }
    return text;
}

const char *life_text(int32_t pid, int32_t tid, uint32_t life, char text[LIFE_TEXT])
{
    int used = snprintf(text, LIFE_TEXT, "%" PRId32 ":%" PRId32, pid, tid);

    if (life > 1) {
        snprintf(text + used, LIFE_TEXT - (size_t)used, "@%" PRIu32, life);
    }
    return text;
}

/* Reads a number that ends before `until`, and that character. */
static bool life_number(const char **text, long long least, long long most, char until,
                        long long *value)
{
    char *end;

    if (**text != '-' && !isdigit((unsigned char)**text)) {
        return false;
    }
    *value = strtoll(*text, &end, 10); /* it saturates */
    if (*end != until || *value < least || *value > most) {
        return false;
    }
    *text = end + (until != '\0');
    return true;
}

bool life_parse(const char *text, int32_t *pid, int32_t *tid, uint32_t *life)
{
    long long numbers[3] = {0};
    char after = strchr(text, '@') == NULL ? '\0' : '@';

    if (!life_number(&text, INT32_MIN, INT32_MAX, ':', &numbers[0]) ||
        !life_number(&text, INT32_MIN, INT32_MAX, after, &numbers[1]) ||
        (after == '@' && !life_number(&text, 1, UINT32_MAX, '\0', &numbers[2]))) {
        return false;
    }
    *pid = (int32_t)numbers[0];
    *tid = (int32_t)numbers[1];
    *life = (uint32_t)numbers[2];
    return true;
}

void life_why(int32_t pid, int32_t tid, int64_t from, int64_t to, char *text, size_t room)
{
    snprintf(text, room,
             "kymo why --thread %" PRId32 ":%" PRId32 " --from %" PRId64 "ns --to %" PRId64 "ns",
             pid, tid, from, to);
}
