/* SPDX-License-Identifier: BSD-2-Clause */
/* Internal declarations of lib/link/: the frame on the wire, and the functions of each file. */
#ifndef LIB_LINK_FRAME_H
#define LIB_LINK_FRAME_H

#include "abi/static_assert.h"
#include "lib/link/link.h"

/* Before COBS: this, the payload, the CRC-32C. Little-endian. */
struct link_frame {
    uint8_t type;    /* enum link_type */
    uint8_t channel; /* ACK: 1 if something is missing; BYE: 0 */
    uint16_t number; /* of this frame; used from LINK_SEQUENCED on */
    uint16_t ack;    /* the frame that the sender expects next */
};
KYMO_STATIC_ASSERT(sizeof(struct link_frame) == LINK_FRAME_HEAD, "layout on the link");

enum link_type {
    LINK_HELLO = 1, /* struct link_hello */
    LINK_ACK,       /* nothing */
    LINK_GOODBYE,   /* nothing */
    LINK_SEQUENCED = 0x10,
    LINK_OPEN = LINK_SEQUENCED, /* u32 credit, the service's name */
    LINK_ACCEPT,                /* u32 credit */
    LINK_CLOSE,                 /* i32 reason */
    LINK_CREDIT,                /* u32: bytes allowed since the channel opened */
    LINK_FIRST,                 /* u32: bytes of the message; the first of them */
    LINK_MORE,                  /* the following ones */
    LINK_TYPES,
};

enum link_channel_state { LINK_FREE, LINK_OPENING, LINK_OPENED, LINK_CLOSING };

#define LINK_WANT_OPEN 0x01
#define LINK_WANT_ACCEPT 0x02
#define LINK_WANT_CREDIT 0x04
#define LINK_WANT_CLOSE 0x08
#define LINK_WANT_FETCH 0x10 /* there may be bytes to fetch */

#define LINK_HELLO_APART_MS 100
#define LINK_PATIENCE_LEAST 30
#define LINK_PATIENCE_MOST 2000

/* link.c: the link goes up and down. */
void link_begin_again(struct link *link);
void link_fall(struct link *link, enum link_down why);
void link_hello_came(struct link *link, const struct link_hello *hello);

/* encode.c: makes a whole frame, with a 0 before and after; the payload is two pieces. Returns its
 * bytes. */
size_t link_encode(uint32_t key, const struct link_frame *frame, const void *first, size_t nfirst,
                   const void *second, size_t nsecond, uint8_t *out);
/* Returns the initial state of the check of all frames from `role`. */
uint32_t link_key(uint32_t host_session, uint32_t target_session, uint8_t role);
uint32_t link_check(uint32_t key, const void *frame, size_t bytes);

/* window.c: frames that are retransmitted until they are acknowledged. */
void window_reset(struct link *link);
bool window_has_room(const struct link *link);
/* Returns true if the next frame of the window is a retransmission, whose ack is an old one. */
bool window_repeats(const struct link *link);
void window_put(struct link *link, uint8_t type, unsigned channel, const void *first, size_t nfirst,
                const void *second, size_t nsecond);
void window_ack(struct link *link, uint16_t ack, bool missing);
void window_check_time(struct link *link);
bool window_next(struct link *link); /* link->line is now a frame to send */
uint32_t window_wait(const struct link *link);

/* channel.c, make.c: the channels' frames, in and out. */
void channels_reset(struct link *link);
bool channels_make(struct link *link); /* makes one frame, if there is something to send */
void channel_frame(struct link *link, const struct link_frame *frame, const uint8_t *payload,
                   size_t bytes);

/* receive.c: bytes from the line. */
void receive_reset(struct link *link);

#endif
