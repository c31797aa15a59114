/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * KERCALL events in the common case: the fast form, logged without a further query, whose words are
 * arguments or the first word of a message where the fast path of messages finds it. All else is
 * kercall_trace.c's, which also says what an event means; the words are the same. Contexts as
 * there. Proof: test/boot's suites events and events-wide; counted by `make bench`
 * (event_kercall).
 */
#include "kernel/entry/kercall_trace.h"

#include "abi/compiler.h"
#include "kernel/base/kercall.h"
#include "kernel/ipc/msg.h"
#include "trace/log.h"
#include "trace/trace.h"

/* What the words of a fast form are. */
enum quick_code {
    QUICK_NOT,  /* to be looked for; also all of a number without a call */
    QUICK_ZERO, /* there is no such word */
    QUICK_A0,
    QUICK_A5 = QUICK_A0 + 5,
    QUICK_M0, /* the first word of the outgoing message, of the reply */
    QUICK_R0
};

/* What an argument is. */
enum quick_argument { QUICK_VALUE, QUICK_POINTER, QUICK_smsg, QUICK_rmsg };

static const struct kercall_quick {
    uint8_t enter[2], exit; /* enum quick_code; exit: behind the returned value, not an argument */
    uint8_t slot_class;
    struct {
        uint8_t smsg, rmsg, values;
    } argument; /* those that are messages; a bit for each that is a number, no address */
} quick[KERCALL_MAX] = {
#define NONE QUICK_VALUE
#define VAL(name) QUICK_VALUE
#define IN(name, bytes) QUICK_POINTER
#define OUT(name, bytes) QUICK_POINTER
#define INOUT(name, bytes) QUICK_POINTER
#define STR(name) QUICK_POINTER
#define MSG(name) QUICK_##name
#define A(...) \
    { \
        QUICK_AT(__VA_ARGS__, QUICK_VALUE, QUICK_VALUE, QUICK_VALUE, QUICK_VALUE, QUICK_VALUE, 0) \
    }
#define QUICK_AT(x0, x1, x2, x3, x4, x5, ...) \
    QUICK_INDEX(QUICK_smsg, x1, x2, x3), QUICK_INDEX(QUICK_rmsg, x1, x2, x3), \
        QUICK_BIT(x0, 0) | QUICK_BIT(x1, 1) | QUICK_BIT(x2, 2) | QUICK_BIT(x3, 3) | \
            QUICK_BIT(x4, 4) | QUICK_BIT(x5, 5)
#define QUICK_INDEX(kind, x1, x2, x3) \
    ((x1) == (kind) ? 1 : (x2) == (kind) ? 2 : (x3) == (kind) ? 3 : 0)
#define QUICK_BIT(x, i) (((x) == QUICK_VALUE) << (i))
#define ENTER(...) \
    { \
        QUICK_TWO(__VA_ARGS__ __VA_OPT__(, ) QUICK_ZERO, QUICK_ZERO, 0) \
    }
#define QUICK_TWO(first, second, ...) first, second
#define EXITW(...) QUICK_FIRST(__VA_ARGS__ __VA_OPT__(, ) QUICK_ZERO, 0)
#define QUICK_FIRST(first, ...) first
#define QUICK_CLASS(number) \
    ((number) < TRACE_KERCALL_OWN ? TRACE_CLASS_KER_CALL : TRACE_CLASS_KYMO_CALL)
#define a0 QUICK_A0
#define a1 (QUICK_A0 + 1)
#define a2 (QUICK_A0 + 2)
#define a3 (QUICK_A0 + 3)
#define a4 (QUICK_A0 + 4)
#define a5 (QUICK_A0 + 5)
#define m0 QUICK_M0
#define r0 QUICK_R0
#define r1 QUICK_NOT
#define r2 QUICK_NOT
#define CALLER QUICK_NOT
#define F(...) QUICK_NOT
#define W(...) QUICK_NOT
#define KERCALL(number, NAME, handler, flags, arguments, enter, enter_wide, exit_wide, doc) \
    [number] = {enter, exit_wide, QUICK_CLASS(number), arguments},
#include "abi/kercalls.def"
#undef KERCALL
};

