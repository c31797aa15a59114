/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of every kind and size for random_test.c: all that an event holds follows from its CPU,
 * its serial number there, its kind and whether it is wide, so what was recorded can be checked
 * word by word. What is expected is written here a second time, not taken from trace/.
 */
#ifndef TEST_TRACE_RANDOM_EVENTS_H
#define TEST_TRACE_RANDOM_EVENTS_H

#include "test/trace/look.h"

enum kind {
    KIND_USER,   /* two words */
    KIND_WORDS,  /* up to 64 */
    KIND_STRING, /* up to 255 bytes */
    KIND_COMM,
    KIND_STATE,
    KIND_NAME,
    KIND_MMAP,
    KIND_INTERRUPT, /* one slot, or two with a 64-bit address */
    KIND_CALL,
    KIND_BIG, /* up to the largest that fits a buffer */
    KIND_TOO_BIG,
    KINDS
};

struct event {
    unsigned class, number;
    uint32_t words[2 * TRACE_BUFFER_SLOTS + 2];
    unsigned nwords; /* padding included */
};

/* What a STOP turns off at once: a site is patched. The others go straight to the log. */
static inline bool kind_is_guarded(enum kind kind)
{
    return kind <= KIND_CALL;
}
static inline bool kind_has_site(enum kind kind)
{
    return kind >= KIND_COMM && kind <= KIND_CALL;
}
unsigned kind_class(enum kind kind);
/* What is to be found in the buffer. */
void event_expect(unsigned cpu, uint32_t serial, enum kind kind, bool wide, struct event *e);
/* Makes it happen on this CPU. */
void event_emit(unsigned cpu, uint32_t serial, enum kind kind, bool wide);
/* Kind and serial of what was found. */
enum kind event_recognise(const struct seen *seen, uint32_t *serial);

#endif
