/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each end of the link says of itself before anything else (docs/link.md, "Hello"). A layout
 * of the wire: little-endian on all machines that Kymo runs on.
 */
#ifndef KYMO_LINK_HELLO_H
#define KYMO_LINK_HELLO_H

#include <stdint.h>

#define LINK_VERSION 1

struct link_hello {
    uint8_t version;      /* LINK_VERSION: ends of different versions don't talk */
    uint8_t role;         /* enum link_role */
    uint16_t frame_most;  /* bytes of a payload that this end can take */
    uint32_t session;     /* a new number for each start of this end, not 0 */
    uint32_t peer;        /* the session of the other end that this answers, 0: none seen */
    char board[32];       /* target: the board's name, NUL-terminated; host: "" */
    uint8_t build_id[20]; /* target: of the kernel's ELF; host: 0 */
};
_Static_assert(sizeof(struct link_hello) == 64, "layout on the link");

enum link_role { LINK_HOST = 1, LINK_TARGET };

#endif
