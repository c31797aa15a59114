/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CRC-32C (Castagnoli, reflected) for the kernel: fast, because sealing a buffer covers 16 KB
 * (trace/retain.c); lib/link/crc32c.c is the small version. Any context. One implementation is
 * linked: crc32c.c, with a table of 1 KB, or TRACE_CRC_SRC of an arch with instructions for it.
 * A caller outside of boot and panics sums up at most some 300 bytes at once
 * (docs/guide/flight.md). test/trace/retain_test.c checks the versions against the check value.
 */
#ifndef TRACE_CRC32C_H
#define TRACE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_CRC_START 0xffffffffu

/* Continues a CRC from a state; the CRC is the final state's complement. */
uint32_t trace_crc_add(uint32_t state, const void *data, size_t bytes);
static inline uint32_t trace_crc(const void *data, size_t bytes)
{
    return ~trace_crc_add(TRACE_CRC_START, data, bytes);
}

#endif
