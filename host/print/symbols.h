/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for the addresses of programs in a capture (--symbols). The CPU's last THRUNNING says which
 * process an event is of, that process's MAPNAME where its text is, and the ELF file of its build
 * what is there.
 */
#ifndef HOST_PRINT_SYMBOLS_H
#define HOST_PRINT_SYMBOLS_H

#include <stdbool.h>

#include "host/print/out.h"
#include "host/reader/kev.h"

struct symbols;

/* paths: files and folders that the user named. Returns NULL if there is no memory, or, after a
 * message, if one of them is not of the capture's build. */
struct symbols *symbols_new(const struct kev *kev, const char *const *paths, unsigned n);
void symbols_free(struct symbols *symbols);
/* Takes note of an event before it is printed: of each one. */
void symbols_follow(struct symbols *symbols, const struct kev_event *event);
/* Takes note of an event that is not printed, or not yet: only mappings count. */
void symbols_learn(struct symbols *symbols, const struct kev_event *event);
/* Returns true if the event has addresses that get names. */
bool symbols_apply(const struct kev_event *event);
/* Prints " (program`function+0x14)", or nothing, for an address of the event last followed. */
void symbols_put(const struct symbols *symbols, struct out *out, uint64_t address);

#endif
