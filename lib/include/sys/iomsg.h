/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages between a program's files and their servers. A file descriptor is a connection id; each
 * call sends one of these messages, followed by the data to write, and gets as reply status the
 * number of bytes (or 0), read data in the reply buffer, or an error by MsgError(). A server
 * replies to unknown types with ENOSYS.
 */
#ifndef LIB_SYS_IOMSG_H
#define LIB_SYS_IOMSG_H

#include <stdint.h>

#include "abi/static_assert.h"

/* Types from here to _IO_MAX are the system's; programs use types outside the range. */
#define _IO_BASE 0x100
#define _IO_CONNECT 0x100 /* open(): value = the open flags; first message on a connection */
#define _IO_READ 0x101    /* bytes = requested; status = read, 0 at the end of the file */
#define _IO_WRITE 0x102   /* bytes = bytes after the header; status = accepted */
#define _IO_STAT 0x104    /* reply: struct _io_stat */
#define _IO_CLOSE 0x106   /* the connection is about to be detached */
#define _IO_LSEEK 0x109   /* value = offset, bytes = whence; status = position, or ESPIPE */
#define _IO_MAX 0x1ff

struct _io_msg {
    uint16_t type; /* _IO_*; never 0, to be distinct from a pulse */
    uint16_t zero;
    uint32_t bytes;
    int64_t value;
};
KYMO_STATIC_ASSERT(sizeof(struct _io_msg) == 16, "io message layout");

struct _io_stat {
    uint32_t mode; /* S_IF* and permissions of the C library */
    uint32_t block;
    uint64_t size;
};

#endif
