/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses intervals: see rate.h. Tested by test/trace/dtrace/fire/profile_test.c.
 */
#include "trace/dtrace/provider/rate.h"

#define SECOND 1000000000u

/* Returns whether the text is this name, in any case; the name is in lower case. */
static bool rate_is(const char *text, const char *name)
{
    while (*text && (*text | 0x20) == *name) {
        text++;
        name++;
    }
    return *text == '\0' && *name == '\0';
}

bool dtrace_rate_interval(uint64_t n, const char *unit, uint64_t *ns)
{
    static const struct {
        char names[2][5];
        bool seconds;
        uint32_t of; /* ns or seconds; 0: a rate per second */
    } units[] = {
        {{"", "hz"}, false, 0},        {{"ns", "nsec"}, false, 1},
        {{"us", "usec"}, false, 1000}, {{"ms", "msec"}, false, 1000000},
        {{"s", "sec"}, true, 1},       {{"m", "min"}, true, 60},
        {{"h", "hour"}, true, 3600},   {{"d", "day"}, true, 86400},
    };

    for (unsigned i = 0; i < sizeof(units) / sizeof(*units); i++) {
        if (rate_is(unit, units[i].names[0]) || rate_is(unit, units[i].names[1])) {
            uint64_t of = units[i].seconds ? (uint64_t)units[i].of * SECOND : units[i].of;
            if (of && n > UINT64_MAX / of) {
                return false;
            }
            *ns = of ? n * of : n ? SECOND / n : 0;
            return true;
        }
    }
    return false;
}