/* Returns whether a value takes one word: see struct trace_values. */
TRACE_INLINE bool quick_fits(const struct kercall_quick *q, unsigned i, uintptr_t value)
{
    return sizeof(value) == sizeof(uint32_t) || (uint64_t)value >> 32 == 0 ||
           ((intptr_t)value == (int32_t)value && (q->argument.values >> i & 1));
}

/* Reads the first word of the buffer that args[at] and args[at + 1] name. Returns false if they
 * name parts, a few bytes, or memory that the cache doesn't cover. */
TRACE_INLINE bool quick_message(const struct thread *self, unsigned at,
                                const struct vm_cache *cache, uint32_t *word)
{
    uintptr_t base = self->args[at];

    if ((intptr_t)self->args[at + 1] > -(intptr_t)sizeof(*word) || (base & 3) != 0 ||
        !msg_cached(cache, base, sizeof(*word))) {
        return false;
    }
    *word = *(const volatile uint32_t *)msg_cached_ptr(cache, base);
    return true;
}

/* Reads a word of an entry. Returns false if it isn't found here. */
TRACE_INLINE bool quick_enter(const struct thread *self, const struct kercall_quick *q,
                              unsigned code, uint32_t *word)
{
    unsigned i = code - QUICK_A0;

    if (likely(i <= QUICK_A5 - QUICK_A0)) {
        *word = (uint32_t)self->args[i];
        return quick_fits(q, i, self->args[i]);
    }
    *word = 0;
    return code == QUICK_ZERO ||
           (code == QUICK_M0 && quick_message(self, q->argument.smsg, &self->out_cache, word));
}

/* Reads the word behind the returned value. Returns false if it isn't found here. */
TRACE_INLINE bool quick_exit(const struct thread *self, const struct kercall_quick *q,
                             uint32_t *word)
{
    *word = (uint32_t)self->result_error;
    if (unlikely(*word)) {
        return true;
    }
    return q->exit == QUICK_ZERO ||
           (q->exit == QUICK_R0 && quick_message(self, q->argument.rmsg, &self->in_cache, word));
}

static __attribute__((noinline)) void enter_other(struct thread *self)
{
    if (trace_kercall_modes[self->call | TRACE_KERCALL_ENTER] != TRACE_KERCALL_WIDE ||
        !kercall_wide_enter(self)) {
        kercall_trace_enter_any(self);
    }
}

static __attribute__((noinline)) void exit_other(struct thread *self)
{
    if (trace_kercall_modes[self->call | TRACE_KERCALL_EXIT] != TRACE_KERCALL_WIDE ||
        !kercall_wide_exit(self)) {
        kercall_trace_exit_any(self);
    }
}

void kercall_trace_enter(struct thread *self)
{
    unsigned number = self->call;
    const struct kercall_quick *q = &quick[number];
    uint32_t d1, d2;

    if (likely(trace_kercall_modes[number] == TRACE_KERCALL_LOG) &&
        quick_enter(self, q, q->enter[0], &d1) && quick_enter(self, q, q->enter[1], &d2)) {
        trace_log2(q->slot_class, number | TRACE_KERCALL_ENTER, d1, d2);
        return;
    }
    enter_other(self);
}

void kercall_trace_exit(struct thread *self)
{
    unsigned call = self->call, number = call | TRACE_KERCALL_EXIT;
    uint32_t word;

    if (call == THREAD_CALL_NONE) {
        return;
    }
    const struct kercall_quick *q = &quick[call];
    if (likely(trace_kercall_modes[number] == TRACE_KERCALL_LOG) &&
        self->result == (int32_t)self->result && quick_exit(self, q, &word)) {
        self->call = THREAD_CALL_NONE;
        trace_log2(q->slot_class, number, (uint32_t)self->result, word);
        return;
    }
    exit_other(self);
    self->call = THREAD_CALL_NONE;
}
