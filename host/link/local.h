/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The protocol between a session and its broker, on a unix socket of one user of one machine:
 * packets of a head and at most LOCAL_MOST bytes. Both are the same program; a version is in the
 * socket's name.
 */
#ifndef HOST_LINK_LOCAL_H
#define HOST_LINK_LOCAL_H

#include <stdint.h>

#define LOCAL_VERSION 1
#define LOCAL_MOST 32768
#define LOCAL_CHANNELS 32 /* of a session */

struct local_head {
    uint8_t type;    /* enum local_type */
    uint8_t channel; /* the session's number */
    uint16_t bytes;  /* that follow */
    uint32_t value;
};
_Static_assert(sizeof(struct local_head) == 8, "no gaps");

enum local_type {
    LOCAL_HELLO = 1, /* to the session: struct link_hello of the target */
    LOCAL_DOWN,      /* to the session: why, in words; the last packet */
    LOCAL_OPEN,      /* to the broker: value: credit; the service's name */
    LOCAL_OPENED,    /* to the session */
    LOCAL_CLOSE,     /* to the broker */
    LOCAL_CLOSED,    /* to the session: value: 0 or a negative errno */
    LOCAL_CREDIT,    /* to the broker: value: bytes more */
    LOCAL_FIRST,     /* value: the message's bytes; the first of them */
    LOCAL_MORE,      /* the following ones */
};

#endif
