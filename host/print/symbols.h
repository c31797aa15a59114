/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for the addresses of programs in a capture (--symbols): whose an event is says the CPU's
 * last THRUNNING, where that process's text is its MAPNAME, and what is there the ELF of its build.
 */
#ifndef HOST_PRINT_SYMBOLS_H
#define HOST_PRINT_SYMBOLS_H

#include <stdbool.h>

#include "host/print/out.h"
#include "host/reader/kev.h"

struct symbols;

/* paths: files and folders that the user named. NULL: one of them is not the capture's, as has been
 * said, or there is no memory. */
struct symbols *symbols_new(const struct kev *kev, const char *const *paths, unsigned n);
void symbols_free(struct symbols *symbols);
/* Each event, before it is printed. */
void symbols_follow(struct symbols *symbols, const struct kev_event *event);
/* Likewise for events that are not (yet) printed, of which only the mappings count. */
void symbols_learn(struct symbols *symbols, const struct kev_event *event);
/* Does an event have addresses that get names? */
bool symbols_apply(const struct kev_event *event);
/* " (program`function+0x14)" of the event last followed, or nothing. */
void symbols_put(const struct symbols *symbols, struct out *out, uint64_t address);

#endif
