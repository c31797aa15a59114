/* SPDX-License-Identifier: BSD-2-Clause */
/* See life.h. */
#include "host/life.h"

#include <inttypes.h>
#include <stdio.h>

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

bool life_parse(const char *text, int32_t *pid, int32_t *tid, uint32_t *life)
{
    int end = 0, life_end = 0;

    *life = 0;
    return sscanf(text, "%9" SCNd32 ":%9" SCNd32 "%n@%9" SCNu32 "%n", pid, tid, &end, life,
                  &life_end) >= 2 &&
           (text[end] == '\0' || (life_end > 0 && text[life_end] == '\0' && *life > 0));
}
