/* SPDX-License-Identifier: BSD-2-Clause */
/* Encodes frames. Any context. docs/reference/link.md, "Frames". */
#include "lib/link/crc32c.h"
#include "lib/link/frame.h"

/* Returns a key that makes a frame valid only in its session and its direction, so that neither
 * leftovers of an earlier session in a buffer nor an echo of our own frames is accepted. */
uint32_t link_key(uint32_t host_session, uint32_t target_session, uint8_t role)
{
    uint32_t key = crc32c_add(CRC32C_START, &host_session, sizeof(host_session));

    key = crc32c_add(key, &target_session, sizeof(target_session));
    return crc32c_add(key, &role, sizeof(role));
}

uint32_t link_check(uint32_t key, const void *frame, size_t bytes)
{
    return ~crc32c_add(key, frame, bytes);
}

size_t link_encode(uint32_t key, const struct link_frame *frame, const void *first, size_t nfirst,
                   const void *second, size_t nsecond, uint8_t *out)
{
    uint32_t check = crc32c_add(crc32c_add(key, frame, sizeof(*frame)), first, nfirst);
    struct cobs_encoder encoder;
    size_t bytes;

    check = ~crc32c_add(check, second, nsecond);
    out[0] = 0;
    cobs_begin(&encoder, out + 1);
    cobs_put(&encoder, frame, sizeof(*frame));
    cobs_put(&encoder, first, nfirst);
    cobs_put(&encoder, second, nsecond);
    cobs_put(&encoder, &check, sizeof(check));
    bytes = cobs_end(&encoder) + 1;
    out[bytes] = 0;
    return bytes + 1;
}
