/* SPDX-License-Identifier: BSD-2-Clause */
/* See cobs.h. */
#include "lib/link/cobs.h"

#include <string.h>

#define FULL 255 /* the code of a block of 254 bytes, which stands for no 0 */

void cobs_begin(struct cobs_encoder *encoder, uint8_t *out)
{
    encoder->out = out;
    encoder->mark = 0;
    encoder->at = 1;
    encoder->code = 1;
}

static void block_end(struct cobs_encoder *encoder)
{
    encoder->out[encoder->mark] = encoder->code;
    encoder->mark = encoder->at++;
    encoder->code = 1;
}

/* Copies the block's bytes, at most up to a 0, the data's end or a full block. */
static size_t block_fill(struct cobs_encoder *encoder, const uint8_t *data, size_t bytes)
{
    size_t room = (size_t)(FULL - encoder->code);
    size_t most = bytes < room ? bytes : room;
    const uint8_t *zero = memchr(data, 0, most);
    size_t taken = zero ? (size_t)(zero - data) : most;

    memcpy(encoder->out + encoder->at, data, taken);
    encoder->at += taken;
    encoder->code = (uint8_t)(encoder->code + taken);
    return taken;
}

void cobs_put(struct cobs_encoder *encoder, const void *data, size_t bytes)
{
    const uint8_t *at = data;

    while (bytes > 0) {
        size_t taken = block_fill(encoder, at, bytes);

        at += taken;
        bytes -= taken;
        if (encoder->code == FULL) {
            block_end(encoder);
        } else if (bytes > 0) { /* at a 0 */
            block_end(encoder);
            at++;
            bytes--;
        }
    }
}

size_t cobs_end(struct cobs_encoder *encoder)
{
    encoder->out[encoder->mark] = encoder->code;
    return encoder->at;
}

void cobs_decoder_reset(struct cobs_decoder *decoder)
{
    decoder->bytes = 0;
    decoder->left = 0;
    decoder->zero = false;
    decoder->bad = false;
}

static void out_put(struct cobs_decoder *decoder, const uint8_t *data, size_t bytes)
{
    if (bytes > decoder->room - decoder->bytes) {
        decoder->bad = true;
        return;
    }
    memcpy(decoder->out + decoder->bytes, data, bytes);
    decoder->bytes += bytes;
}

static void block_begin(struct cobs_decoder *decoder, uint8_t code)
{
    static const uint8_t nought;

    if (decoder->zero) {
        out_put(decoder, &nought, 1);
    }
    decoder->left = (uint8_t)(code - 1);
    decoder->zero = code != FULL;
}

void cobs_decode(struct cobs_decoder *decoder, const uint8_t *data, size_t bytes)
{
    while (bytes > 0 && !decoder->bad) {
        if (decoder->left == 0) {
            block_begin(decoder, *data++);
            bytes--;
        }
        size_t part = bytes < decoder->left ? bytes : decoder->left;
        out_put(decoder, data, part);
        decoder->left = (uint8_t)(decoder->left - part);
        data += part;
        bytes -= part;
    }
}

bool cobs_decoder_whole(const struct cobs_decoder *decoder)
{
    return !decoder->bad && decoder->left == 0 && decoder->bytes > 0;
}
