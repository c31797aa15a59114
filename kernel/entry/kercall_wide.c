/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * KERCALL events in the wide form, if the log is the only listener: their words are written
 * straight into slots. kercall_trace.c handles a value that needs two words where the table has
 * one, and a structure that is not entirely in the caller's memory; it also describes the meaning
 * of the events. The words are the same. Contexts as there. Tested by test/board's suite
 * events-wide, where a program predicts every word; counted by `make bench` (event_mean_wide).
 */
#include "kernel/entry/kercall_trace.h"

#include "abi/compiler.h"
#include "kernel/proc/proc.h"
#include "trace/log.h"
#include "trace/trace.h"

/* Returns whether a value takes one word: see struct trace_values. */
static inline bool wide_fits(uint64_t value, bool is_signed)
{
    return value >> 32 == 0 || (is_signed && value >> 31 == UINT64_MAX >> 31);
}

/* Writes a field's words. Returns the position of the next word, or NULL if the value doesn't fit
 * its one word. */
static inline uint32_t *wide_field(uint32_t *out, const char *from, unsigned size)
{
    uint64_t value;

    if (likely((size & ~SIGNED) == sizeof(*out))) {
        __builtin_memcpy(out, from, sizeof(*out));
        return out + 1;
    }
    value = field_load(from, size);
    *out++ = (uint32_t)value;
    if (size & LONG) {
        *out++ = (uint32_t)(value >> 32);
        return out;
    }
    return wide_fits(value, size & SIGNED) ? out : NULL;
}

static inline uint32_t *wide_argument(uint32_t *out, const struct thread *self, unsigned i)
{
    bool is_signed = kercall_words_of[self->call].arguments[i] == VALUE;
    uintptr_t value = self->args[i];

    *out++ = (uint32_t)value;
    return sizeof(value) == sizeof(*out) ||
                   wide_fits(is_signed ? (uint64_t)(intptr_t)value : value, is_signed)
               ? out
               : NULL;
}

/* Returns as kercall_trace_structure() does; the fields of no structure are 0. */
static inline const char *wide_structure(struct thread *self, const struct word *word, bool enter)
{
    /* after each offset there is room for a field */
    static const char zeros[UINT8_MAX + sizeof(uint64_t)];

    return self->args[word->code - FIELD] == 0 ? zeros : kercall_trace_structure(self, word, enter);
}

/* Writes the words of a list (NULL: there is no such call), at most KERCALL_WORDS values, up to the
 * list's end or, for a pulse, up to the words about its sender. Returns as wide_field() does. */
static inline uint32_t *wide_collect(struct thread *self, const struct word *word, bool enter,
                                     uint32_t *out)
{
    uintptr_t message[3] = {0, 0, 0};
    bool has_message = false;
    unsigned structure = NONE;
    const char *from = NULL;

    for (; word && word->code != NONE && out; word++) {
        unsigned code = word->code;
        if (code >= FIELD) {
            if (code != structure) {
                if (has_message && self->result == 0) {
                    return out;
                }
                from = wide_structure(self, word, enter);
                if (!from) {
                    return NULL;
                }
                structure = code;
            }
            out = wide_field(out, from + word->offset, word->size);
        } else if (code <= WORD_A5) {
            out = wide_argument(out, self, code - WORD_A0);
        } else if (code == WORD_OWNER) {
            *out++ = (uint32_t)self->proc->pid;
        } else {
            if (!has_message) {
                kercall_trace_message(self, code >= WORD_R0 ? MSG_rmsg : MSG_smsg, message);
                has_message = true;
            }
            *out++ = (uint32_t)message[(code - WORD_M0) % 3];
        }
    }
    return out;
}

/* Logs the words up to end, where there is room for one more word; an event without words is logged
 * with two zeros. */
static inline void wide_log(unsigned number, uint32_t *words, uint32_t *end)
{
    *end = 0;
    if (end == words) {
        *++end = 0;
    }
    trace_log_slots(trace_kercall_class(number) << TRACE_CLASS_SHIFT | number, words,
                    (unsigned)(end - words + 1) / 2);
}

bool kercall_wide_enter(struct thread *self)
{
    uint32_t words[2 * KERCALL_WORDS + 2];
    uint32_t *end = wide_collect(self, kercall_words_of[self->call].enter_wide, true, words);

    if (unlikely(!end)) {
        return false;
    }
    wide_log(self->call | TRACE_KERCALL_ENTER, words, end);
    return true;
}

/* Logs the returned value, then errno or the words of the list. */
bool kercall_wide_exit(struct thread *self)
{
    uint32_t words[2 * KERCALL_WORDS + 2];
    uint32_t *end = words + 1;

    if (unlikely(self->result != (int32_t)self->result)) {
        return false;
    }
    words[0] = (uint32_t)self->result;
    if (self->result_error) {
        *end++ = (uint32_t)self->result_error;
    } else {
        end = wide_collect(self, kercall_words_of[self->call].exit_wide, false, end);
    }
    if (unlikely(!end)) {
        return false;
    }
    wide_log(self->call | TRACE_KERCALL_EXIT, words, end);
    return true;
}
