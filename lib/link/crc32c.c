/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CRC-32C for any CPU: two tables of 16 entries (128 bytes in all) instead of one of 256: a CRC is
 * linear, so a byte's effect is the sum of the effects of its halves. See crc32c.h; test/lib/link
 * has the check value.
 */
#include "lib/link/crc32c.h"

static const uint32_t crc32c_low_table[16] = {
    0x00000000, 0xf26b8303, 0xe13b70f7, 0x1350f3f4, 0xc79a971f, 0x35f1141c, 0x26a1e7e8, 0xd4ca64eb,
    0x8ad958cf, 0x78b2dbcc, 0x6be22838, 0x9989ab3b, 0x4d43cfd0, 0xbf284cd3, 0xac78bf27, 0x5e133c24,
};
static const uint32_t crc32c_high_table[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t crc32c_add(uint32_t state, const void *data, size_t bytes)
{
    const uint8_t *at = data;

    for (; bytes > 0; bytes--, at++) {
        uint32_t low_byte = (state ^ *at) & 0xff;

        state = state >> 8 ^ crc32c_low_table[low_byte & 15] ^ crc32c_high_table[low_byte >> 4];
    }
    return state;
}
