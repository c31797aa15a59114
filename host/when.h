/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times as the command line has them, for every command that takes a part of a capture:
 *
 *   1.25  +1.25s  1250ms  1250000us  3ns    since the capture's start (kev_info's `start`)
 *   0x000000000003a0c6                      cycles of the trace clock, as `kymo print` prints them
 *
 * Proof: test/host/when_test.c.
 */
#ifndef HOST_WHEN_H
#define HOST_WHEN_H

#include <stdbool.h>
#include <stdint.h>

struct kymo_when {
    bool given;
    bool absolute;  /* value is cycles; else value * 10^-scale seconds */
    uint64_t value; /* relative: below 10^18 */
    unsigned scale; /* at most 27 */
};

/* 0, or -1: the text is not a time. At most 18 digits after leading zeros. */
int kymo_parse_when(const char *text, struct kymo_when *when);
/* The first cycle that is not before `when`, of a capture that starts at `start`; saturates. A time
 * that was printed in nanoseconds, rounded down, gives a cycle that is not after its event. */
uint64_t kymo_when_cycles(const struct kymo_when *when, uint64_t start, uint64_t hz);
/* Nanoseconds from `start` to `time`, rounded down; negative if time is earlier; saturates. */
int64_t kymo_when_ns(uint64_t time, uint64_t start, uint64_t hz);

/* Writes a length of time in the unit that suits it, "86.4 ms"; returns `text`. */
const char *kymo_length_text(int64_t ns, char text[32]);

#endif
