/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of a page, by time: rows of its other streams refer to them
 * (docs/reference/report-data.md). 16 bytes an event, in a file if they are many. One thread.
 * Proof: test/host/report/views.py.
 */
#ifndef HOST_REPORT_MARKS_H
#define HOST_REPORT_MARKS_H

#include "host/timeline/timeline.h"

#define MARKS_NONE UINT32_MAX

struct marks {
    struct mark {
        int64_t ns;
        uint32_t thread, kind;
    } * at;
    uint32_t count;
    size_t room; /* bytes */
    bool failed; /* no room, or the times are not in order: there are no marks */
    struct timeline store;
};

void marks_keep(struct marks *marks, int64_t ns, uint32_t thread, uint32_t kind);
void marks_free(struct marks *marks);
/* The event of a time, searched from `near` on; of several that of the thread. MARKS_NONE: no event
 * has this time. */
uint32_t marks_find(const struct marks *marks, uint32_t near, int64_t ns, uint32_t thread);

#endif
