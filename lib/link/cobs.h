/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Consistent overhead byte stuffing: encodes bytes without a 0, so that 0 can separate frames. Any
 * context, no state except the structs. Tested by test/lib/link against every length and random
 * bytes.
 */
#ifndef LIB_LINK_COBS_H
#define LIB_LINK_COBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest number of bytes that n bytes can become. */
#define COBS_MOST(n) ((n) + (n) / 254 + 2)

/* Encoding into memory with room for COBS_MOST of all that is put. */
struct cobs_encoder {
    uint8_t *out;
    size_t at;   /* next byte to write */
    size_t mark; /* where the block's code goes */
    uint8_t code;
};
void cobs_begin(struct cobs_encoder *encoder, uint8_t *out);
void cobs_put(struct cobs_encoder *encoder, const void *data, size_t bytes);
size_t cobs_end(struct cobs_encoder *encoder); /* bytes written */

/* Decoding of data in pieces; the caller splits at the zeros. */
struct cobs_decoder {
    uint8_t *out;
    size_t room, bytes; /* of out; decoded so far */
    uint8_t left;       /* bytes of the block still to come */
    bool zero;          /* the ended block stands for a 0, if another follows */
    bool bad;           /* it didn't fit */
};
void cobs_decoder_reset(struct cobs_decoder *decoder);
/* Decodes bytes that contain no 0. */
void cobs_decode(struct cobs_decoder *decoder, const uint8_t *data, size_t bytes);
/* At a 0: returns whether the frame is complete and not empty. */
bool cobs_decoder_whole(const struct cobs_decoder *decoder);

#endif
