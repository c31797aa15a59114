/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * User events: events that a program inserts by TraceEvent(INSERT*USEREVENT). Any context, no lock,
 * no ability needed. Data is in memory that the kernel may read; it is read once. Refused with
 * -EINVAL: event numbers above 1023, more than KYMO_TRACE_USER_COMBINE_MAX bytes. An event that is
 * filtered out or not being traced is not an error. Proof: test/unit/test_user.c.
 */
#include "abi/errno.h"
#include "abi/sys/trace.h"
#include "trace/filter.h"
#include "trace/log.h"
#include "trace/trace.h"

static inline bool user_on(uint32_t event)
{
    return trace_user_wanted && trace_bit(trace_filter.user_on, event);
}

long trace_user_simple(uint32_t event, uint32_t d1, uint32_t d2)
{
    if (event >= TRACE_USER_EVENTS) {
        return -EINVAL;
    }
    if (user_on(event)) {
        trace_log2(TRACE_CLASS_USER, event, d1, d2);
    }
    return 0;
}

long trace_user_combine(uint32_t event, const uint32_t *words, unsigned nwords)
{
    if (event >= TRACE_USER_EVENTS || nwords > KYMO_TRACE_USER_COMBINE_MAX / sizeof(uint32_t)) {
        return -EINVAL;
    }
    if (user_on(event)) {
        trace_log_words(TRACE_CLASS_USER, event, &(struct trace_words){words, nwords, NULL, 0});
    }
    return 0;
}

static void log_short(uint32_t event, const char *text, unsigned bytes)
{
    uint32_t words[4] = {0, 0, TRACE_SHORT_TEXT_D1, TRACE_SHORT_TEXT_D2};

    for (unsigned i = 0; i < bytes; i++) {
        words[i / 4] |= (uint32_t)(uint8_t)text[i] << (i % 4 * 8);
    }
    trace_log_words(TRACE_CLASS_USER, event, &(struct trace_words){words, 4, NULL, 0});
}

long trace_user_string(uint32_t event, const char *text, unsigned len_with_nul)
{
    unsigned bytes = 0;

    if (event >= TRACE_USER_EVENTS || len_with_nul > KYMO_TRACE_USER_COMBINE_MAX) {
        return -EINVAL;
    }
    if (!user_on(event)) {
        return 0;
    }
    while (bytes + 1 < len_with_nul && text[bytes]) {
        bytes++;
    }
    if (bytes < TRACE_SHORT_TEXT_BYTES) {
        log_short(event, text, bytes);
    } else {
        trace_log_words(TRACE_CLASS_USER, event, &(struct trace_words){NULL, 0, text, bytes});
    }
    return 0;
}
