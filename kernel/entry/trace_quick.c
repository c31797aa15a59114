/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceEvent() in the common case: a program's own event of two words, or a text of fewer than
 * TRACE_USER_TEXT_WORDS words, which only the log wants; its own event of 3 to so many words, or a
 * static probe of the library or a driver, which the log or D wants. Without the kernel lock, and
 * without the general path's steps: docs/reference/performance.md has the budget. Everything else
 * is left to that path (kernel/observe/trace_calls.c), with nothing done, so the two must agree in
 * what they record, and in what D sees.
 *
 * Entered instead of kercall_held() or kercall_unlocked(), unless function probes are enabled
 * (kercall_use_direct()). Texts and words are read through the thread's user mapping caches, which
 * the general path fills, and each word is read once, because other threads may change it. The
 * memory stays mapped: mappings are removed only while no thread of the process is in the kernel
 * (kernel/mem/mem.h), and the caches are emptied before. Tested by test/board's suites events
 * (t_events, whose events are compared value for value), log and api (t_trace); counted by `make
 * bench` (event_user, event_text_20, event_log, static_library).
 */
#include "abi/compiler.h"
#include "abi/sys/log.h"
#include "abi/sys/trace.h"
#include "kernel/arch/cpu.h"
#include "kernel/entry/exit.h"
#include "kernel/entry/msg_direct.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/proc.h"
#include "trace/trace.h"
#include "trace/user.h"

/* May have any alignment: all CPUs load a word from every address of normal memory. */
struct quick_word {
    uint32_t word;
} __attribute__((packed, may_alias));

/*
 * Copies a text up to its NUL, and fills the rest of the last word with zeros. Returns the number
 * of words, or 0 if the text is too long. In `zeros`, the lowest set bit belongs to the lowest byte
 * that is 0, because a borrow only moves up.
 */
static inline unsigned quick_text_copy(const volatile struct quick_word *from,
                                       uint32_t words[TRACE_USER_TEXT_WORDS])
{
    for (unsigned i = 0; i < TRACE_USER_TEXT_WORDS; i++) {
        uint32_t word = from[i].word;
        uint32_t zeros = (word - 0x01010101u) & ~word & 0x80808080u;

        words[i] = word;
        if (zeros) {
            words[i] = word & (((zeros & -zeros) >> 7) - 1);
            return i + 1;
        }
    }
    return 0;
}

/* Returns false, with nothing done, in an uncommon case. */
static bool quick_text(const struct thread *self, uint32_t event, uintptr_t at)
{
    _Static_assert(sizeof(uint32_t[TRACE_USER_TEXT_WORDS]) == VM_CACHE_SPAN,
                   "a cache covers a text");
    uint32_t words[TRACE_USER_TEXT_WORDS];
    const volatile struct quick_word *from = vm_cache_ptr(&self->text_cache, at);

    if (unlikely(!from) || !trace_user_log_only(event)) {
        return false;
    }
    unsigned n = quick_text_copy(from, words);
    if (unlikely(n == 0)) {
        return false;
    }
    trace_user_text_words(event, words, n);
    return true;
}

/* Copies the caller's words of an event, 3 or more. Returns false in an uncommon case. */
static ALWAYS_INLINE bool quick_words(const struct thread *self, uintptr_t at, uintptr_t n,
                                      uint32_t words[TRACE_USER_TEXT_WORDS])
{
    const volatile struct quick_word *from = vm_cache_ptr(&self->words_cache, at);

    if (unlikely(!from) || n < 3 || n > TRACE_USER_TEXT_WORDS) {
        return false;
    }
    for (unsigned i = 0; i < n; i++) {
        words[i] = from[i].word;
    }
    return true;
}

/* Returns false, with nothing done, in an uncommon case. */
static ALWAYS_INLINE bool quick_combine(const struct thread *self, uint32_t event, uintptr_t at,
                                        uintptr_t n)
{
    uint32_t words[TRACE_USER_TEXT_WORDS];

    if (event >= TRACE_USER_EVENTS || !quick_words(self, at, n, words)) {
        return false;
    }
    if (likely(trace_user_log_only(event))) {
        trace_user_combine_words(event, words, (unsigned)n);
    } else {
        trace_user_combine(event, words, (unsigned)n);
    }
    return true;
}

static ALWAYS_INLINE bool quick_system(const struct thread *self, uintptr_t at, uintptr_t n)
{
    uint32_t words[TRACE_USER_TEXT_WORDS];

    if (!quick_words(self, at, n, words)) {
        return false;
    }
    if (likely(trace_user_probe_log_only())) {
        trace_user_combine_words(KYMO_LOG_SYSTEM_CODE, words, (unsigned)n);
    } else {
        trace_user_probe(words, (unsigned)n);
    }
    return true;
}

static inline struct thread *quick_done(struct thread *self)
{
    thread_result(self, 0, 0);
    return kercall_leave_unlocked(self);
}

/* Handles a probe of the library or a driver. A separate function, because it needs registers that
 * the others would save. */
static __attribute__((noinline)) struct thread *quick_probe(struct thread *self)
{
    if (!quick_system(self, self->args[1], self->args[2])) {
        return kercall_general(self, KER_TRACE_EVENT);
    }
    return quick_done(self);
}

/* Records an event of two words in an uncommon state of the log. A separate function because it
 * makes calls. */
static __attribute__((noinline)) struct thread *quick_unusual(struct thread *self, uint32_t event,
                                                              uint32_t d1, uint32_t d2)
{
    trace_log2(TRACE_CLASS_USER, event, d1, d2);
    return quick_done(self);
}

static __attribute__((noinline)) struct thread *quick_other(struct thread *self)
{
    const uintptr_t *args = self->args;

    if ((uint32_t)args[0] == _NTO_TRACE_INSERTUSRSTREVENT &&
        quick_text(self, (uint32_t)args[1], args[2])) {
        return quick_done(self);
    }
    if ((uint32_t)args[0] == _NTO_TRACE_INSERTCUSEREVENT &&
        quick_combine(self, (uint32_t)args[1], args[2], args[3])) {
        return quick_done(self);
    }
    if ((uint32_t)args[0] == KYMO_TRACE_INSERTPROBE) {
        return quick_probe(self);
    }
    return kercall_general(self, KER_TRACE_EVENT);
}

struct thread *trace_quick(struct thread *self, unsigned number)
{
    const uintptr_t *args = self->args;
    uint32_t event = (uint32_t)args[1];

    (void)number;
    if ((uint32_t)args[0] != _NTO_TRACE_INSERTSUSEREVENT || unlikely(!trace_user_log_only(event))) {
        return quick_other(self);
    }
    if (unlikely(!trace_user_two_usual(event, (uint32_t)args[2], (uint32_t)args[3]))) {
        return quick_unusual(self, event, (uint32_t)args[2], (uint32_t)args[3]);
    }
    return quick_done(self);
}
