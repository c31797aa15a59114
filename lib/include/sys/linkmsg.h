/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages from a program to linkd, the process that owns the link to the host, registered as
 * "link". A capture goes to the host that has opened the service "capture"
 * (docs/reference/link.md): BEGIN, any number of DATA, END. One at a time; it belongs to the
 * process that began it, and ends with that process.
 *
 *   ASK    status: 1 if a host that takes a capture is connected, else 0. EBUSY: a capture runs
 *   WAIT   likewise, but waits until there is one; one program at a time. Begins nothing
 *   BEGIN  the capture's name follows, no NUL. EAGAIN: no host is connected. EBUSY: one runs
 *   DATA   bytes follow, at most LINKMSG_DATA_MOST. Status: their number; they are being sent
 *   END    waits until the host has confirmed that all of it is stored
 *
 * EPIPE: the link was lost, or the host has closed; the host's own errno, such as ENOSPC.
 */
#ifndef LIB_SYS_LINKMSG_H
#define LIB_SYS_LINKMSG_H

#include <stdint.h>

#include "abi/static_assert.h"

#define LINKMSG_NAME "link"
#define LINKMSG_BEGIN 0x4b21
#define LINKMSG_DATA 0x4b22
#define LINKMSG_END 0x4b23

#define LINKMSG_ASK 0x4b24
#define LINKMSG_WAIT 0x4b25

#define LINKMSG_DATA_MOST (1024 * 1024)
#define LINKMSG_PATH_MOST 200 /* bytes of a capture's name */

struct linkmsg {
    uint16_t type; /* LINKMSG_* */
    uint16_t zero;
    uint32_t bytes; /* bytes that follow */
};
KYMO_STATIC_ASSERT(sizeof(struct linkmsg) == 8, "message layout");

#endif
