/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * User events: events that a program inserts by TraceEvent(INSERT*USEREVENT). Any context, no lock,
 * no ability needed. Data is in memory that the kernel may read; the log and D see the same.
 * Errors: -EINVAL: event numbers above 1023, more than KYMO_TRACE_USER_COMBINE_MAX bytes. An event
 * that is filtered out or not being traced is not an error.
 *
 * All have one site, TRACE_EV_user_event: while neither the log nor D wants them it is one no-op,
 * and programs that have registered a word for it (KYMO_TRACE_USERWORD) don't even call. D's probes
 * are those of the provider `user` (trace/probes.def). They fire regardless of the log's filter.
 * The system's static probes have a site of their own, TRACE_EV_system_probe, so that they are
 * switched separately. Tested by test/trace/user_test.c; from programs by test/board's t_trace, and
 * causes for D.
 */
#include "trace/user.h"

#include "abi/errno.h"
#include "abi/sys/log.h"
#include "abi/sys/trace.h"
#include "trace/assert.h"
#include "trace/stamp.h"
#include "trace/trace.h"

/* The kind by which D's probes are distinguished (trace/probes.def), in place of a thread's
 * state. */
enum user_kind { USER_SIMPLE, USER_COMBINE, USER_STRING };

static inline bool user_site_on(void)
{
    return TRACE_PORT_SITE_ON(TRACE_EV_user_event);
}

static inline bool user_on(uint32_t event)
{
    return trace_bit(trace_site_logged, TRACE_EV_user_event) &&
           trace_bit(trace_filter.user_on, event);
}

/* Returns whether the event is logged and D listens: then its probes get its stamp. */
static inline bool user_both(uint32_t event)
{
    return trace_bit(trace_site_probed, TRACE_EV_user_event) && user_on(event);
}

/* Returns the first two of n words as one number, by which D identifies a static probe
 * (host/log/probes.c). */
static inline uint64_t two_words(const uint32_t *words, unsigned n)
{
    return (n > 1 ? (uint64_t)words[1] << 32 : 0) | (n > 0 ? words[0] : 0);
}

/* Fires D's probes, if there are any. about: the event, d1, d2. For data of a kind other than
 * USER_SIMPLE, d1 is its number of words or bytes. */
COLD static void user_fire(enum user_kind kind, const uint32_t about[3], const void *data,
                           uint64_t first)
{
    uint32_t count = data ? about[1] : 0;
    const uint64_t words[] = {about[0], about[1], about[2], (uintptr_t)data, kind, 0,
                              1,        count,    first};

    if (trace_bit(trace_site_probed, TRACE_EV_user_event) &&
        trace_port_listens(TRACE_EV_user_event)) {
        trace_port_fire(TRACE_EV_user_event, words);
    }
}

/* Fires with a copy that ends with a NUL, because D's strings do. */
COLD static void user_fire_string(uint32_t event, const char *text, unsigned bytes)
{
    char copy[KYMO_TRACE_USER_COMBINE_MAX];

    __builtin_memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    user_fire(USER_STRING, (const uint32_t[]){event, bytes, 0}, copy, 0);
}

long trace_user_simple(uint32_t event, uint32_t d1, uint32_t d2)
{
    if (event >= TRACE_USER_EVENTS) {
        return -EINVAL;
    }
    if (user_site_on()) {
        const bool both = user_both(event);
        uintptr_t irq = both ? trace_stamp_begin() : 0;

        if (user_on(event)) {
            trace_log2(TRACE_CLASS_USER, event, d1, d2);
        }
        if (both) {
            trace_stamp_take();
        }
        user_fire(USER_SIMPLE, (const uint32_t[]){event, d1, d2}, NULL, (uint64_t)d2 << 32 | d1);
        if (both) {
            trace_stamp_end(irq);
        }
    }
    return 0;
}

