/* SPDX-License-Identifier: BSD-2-Clause */
/* See marks.h. */
#include "host/report/marks.h"
#include "host/timeline/make.h"

#include <stdlib.h>

#define MARKS_MOST UINT32_C(0x7fffffff)
#define ROOM (64 << 10)
#define REST 65536   /* marks after which memory of their file is given back */
#define SAME_MOST 16 /* events of one time that are looked at */

void marks_keep(struct marks *marks, int64_t ns, uint32_t thread, uint32_t kind)
{
    size_t had = marks->count * sizeof(*marks->at);

    marks->failed |=
        marks->count == MARKS_MOST || (marks->count > 0 && marks->at[marks->count - 1].ns > ns);
    if (!marks->failed && had == marks->room) {
        void *at = store_grow(&marks->store, marks->at, had, 2 * had + ROOM);

        marks->failed = at == NULL;
        if (at != NULL) {
            marks->at = at;
            marks->room = 2 * had + ROOM;
        }
    }
    if (!marks->failed) {
        marks->at[marks->count++] = (struct mark){ns, thread, kind};
        if (marks->count % REST == 0) {
            timeline_rest(&marks->store);
        }
    }
}

void marks_free(struct marks *marks)
{
    store_free(&marks->store, marks->at);
    free(marks->store.stores);
}

/* The first mark that is not before `ns`, searched from `near` on: rows are nearly in order. */
static uint32_t report_marks_first_from(const struct marks *marks, uint32_t near, int64_t ns)
{
    uint32_t low = near, high = near; /* rows before low are before ns, high is not */

    for (uint64_t step = 1; low > 0 && marks->at[low - 1].ns >= ns; step *= 2) {
        high = low - 1;
        low = low > step ? low - (uint32_t)step : 0;
    }
    for (uint64_t step = 1; high < marks->count && marks->at[high].ns < ns; step *= 2) {
        low = high + 1;
        high = marks->count - high > step ? high + (uint32_t)step : marks->count;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (marks->at[middle].ns < ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

uint32_t marks_find(const struct marks *marks, uint32_t near, int64_t ns, uint32_t thread)
{
    uint32_t first = report_marks_first_from(marks, near, ns);

    for (uint32_t i = first; i < marks->count && marks->at[i].ns == ns && i - first < SAME_MOST;
         i++) {
        if (marks->at[i].thread == thread) {
            return i;
        }
    }
    return first < marks->count && marks->at[first].ns == ns ? first : MARKS_NONE;
}
