/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of functions for commands that read a capture through libkev: kymo report, kymo export. The
 * item is always the one that kev_capture_next() gave last. One thread. Proof:
 * test/host/symbols/check.
 */
#ifndef HOST_SYMBOLS_ITEM_H
#define HOST_SYMBOLS_ITEM_H

#include "host/kev/kev.h"
#include "host/symbols/symbols.h"

/* Like symbols_open() for an open capture. */
struct symbols *symbols_open_capture(const struct kev_capture *capture, const char *option,
                                     const char *const *paths, unsigned n);
/* Learns from a MAPNAME event where a process has the text of which program; of other items
 * nothing. */
void symbols_learn_item(struct symbols *symbols, struct kev_capture *capture,
                        const struct kev_item *item);
/* Names the address of a function or of a marked place, while its process still has the text that
 * it had. Returns false if the item has no such address, or the address no name; *address: it. */
bool symbols_name_item(struct symbols *symbols, struct kev_capture *capture,
                       const struct kev_item *item, uint64_t *address,
                       char text[SYMBOLS_NAME_MOST]);

#endif
