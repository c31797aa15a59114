/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of KERCALL events in the common case: the event is logged in its fast form and nothing
 * else is asked, and its words are arguments or the first word of a message where the fast path of
 * messages finds it. Each function returns false in any other case, which kercall_quick.c handles.
 * Contexts as for kercall_trace_enter() (kernel/entry/entry.h). Tested by test/board's suites
 * events and events-wide; its instructions are counted by `make bench` (event_kercall).
 */
#ifndef KERNEL_ENTRY_KERCALL_QUICK_H
#define KERNEL_ENTRY_KERCALL_QUICK_H

#include "abi/compiler.h"
#include "kernel/base/kercall.h"
#include "kernel/ipc/msg.h"
#include "trace/log.h"
#include "trace/trace.h"

/* The source of a fast form's word. A value below QUICK_OTHER is an argument, as the index of its
 * word in struct thread. */
enum quick_code {
    QUICK_A0 = offsetof(struct thread, args) / sizeof(uintptr_t),
    QUICK_A5 = QUICK_A0 + 5,
    QUICK_OTHER,
    QUICK_ZERO = QUICK_OTHER, /* there is no such word */
    QUICK_M0,                 /* the first word of the outgoing message, of the reply */
    QUICK_R0,
    /* not simple: kercall_quick.c looks for it. Also all words of a number without a call */
    QUICK_NOT
};

struct kercall_quick {
    uint16_t code; /* of the entry: class << 10 | number */
    /* enter, exit: enum quick_code; exit: of the word after the returned value, never an
     * argument */
    uint8_t enter[2], exit;
    uint8_t smsg, rmsg; /* the arguments that are messages, as the indices of their words */
    uint8_t values;     /* a bit for each argument that is a number, not an address */
};
extern const struct kercall_quick kercall_quick[KERCALL_MAX];

static inline uintptr_t quick_argument(const struct thread *self, size_t code)
{
    /* the index is in units of size_t, so the compiler leaves no subtraction */
    return self->args[code - QUICK_A0];
}

/* Returns whether a value that is not a 32-bit number takes one word: see struct trace_values. */
static inline bool quick_fits(const struct kercall_quick *q, unsigned code, uintptr_t value)
{
    return (uint64_t)value >> 32 == 0 ||
           ((intptr_t)value == (int32_t)value && (q->values >> (code - QUICK_A0) & 1));
}

/* Reads the first word of the buffer that an argument and the next one describe. Returns false if
 * it is a list of parts, shorter than a word, or in memory that the cache doesn't cover. */
static inline bool quick_message(const struct thread *self, unsigned code,
                                 const struct vm_cache *cache, uint32_t *word)
{
    uintptr_t base = quick_argument(self, code);

    if ((intptr_t)quick_argument(self, code + 1) > -(intptr_t)sizeof(*word) || (base & 3) != 0 ||
        !msg_cached(cache, base, sizeof(*word))) {
        return false;
    }
    *word = *(const volatile uint32_t *)msg_cached_ptr(cache, base);
    return true;
}

/* Reads a word of an entry event. Returns false if the word is not found by the rules above. */
TRACE_INLINE bool quick_enter_word(const struct thread *self, const struct kercall_quick *q,
                                   unsigned code, uint32_t *word)
{
    if (likely(code < QUICK_OTHER)) {
        uintptr_t value = quick_argument(self, code);
        *word = (uint32_t)value;
        return likely((uint64_t)value >> 32 == 0) || quick_fits(q, code, value);
    }
    *word = 0;
    return code == QUICK_ZERO ||
           (code == QUICK_M0 && quick_message(self, q->smsg, &self->out_cache, word));
}

TRACE_INLINE bool kercall_quick_enter(const struct thread *self, const struct kercall_quick *q,
                                      unsigned number, uint32_t *d1, uint32_t *d2)
{
    return likely(trace_kercall_modes[number] == TRACE_KERCALL_LOG) &&
           quick_enter_word(self, q, q->enter[0], d1) && quick_enter_word(self, q, q->enter[1], d2);
}

/* Reads the word after the returned value. self is in a call of this number. */
TRACE_INLINE bool kercall_quick_exit(const struct thread *self, const struct kercall_quick *q,
                                     unsigned number, uint32_t *word)
{
    if (unlikely(trace_kercall_modes[number | TRACE_KERCALL_EXIT] != TRACE_KERCALL_LOG) ||
        self->result != (int32_t)self->result) {
        return false;
    }
    *word = (uint32_t)self->result_error;
    return unlikely(*word) || q->exit == QUICK_ZERO ||
           (q->exit == QUICK_R0 && quick_message(self, q->rmsg, &self->in_cache, word));
}

#endif
