/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers taken before the reset, as text: see retain.h. Proof: test/unit/test_retain.c. */
#include <stdio.h>

#include "lib/retain/internal.h"

bool retain_taken_text(const struct retain *retain, unsigned n, char key[RETAIN_TAKEN_KEY],
                       char value[RETAIN_TAKEN_VALUE])
{
    for (unsigned cpu = 0, rows = 0; cpu < KYMO_RETAIN_CPUS; cpu++) {
        const struct retain_taken *taken = &retain->taken[cpu];

        if (taken->here != 0 && rows++ == n) {
            snprintf(key, RETAIN_TAKEN_KEY, "RETAINED_TAKEN_%u", n + 1);
            snprintf(value, RETAIN_TAKEN_VALUE, "CPU %u: buffers up to %u, %u of them here", cpu,
                     (unsigned)taken->last, (unsigned)taken->here);
            return true;
        }
    }
    return false;
}
