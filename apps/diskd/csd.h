/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A card's register CSD (SD Physical Layer Specification 3.0, 5.3). Tested by
 * test/apps/diskd/sdhci_test.c.
 */
#ifndef APPS_DISKD_CSD_H
#define APPS_DISKD_CSD_H

#include <stdint.h>

/* Returns the card's size in sectors of 512 bytes. word: the CSD's bits 8 to 127, as a standard
 * controller has them in its response's four registers, where bit n is bit (n - 8). */
static inline uint64_t csd_sectors(const uint32_t word[4])
{
    if (word[3] >> 22 & 3) { /* version 2: C_SIZE, in units of 512 KB */
        return ((uint64_t)(word[1] >> 8 & 0x3fffff) + 1) * 1024;
    }
    uint64_t c_size = (word[2] & 3) << 10 | word[1] >> 22;
    unsigned c_size_mult = word[1] >> 7 & 7, read_bl_len = word[2] >> 8 & 15;

    return (c_size + 1) << (c_size_mult + 2 + read_bl_len) >> 9;
}

#endif
