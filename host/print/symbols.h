/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for the addresses of programs in printed events (--symbols). The CPU's last THRUNNING says
 * which process an event is of.
 */
#ifndef HOST_PRINT_SYMBOLS_H
#define HOST_PRINT_SYMBOLS_H

#include <stdbool.h>

#include "host/print/out.h"
#include "host/symbols/symbols.h"

struct kev_event;

/* The event that is printed, and what ran on its CPU. Zeros: nothing is known yet. */
struct print_symbols {
    struct symbols *symbols;
    uint32_t runs[64]; /* KEV_CPUS: pid; 0: not known */
    unsigned cpu;      /* of the last event */
};

/* Takes note of an event before it is printed: of each one. */
void print_symbols_follow(struct print_symbols *own, const struct kev_event *event);
/* Returns true if the event has addresses that get names. */
bool print_symbols_apply(const struct kev_event *event);
/* Prints " (program`function+0x14 file.c:12)", or nothing, for an address of the event last
 * followed. */
void print_symbols_put(const struct print_symbols *own, struct out *out, uint64_t address);

#endif
