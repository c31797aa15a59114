/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CRC-32C (Castagnoli, reflected). Any context. The state begins as CRC32C_START, the check is its
 * complement. One implementation is linked: crc32c.c, or an arch's with instructions for it.
 */
#ifndef LIB_LINK_CRC32C_H
#define LIB_LINK_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#define CRC32C_START 0xffffffffu

uint32_t crc32c_add(uint32_t state, const void *data, size_t bytes);

#endif
