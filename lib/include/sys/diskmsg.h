/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages from a program to a disk's driver process, registered as "disk0". A sector is 512 bytes.
 * Needs ability device. Status 0, or -1 and errno: EIO the medium, ENODEV the disk is gone
 * (permanently), EINVAL outside the disk, EROFS.
 *
 *   INFO   reply: struct diskmsg_info
 *   READ   reply: the sectors' bytes
 *   WRITE  the sectors' bytes follow the head. They may remain in the disk's cache
 *   FLUSH  waits until all written data is on the medium
 */
#ifndef LIB_SYS_DISKMSG_H
#define LIB_SYS_DISKMSG_H

#include <stdint.h>

#include "abi/static_assert.h"

#define DISKMSG_NAME "disk0"
/* the driver's name from its start on, while it still searches for the disk */
#define DISKMSG_DRIVER "disk0/driver"
#define DISKMSG_INFO 0x4b31
#define DISKMSG_READ 0x4b32
#define DISKMSG_WRITE 0x4b33
#define DISKMSG_FLUSH 0x4b34

#define DISKMSG_SECTOR 512u
#define DISKMSG_SECTORS_MOST 64u /* in one READ or WRITE */

struct diskmsg {
    uint16_t type; /* DISKMSG_* */
    uint16_t zero;
    uint32_t sectors;
    uint64_t sector; /* the first sector */
};
KYMO_STATIC_ASSERT(sizeof(struct diskmsg) == 16, "message layout");

struct diskmsg_info {
    uint64_t sectors;
    uint32_t physical_bytes; /* unit in which the medium writes */
    uint32_t read_only;
};

#endif
