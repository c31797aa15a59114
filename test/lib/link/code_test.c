/* SPDX-License-Identifier: BSD-2-Clause */
/* CRC and COBS by themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/link/cobs.h"
#include "lib/link/crc32c.h"
#include "test/lib/link/tests.h"

/* The catalogue's check value, and RFC 3720's for 32 zeros. */
void test_crc_check_value(void **state)
{
    static const uint8_t zeros[32];

    (void)state;
    assert_int_equal(~crc32c_add(CRC32C_START, "123456789", 9), 0xe3069283);
    assert_int_equal(~crc32c_add(CRC32C_START, zeros, 32), 0x8a9136aa);
    assert_int_equal(~crc32c_add(crc32c_add(CRC32C_START, "1234", 4), "56789", 5), 0xe3069283);
}

static size_t encode(const uint8_t *data, size_t bytes, uint8_t *out)
{
    struct cobs_encoder encoder;
    size_t part = bytes ? random_below((uint32_t)bytes + 1) : 0;

    cobs_begin(&encoder, out);
    cobs_put(&encoder, data, part);
    cobs_put(&encoder, data + part, bytes - part);
    return cobs_end(&encoder);
}

static void round_trip(const uint8_t *data, size_t bytes)
{
    uint8_t *coded = malloc(COBS_MOST(bytes)), *back = malloc(bytes + 1);
    struct cobs_decoder decoder = {.out = back, .room = bytes};
    size_t length = encode(data, bytes, coded);
    size_t part = random_below((uint32_t)length + 1);

    assert_true(length <= COBS_MOST(bytes));
    assert_null(memchr(coded, 0, length));
    cobs_decode(&decoder, coded, part);
    cobs_decode(&decoder, coded + part, length - part);
    assert_int_equal(cobs_decoder_whole(&decoder), bytes > 0);
    assert_int_equal(decoder.bytes, bytes);
    assert_memory_equal(back, data, bytes);
    free(coded);
    free(back);
}

/* No zeros, all zeros, and zeros here and there, at every length around the blocks' ends. */
void test_cobs_every_length(void **state)
{
    uint8_t data[1100];

    (void)state;
    random_seed(7);
    for (size_t bytes = 0; bytes <= sizeof(data); bytes++) {
        memset(data, 0x55, sizeof(data));
        round_trip(data, bytes);
        memset(data, 0, sizeof(data));
        round_trip(data, bytes);
        for (size_t i = 0; i < bytes; i++) {
            data[i] = random_below(300) < 2 ? 0 : (uint8_t)random_below(256);
        }
        round_trip(data, bytes);
    }
}

/* Any bytes may come: never more out than there is room for. */
void test_cobs_garbage(void **state)
{
    uint8_t *room = malloc(100);
    struct cobs_decoder decoder = {.out = room, .room = 100};
    uint8_t bytes[400];

    (void)state;
    random_seed(8);
    for (int i = 0; i < 20000; i++) {
        size_t count = 1 + random_below(sizeof(bytes));

        for (size_t j = 0; j < count; j++) {
            bytes[j] = (uint8_t)(1 + random_below(255));
        }
        cobs_decode(&decoder, bytes, count);
        assert_true(decoder.bytes <= 100);
        if (random_below(2)) {
            cobs_decoder_reset(&decoder);
        }
    }
    free(room);
}
