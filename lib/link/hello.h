/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first message of each end of the link (docs/reference/link.md, "Hello"). A layout of the
 * wire: little-endian, as all machines are that Kymo runs on.
 */
#ifndef LIB_LINK_HELLO_H
#define LIB_LINK_HELLO_H

#include <stdint.h>

#include "abi/static_assert.h"

#define LINK_VERSION 1
#define LINK_MESSAGE_MOST (4u * 1024 * 1024 + 64) /* bytes: an answer of 4 MB and its head */

enum link_role { LINK_HOST = 1, LINK_TARGET };

#define LINK_HELLO_UP 1 /* the sender has this very session up: don't answer */

/* The host's clock when it sent its hello: used by a board without a real-time clock. */
struct link_clock {
    uint64_t seconds; /* since 1970; 0: unknown */
    uint32_t ns;      /* below 1000000000; 0 from older hosts */
    uint32_t zero[2];
} __attribute__((packed));
KYMO_STATIC_ASSERT(sizeof(struct link_clock) == 20, "layout on the link");

struct link_hello {
    uint8_t version;      /* LINK_VERSION: ends of different versions don't talk */
    uint8_t role;         /* enum link_role */
    uint8_t flags;        /* LINK_HELLO_* */
    uint8_t channels;     /* number of channels supported by this end */
    uint16_t frame_most;  /* largest payload that this end accepts, in bytes */
    uint16_t zero;        /* sent as 0, ignored */
    uint32_t session;     /* of the sender: new each time it restarts, not 0 */
    uint32_t peer;        /* the receiver's session that this answers, 0: none seen */
    char board[32];       /* target: the board's name, NUL-terminated; host: "" */
    uint8_t build_id[20]; /* target: of the kernel's ELF; host: struct link_clock */
};
KYMO_STATIC_ASSERT(sizeof(struct link_hello) == 68, "layout on the link");

#endif
