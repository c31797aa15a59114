/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The times of a capture in UTC: when it was recorded, when its system was booted, and at which
 * time its ns is 0, so that captures of several devices are on one axis. What a capture does not
 * state is unknown, never 1970. Proof: test/host/fleet/folder.py.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "host/fleet/fleet.h"
#include "host/when.h"

#define WALL_SECOND INT64_C(1000000000)
#define WALL_YEAR_2000 INT64_C(946684800)     /* seconds; a clock before that is not set */
#define WALL_MOST (INT64_MAX / WALL_SECOND)   /* seconds: a day of the year 2262 */
#define WALL_SLACK (INT64_C(2) * WALL_SECOND) /* both dates are whole seconds */

/* A date as ctime() writes it. Returns ns since 1970, or KEV_NEVER. Another kernel's date has no
 * time zone. */
static int64_t wall_date(const struct export *export, const char *key)
{
    const char *text = kev_capture_attribute(export->capture, key), *end;
    struct tm date = {0};
    int64_t seconds;

    if (text == NULL || !export->facts->is_kymo) {
        return KEV_NEVER;
    }
    end = strptime(text, "%a %b %e %H:%M:%S %Y", &date);
    if (end == NULL || *end != '\0') {
        return KEV_NEVER;
    }
    seconds = timegm(&date);
    return seconds < WALL_YEAR_2000 || seconds >= WALL_MOST ? KEV_NEVER : seconds * WALL_SECOND;
}

/* The attribute WALL_CLOCK has a value of the trace clock and the time then. Returns the time at
 * ns 0, or KEV_NEVER. */
static int64_t wall_stated(const struct export *export)
{
    const char *text = kev_capture_attribute(export->capture, "WALL_CLOCK");
    const struct kev_facts *facts = export->facts;
    uint64_t cycles, wall;
    int64_t started;
    int end = 0;

    if (text == NULL || sscanf(text, "%" SCNu64 " %" SCNu64 "%n", &cycles, &wall, &end) != 2 ||
        text[end] != '\0' || wall < (uint64_t)(WALL_YEAR_2000 * WALL_SECOND) || wall >= INT64_MAX ||
        __builtin_sub_overflow((int64_t)wall,
                               kymo_when_ns(cycles, facts->start, facts->cycles_per_second),
                               &started)) {
        return KEV_NEVER;
    }
    return started;
}

/* The end of what the capture has, in ns since its start. */
static int64_t wall_end(const struct export *export)
{
    int64_t end = KEV_EVER, from, to;

    for (unsigned cpu = 0; cpu < export->facts->cpus; cpu++) {
        for (unsigned i = 0; kev_capture_covered(export->capture, cpu, i, &from, &to); i++) {
            end = to > end ? to : end;
        }
    }
    return end;
}

/* A capture without WALL_CLOCK: the trace clock of most boards begins at the boot, so BOOT_DATE is
 * the time at 0 cycles. It is not after a reset that the clock goes on over; then DATE, which is
 * when the capture was begun or saved, is not within its events. Returns the time at ns 0, or
 * KEV_NEVER. */
static int64_t wall_of_boot(const struct export *export, const struct fleet_times *times)
{
    const struct kev_facts *facts = export->facts;
    int64_t started, end = wall_end(export), last;

    if (times->recorded == KEV_NEVER || times->booted == KEV_NEVER || end == KEV_EVER ||
        kev_capture_attribute(export->capture, "RETAINED") != NULL ||
        __builtin_add_overflow(times->booted,
                               kymo_when_ns(facts->start, 0, facts->cycles_per_second), &started) ||
        __builtin_add_overflow(started, end, &last) || last > INT64_MAX - WALL_SLACK) {
        return KEV_NEVER;
    }
    return times->recorded >= started - WALL_SLACK && times->recorded <= last + WALL_SLACK
               ? started
               : KEV_NEVER;
}

void fleet_times_find(const struct export *export, struct fleet_times *times)
{
    *times = (struct fleet_times){.recorded = wall_date(export, "DATE"),
                                  .booted = wall_date(export, "BOOT_DATE"),
                                  .started = KEV_NEVER};
    if (!export->facts->clock_known || export->facts->cycles_per_second == 0) {
        return;
    }
    times->started = wall_stated(export);
    times->clock = times->started == KEV_NEVER ? NULL : "stated";
    if (times->started == KEV_NEVER) {
        times->started = wall_of_boot(export, times);
        times->clock = times->started == KEV_NEVER ? NULL : "boot";
    }
}

int64_t fleet_time_at(const struct fleet_times *times, int64_t ns)
{
    int64_t time;

    return times->started == KEV_NEVER || ns == KEV_NEVER || ns == KEV_EVER ||
                   __builtin_add_overflow(times->started, ns, &time)
               ? KEV_NEVER
               : time;
}
