/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Short waits: nanospin() and its variants spin by ClockCycles(), delay() sleeps. Tested by
 * test/board/programs/t_port.c.
 */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/include/kymo.h"
#include "lib/include/sys/neutrino_r.h"

#define NSEC UINT64_C(1000000000)

/* Rounded up; UINT64_MAX for a larger value. */
static uint64_t cycles_of(uint64_t ns)
{
    uint64_t hz = kymo_cycles_per_sec(), seconds = ns / NSEC;

    if (seconds >= UINT32_MAX) {
        return UINT64_MAX;
    }
    return seconds * hz + (ns % NSEC * hz + NSEC - 1) / NSEC;
}

static void nanospin_cycles(uint64_t cycles)
{
    uint64_t began = ClockCycles();

    while (ClockCycles() - began < cycles) {
    }
}

int nanospin(const struct timespec *wanted)
{
    if (!kymo_timespec_ok(wanted)) {
        return EINVAL;
    }
    nanospin_cycles(cycles_of(kymo_timespec_ns(wanted)));
    return 0;
}

int nanospin_ns(unsigned long ns)
{
    nanospin_cycles(cycles_of(ns));
    return 0;
}

void nanospin_count(unsigned long count)
{
    nanospin_cycles(count);
}

unsigned long nanospin_ns_to_count(unsigned long ns)
{
    uint64_t cycles = cycles_of(ns);

    return cycles > (unsigned long)-1 ? (unsigned long)-1 : (unsigned long)cycles;
}

int nanospin_calibrate(int disable)
{
    (void)disable;
    return 0;
}

unsigned delay(unsigned ms)
{
    uint64_t ns = (uint64_t)ms * 1000000;

    TimerTimeout_r(CLOCK_MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);
    return 0;
}
