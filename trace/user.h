/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The common case of user events (trace/user.c has the others): the log is the only listener, no
 * gate is armed, and the data consists of words. For callers that handle the other cases
 * themselves: each function returns false, with nothing done, in any other case. Any context, no
 * lock. Tested by test/trace/user_test.c; counted by `make bench` (event_user, event_text_20).
 */
#ifndef TRACE_USER_H
#define TRACE_USER_H

#include "abi/compiler.h"
#include "trace/filter.h"
#include "trace/log.h"

/* Returns whether the event, which is of class USER and in range, goes to the log only. */
TRACE_INLINE bool trace_user_log_only(uint32_t event)
{
    switch (TRACE_PORT_SITE(TRACE_EV_user_event)) {
    case TRACE_SITE_LOG:
        return event < TRACE_USER_EVENTS && trace_bit(trace_filter.user_on, event);
    case TRACE_SITE_OFF:
    case TRACE_SITE_ALL:
        break;
    }
    return false;
}

/* Likewise for a static probe of the library or a driver (trace_user_probe()). */
TRACE_INLINE bool trace_user_probe_log_only(void)
{
    switch (TRACE_PORT_SITE(TRACE_EV_system_probe)) {
    case TRACE_SITE_LOG:
        return true;
    case TRACE_SITE_OFF:
    case TRACE_SITE_ALL:
        break;
    }
    return false;
}

/* Records two words, after the caller has tested trace_user_log_only(event). Returns false, with
 * nothing done, if this is not the common case; see trace_log2_usual(). */
TRACE_INLINE bool trace_user_two_usual(uint32_t event, uint32_t d1, uint32_t d2)
{
    return trace_log2_usual(TRACE_CLASS_USER, TRACE_CLASS_USER << TRACE_CLASS_SHIFT | event, d1,
                            d2);
}

/* The most words of a text that trace_user_text_words() takes. */
enum { TRACE_USER_TEXT_WORDS = 16 };

/*
 * Records a text as it is in memory: n words, the last of which has its first NUL. words has room
 * for TRACE_USER_TEXT_WORDS; words after the text are overwritten. The caller has tested
 * trace_user_log_only(event).
 */
void trace_user_text_words(uint32_t event, uint32_t *words, unsigned n);
/* Likewise records n words, 3 or more, that are not text; after an odd number of them a zero is
 * written. For a probe the caller has tested trace_user_probe_log_only(). */
void trace_user_combine_words(uint32_t event, uint32_t *words, unsigned n);

#endif
