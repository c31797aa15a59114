/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds the system page (abi/syspage.h) from a system's facts. The page is never in memory as a
 * whole: its parts are the struct and constant tables, and a read visits those that it covers.
 *
 * trace_syspage_init() is called once, at boot; the page is immutable afterwards, and may be read
 * in any context.
 */
#ifndef TRACE_SYSPAGE_H
#define TRACE_SYSPAGE_H

#include <stddef.h>
#include <stdint.h>

/* Facts of the system. Strings are truncated to their fields' length; build_id and irqs are kept by
 * reference, and may be NULL. */
struct trace_syspage_facts {
    uint32_t ncpu; /* CPU numbers are below this */
    uint64_t cycles_per_sec, skew_cycles;
    uint64_t boot_time; /* seconds since 1970; 0: unknown */
    const char *board, *cpu_name, *release, *image;
    const void *build_id;
    size_t build_id_bytes;
    const char *irqs; /* "number name\n" of each interrupt with a name */
    size_t irqs_bytes;
};

void trace_syspage_init(const struct trace_syspage_facts *facts);
size_t trace_syspage_bytes(void);
/* Passes [offset, offset + bytes) of the page, as far as it exists, to put() in pieces, in order.
 * Returns the number of bytes passed, or the first result of put() that isn't 0. */
typedef long trace_syspage_put_t(void *arg, size_t at, const void *from, size_t bytes);
long trace_syspage_read(size_t offset, size_t bytes, trace_syspage_put_t *put, void *arg);

#endif
