/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads two facts from a flattened device tree (devicetree.org, v0.3 chapter 5): the location of
 * RAM, and the CPUs. The blob is untrusted: every offset is checked against the blob's own size,
 * which is checked against `limit`. Boot only.
 */
#ifndef BOARDS_DRIVERS_FDT_H
#define BOARDS_DRIVERS_FDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FDT_MAX_CPUS 8

struct fdt_facts {
    uint64_t ram_start, ram_len; /* the first bank of the first memory node; len 0: not found */
    unsigned cpus;               /* 0: not found; at most FDT_MAX_CPUS */
    uint64_t cpu_reg[FDT_MAX_CPUS];
};

/* Returns false, with zeroed facts, if there is no valid tree at `blob`. limit: number of bytes
 * that are mapped. */
bool fdt_read(const void *blob, size_t limit, struct fdt_facts *facts);

#endif
