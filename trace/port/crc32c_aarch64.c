/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CRC-32C with AArch64's instructions for it, eight bytes in four instructions; replaces
 * trace/crc32c.c. The instructions are an option of Armv8.0 that every Cortex-A has; the compiler's
 * -mcpu= or -march= must allow them. Readers check the sums with another implementation:
 * test/board/flight.py.
 */
#include "trace/crc32c.h"

#include <arm_acle.h>

uint32_t trace_crc_add(uint32_t state, const void *data, size_t bytes)
{
    const uint8_t *at = data;

    for (; bytes >= sizeof(uint64_t); bytes -= sizeof(uint64_t), at += sizeof(uint64_t)) {
        uint64_t word;

        __builtin_memcpy(&word, at, sizeof(word));
        state = __crc32cd(state, word);
    }
    for (; bytes > 0; bytes--, at++) {
        state = __crc32cb(state, *at);
    }
    return state;
}
