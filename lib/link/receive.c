/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes from the line: split at the zeros, decoded, checked, and accepted in order. A frame that is
 * not complete or not the next one is discarded and requested again, so no damaged data goes
 * further.
 */
#include <string.h>

#include "lib/link/crc32c.h"
#include "lib/link/frame.h"

#define ASK_AGAIN_MS 50

void receive_reset(struct link *link)
{
    link->expected = 0;
    link->nak_made = false;
    link->nak_due = link->ack_due = false;
}

/* Requests each missing frame once, and again if it stays missing. */
static void ask_again(struct link *link)
{
    if (link->nak_made && link->nak_for == link->expected &&
        link->now - link->nak_at < ASK_AGAIN_MS) {
        return;
    }
    link->nak_made = link->nak_due = true;
    link->nak_for = link->expected;
    link->nak_at = link->now;
}

static void bad_frame(struct link *link)
{
    link->stats.bad++;
    if (link->up) {
        ask_again(link);
    } else {
        link->hello_due = true; /* the other end may believe that the link is up */
    }
}

static void link_receive_take_sequenced(struct link *link, const struct link_frame *frame,
                                        const uint8_t *payload, size_t bytes)
{
    int16_t ahead = (int16_t)(uint16_t)(frame->number - link->expected);

    if (ahead != 0) {
        link->stats.again++;
        link->ack_due = true;
        if (ahead > 0) {
            ask_again(link);
        }
        return;
    }
    link->expected++;
    link->ack_due = true;
    channel_frame(link, frame, payload, bytes);
}

static void link_receive_take_hello(struct link *link, const uint8_t *payload, size_t bytes)
{
    struct link_hello hello;

    if (bytes > 0 && payload[0] != LINK_VERSION) {
        link->config.user->stranger(link->config.context, payload[0]);
        return;
    }
    if (bytes != sizeof(hello)) {
        return;
    }
    memcpy(&hello, payload, sizeof(hello));
    hello.board[sizeof(hello.board) - 1] = '\0';
    link_hello_came(link, &hello);
}

static void good_frame(struct link *link, const struct link_frame *frame, const uint8_t *payload,
                       size_t bytes)
{
    link->stats.frames_in++;
    if (frame->type == LINK_HELLO) {
        link_receive_take_hello(link, payload, bytes);
        return;
    }
    link->heard = link->now;
    window_ack(link, frame->ack, frame->type == LINK_ACK && frame->channel != 0);
    if (frame->type == LINK_GOODBYE) {
        link_fall(link, LINK_BYE);
    } else if (frame->type >= LINK_SEQUENCED && frame->type < LINK_TYPES) {
        link_receive_take_sequenced(link, frame, payload, bytes);
    } else if (frame->type != LINK_ACK) {
        link_fall(link, LINK_STRANGE);
    }
}

static void frame_end(struct link *link)
{
    const uint8_t *bytes = link->decoder.out;
    size_t payload = link->decoder.bytes - LINK_FRAME_HEAD - LINK_FRAME_CHECK;
    struct link_frame frame;
    uint32_t check;

    if (!cobs_decoder_whole(&link->decoder) ||
        link->decoder.bytes < LINK_FRAME_HEAD + LINK_FRAME_CHECK) {
        bad_frame(link);
        return;
    }
    memcpy(&frame, bytes, sizeof(frame));
    memcpy(&check, bytes + LINK_FRAME_HEAD + payload, sizeof(check));
    bool is_hello = frame.type == LINK_HELLO;
    if ((!link->up && !is_hello) || link_check(is_hello ? CRC32C_START : link->key_in, bytes,
                                               LINK_FRAME_HEAD + payload) != check) {
        bad_frame(link);
        return;
    }
    good_frame(link, &frame, bytes + LINK_FRAME_HEAD, payload);
}

void link_input(struct link *link, uint32_t now, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;

    link->now = now;
    link->stats.bytes_in += count;
    while (count > 0) {
        const uint8_t *zero = memchr(at, 0, count);
        size_t part = zero ? (size_t)(zero - at) : count;

        link->any = link->any || part > 0;
        cobs_decode(&link->decoder, at, part);
        if (zero) {
            if (link->any) {
                frame_end(link);
            }
            cobs_decoder_reset(&link->decoder);
            link->any = false;
            part++;
        }
        at += part;
        count -= part;
    }
}
