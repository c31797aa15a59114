/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probes io:::start and io:::done of drivers: one of each for a request to the device. D makes
 * bufinfo_t and devinfo_t of the words (host/log/probes.c); docs/guide/userprobes.md. No cost while
 * off.
 */
#ifndef APPS_IO_PROBE_H
#define APPS_IO_PROBE_H

#include <stdint.h>

#include SYSTEM_PROBE_H

/* b_flags: Solaris's values, and Kymo's own for a request without data. */
enum { IO_READ = 0x40, IO_WRITE = 0x100, IO_FLUSH = 0x10000 };

/* client: pid of the process that requested it. */
static inline void io_started(uint32_t bytes, int flags, int client, uint64_t block)
{
    const uint32_t low = (uint32_t)block, high = (uint32_t)(block >> 32);

    SYSTEM_PROBE(io, start, bytes, flags, 0, client, low, high);
}

/* error: 0, or an errno. */
static inline void io_ended(uint32_t bytes, int flags, int error, int client, uint64_t block)
{
    const uint32_t low = (uint32_t)block, high = (uint32_t)(block >> 32);

    SYSTEM_PROBE(io, done, bytes, flags, error, client, low, high);
}

#endif