long trace_user_combine(uint32_t event, const uint32_t *words, unsigned nwords)
{
    if (event >= TRACE_USER_EVENTS || nwords > KYMO_TRACE_USER_COMBINE_MAX / sizeof(uint32_t)) {
        return -EINVAL;
    }
    if (user_site_on()) {
        const bool both = user_both(event);
        uintptr_t irq = both ? trace_stamp_begin() : 0;

        if (user_on(event)) {
            trace_log_words(TRACE_CLASS_USER, event, &(struct trace_words){words, nwords, NULL, 0});
        }
        if (both) {
            trace_stamp_take();
        }
        user_fire(USER_COMBINE, (const uint32_t[]){event, nwords, 0}, words,
                  two_words(words, nwords));
        if (both) {
            trace_stamp_end(irq);
        }
    }
    return 0;
}

long trace_user_probe(const uint32_t *words, unsigned nwords)
{
    enum { SITE = TRACE_EV_system_probe };
    const uint64_t about[] = {KYMO_LOG_SYSTEM_CODE, (uintptr_t)words, nwords,
                              two_words(words, nwords), 0};

    if (nwords > KYMO_TRACE_USER_COMBINE_MAX / sizeof(uint32_t)) {
        return -EINVAL;
    }
    if (TRACE_PORT_SITE_ON(SITE)) {
        uintptr_t irq = trace_stamp_begin();

        if (trace_bit(trace_site_logged, SITE)) {
            trace_log_words(TRACE_CLASS_USER, KYMO_LOG_SYSTEM_CODE,
                            &(struct trace_words){words, nwords, NULL, 0});
            trace_stamp_take();
        }
        if (trace_bit(trace_site_probed, SITE) && trace_port_listens(SITE)) {
            trace_port_fire(SITE, about);
        }
        trace_stamp_end(irq);
    }
    return 0;
}

void trace_user_text_words(uint32_t event, uint32_t *words, unsigned n)
{
    trace_assert(n >= 1 && n <= TRACE_USER_TEXT_WORDS);
    if (n <= TRACE_SHORT_TEXT_BYTES / sizeof(*words)) {
        words[1] = n == 1 ? 0 : words[1];
        words[2] = TRACE_SHORT_TEXT_D1;
        words[3] = TRACE_SHORT_TEXT_D2;
        n = 4;
    } else if (n % 2 != 0) {
        words[n++] = 0;
    }
    trace_log_slots(TRACE_CLASS_USER << TRACE_CLASS_SHIFT | event, words, n / 2);
}

void trace_user_combine_words(uint32_t event, uint32_t *words, unsigned n)
{
    trace_assert(n >= 3 && n <= TRACE_USER_TEXT_WORDS);
    if (n % 2 != 0) {
        words[n++] = 0;
    }
    trace_log_slots(TRACE_CLASS_USER << TRACE_CLASS_SHIFT | event, words, n / 2);
}

static void log_text(uint32_t event, const char *text, unsigned bytes)
{
    if (bytes >= TRACE_SHORT_TEXT_BYTES) {
        trace_log_words(TRACE_CLASS_USER, event, &(struct trace_words){NULL, 0, text, bytes});
        return;
    }
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
    if (!user_site_on()) {
        return 0;
    }
    for (uint32_t word; bytes + sizeof(word) < len_with_nul; bytes += sizeof(word)) {
        __builtin_memcpy(&word, text + bytes, sizeof(word));
        if ((word - 0x01010101u) & ~word & 0x80808080u) { /* it contains the NUL */
            break;
        }
    }
    while (bytes + 1 < len_with_nul && text[bytes]) {
        bytes++;
    }
    const bool both = user_both(event);
    uintptr_t irq = both ? trace_stamp_begin() : 0;

    if (user_on(event)) {
        log_text(event, text, bytes);
    }
    if (both) {
        trace_stamp_take();
    }
    if (trace_bit(trace_site_probed, TRACE_EV_user_event)) {
        user_fire_string(event, text, bytes);
    }
    if (both) {
        trace_stamp_end(irq);
    }
    return 0;
}
