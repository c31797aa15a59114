/* SPDX-License-Identifier: BSD-2-Clause */
/* The CRC-32C of retained data. */
#ifndef LIB_RETAIN_SUM_H
#define LIB_RETAIN_SUM_H

#include "lib/link/crc32c.h"

/* Continues a CRC; 0 begins. */
static inline uint32_t retain_crc_more(uint32_t crc, const void *data, size_t bytes)
{
    return ~crc32c_add(~crc, data, bytes);
}

static inline uint32_t retain_crc(const void *data, size_t bytes)
{
    return retain_crc_more(0, data, bytes);
}

#endif
