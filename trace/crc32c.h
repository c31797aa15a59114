/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CRC-32C (Castagnoli, reflected) for the kernel's side: with a table of 1 KB, because a sealed
 * buffer is 16 KB of it (trace/retain.c); lib/link/crc32c.c is the small one. Any context. The
 * check value is in test/unit/test_retain.c, against the other one.
 */
#ifndef TRACE_CRC32C_H
#define TRACE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_CRC_START 0xffffffffu

/* Goes on with a state; the CRC is its complement. */
uint32_t trace_crc_add(uint32_t state, const void *data, size_t bytes);
static inline uint32_t trace_crc(const void *data, size_t bytes)
{
    return ~trace_crc_add(TRACE_CRC_START, data, bytes);
}

#endif
