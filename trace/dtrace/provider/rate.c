/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See rate.h. Tested by test/d_fire/profile_test.c.
 */
#include "trace/dtrace/provider/rate.h"

#define SECOND 1000000000u

bool dtrace_rate_interval(uint64_t n, const char *unit, uint64_t *ns)
{
    static const struct {
        char name[5];
        uint64_t ns; /* 0: a rate per second */
    } units[] = {
        {"", 0},
        {"hz", 0},
        {"ns", 1},
        {"nsec", 1},
        {"us", 1000},
        {"usec", 1000},
        {"ms", 1000000},
        {"msec", 1000000},
        {"s", SECOND},
        {"sec", SECOND},
        {"m", 60ull * SECOND},
        {"min", 60ull * SECOND},
        {"h", 3600ull * SECOND},
        {"hour", 3600ull * SECOND},
        {"d", 86400ull * SECOND},
        {"day", 86400ull * SECOND},
    };

    for (unsigned i = 0; i < sizeof(units) / sizeof(*units); i++) {
        const char *text = unit, *name = units[i].name;
        while (*text && (*text | 0x20) == *name) { /* in any case; the name is in lower case */
            text++;
            name++;
        }
        if (*text == '\0' && *name == '\0') {
            *ns = n && units[i].ns == 0 ? SECOND / n : 0;
            return units[i].ns == 0 || !__builtin_mul_overflow(n, units[i].ns, ns);
        }
    }
    return false;
}
