/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The filters as attributes of the capture: FILTER_1 the classes, FILTER_2 their form, then the
 * gate. Valid at START because capture.c has set them and removed all limits to processes; later
 * changes by another process can't be in the header. With -d1 the applications set the filters,
 * unless -E was given. Tested by test/tracelogger/filters_test.c.
 */
#include "tracelogger/filters.h"

#include <stdio.h>
#include <string.h>

static const struct options *filters_options;

void filters_set(const struct options *options)
{
    filters_options = options;
}

static void put_classes(char value[PANIC_VALUE])
{
    static const char *const names[FILTERS] = {[1] = "KERCALL", [2] = "INT",  [3] = "PROCESS",
                                               [4] = "THREAD",  [6] = "COMM", [7] = "SYSTEM"};
    const char *between = "without ";
    int used;

    if (filters_options->daemon && !filters_options->everything) {
        snprintf(value, PANIC_VALUE, "set by applications");
        return;
    }
    used = snprintf(value, PANIC_VALUE, "all classes");
    for (unsigned i = 0; i < FILTERS; i++) {
        if ((filters_options->without >> i & 1) && names[i]) {
            used +=
                snprintf(value + used, (size_t)(PANIC_VALUE - used), " %s%s", between, names[i]);
            between = "";
        }
    }
    if (filters_options->probes) {
        snprintf(value + used, (size_t)(PANIC_VALUE - used), ", system probes");
    }
}

bool filters_row(unsigned n, char key[PANIC_KEY], char value[PANIC_VALUE])
{
    snprintf(key, PANIC_KEY, "FILTER_%u", n + 1);
    switch (n) {
    case 0:
        put_classes(value);
        return true;
    case 1:
        snprintf(value, PANIC_VALUE, "%s",
                 filters_options->wide ? "wide"
                 : filters_options->daemon && !filters_options->everything
                     ? "form set by applications"
                     : "fast");
        return true;
    case 2:
        if (filters_options->daemon) {
            snprintf(value, PANIC_VALUE, "applications start and stop");
        } else {
            snprintf(value, PANIC_VALUE, "all processes and threads");
        }
        return true;
    case 3:
        if (filters_options->gate) {
            snprintf(value, PANIC_VALUE, "gate %.60s", filters_options->gate);
        }
        return filters_options->gate != NULL;
    default:
        return false;
    }
}
