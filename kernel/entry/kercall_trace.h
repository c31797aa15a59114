/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by kercall_quick.c, kercall_wide.c and kercall_trace.c; the functions that other rooms
 * call are in kernel/entry/entry.h. */
#ifndef KERNEL_ENTRY_KERCALL_TRACE_H
#define KERNEL_ENTRY_KERCALL_TRACE_H

#include <stddef.h>

#include "kernel/base/kercall.h"
#include "kernel/base/string.h"
#include "kernel/entry/entry.h"

/* Trace the events of a call, for the log and D, in any form. For the exit, self is in a call. */
void kercall_trace_enter_any(struct thread *self);
void kercall_trace_exit_any(struct thread *self);

/* Trace the same events if they are logged in their wide form and have no other listener
 * (TRACE_KERCALL_WIDE). Return false, having done nothing, in rare cases. */
bool kercall_wide_enter(struct thread *self);
bool kercall_wide_exit(struct thread *self);

/* ---- the words of each call, from the table abi/kercalls.def ----------------------- */

/* Codes of a word. FIELD plus the number of an argument: the word is in the memory that the
 * argument points to. NONE ends a list. */
enum code {
    NONE,
    WORD_A0, /* the call's arguments */
    WORD_A5 = WORD_A0 + 5,
    WORD_M0,               /* the first words of the outgoing message */
    WORD_R0 = WORD_M0 + 3, /* the first words of the reply */
    WORD_OWNER = WORD_R0 + 3,
    FIELD
};
/* Codes of an argument: the kind of its value. */
enum argument { VALUE, POINTER, MSG_smsg, MSG_rmsg };

/* size: bytes of a field, and how to read them. */
#define BYTES 15
#define SIGNED 64
#define LONG 128
struct word {
    uint8_t code, offset, size;
    uint8_t whole; /* of a field: bytes of its structure; 0: too many to encode */
};

struct kercall_words {
    const struct word *enter, *enter_wide, *exit_wide;
    uint8_t arguments[6]; /* enum argument */
};

extern const struct kercall_words kercall_words_of[KERCALL_MAX];

/* Returns a field that begins at `from`. */
static inline uint64_t field_load(const char *from, unsigned size)
{
    uint64_t value = 0;

    if ((size & BYTES) == sizeof(uint32_t)) {
        uint32_t word;
        __builtin_memcpy(&word, from, sizeof(word));
        return size & SIGNED ? (uint64_t)(int64_t)(int32_t)word : word;
    }
    unsigned rest = 64 - 8 * (size & BYTES);
    memcpy(&value, from, size & BYTES);
    return size & SIGNED ? (uint64_t)((int64_t)(value << rest) >> rest) : value;
}

/* Reads the first three words of a message; words that the caller doesn't have are left
 * unchanged. */
void kercall_trace_message(struct thread *self, enum argument kind, uintptr_t words[3]);
/* Returns the structure that an argument names, or NULL if it is not entirely in the caller's
 * memory. enter: it is a structure that the call is about to read. */
const char *kercall_trace_structure(struct thread *self, const struct word *word, bool enter);

#endif
