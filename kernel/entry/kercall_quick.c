/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * KERCALL events: the table of the common case (kercall_quick.h), and the choice between the ways
 * to record an event. Other cases are handled by kercall_trace.c or kercall_wide.c, which describe
 * the meaning of the events; the words are the same. Contexts as there. Tested by test/board's
 * suites events and events-wide; counted by `make bench` (event_kercall).
 */
#include "kernel/entry/kercall_quick.h"

#include "abi/compiler.h"
#include "kernel/entry/kercall_trace.h"
#include "trace/trace.h"

/* The kind of an argument. */
enum quick_argument { QUICK_VALUE, QUICK_POINTER, QUICK_smsg, QUICK_rmsg };

/* Designated twice on purpose: the range is the default, the table's entries override it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
const struct kercall_quick kercall_quick[KERCALL_MAX] = {
    [0 ... KERCALL_MAX - 1] = {0, {QUICK_NOT, QUICK_NOT}, QUICK_NOT, 0, 0, 0},
#define NONE QUICK_VALUE
#define VAL(name) QUICK_VALUE
#define IN(name, bytes) QUICK_POINTER
#define OUT(name, bytes) QUICK_POINTER
#define INOUT(name, bytes) QUICK_POINTER
#define STR(name) QUICK_POINTER
#define MSG(name) QUICK_##name
#define A(...) \
    QUICK_AT(__VA_ARGS__, QUICK_VALUE, QUICK_VALUE, QUICK_VALUE, QUICK_VALUE, QUICK_VALUE, 0)
#define QUICK_AT(x0, x1, x2, x3, x4, x5, ...) \
    QUICK_INDEX(QUICK_smsg, x1, x2, x3), QUICK_INDEX(QUICK_rmsg, x1, x2, x3), \
        QUICK_BIT(x0, 0) | QUICK_BIT(x1, 1) | QUICK_BIT(x2, 2) | QUICK_BIT(x3, 3) | \
            QUICK_BIT(x4, 4) | QUICK_BIT(x5, 5)
#define QUICK_INDEX(kind, x1, x2, x3) \
    ((x1) == (kind) ? a1 : (x2) == (kind) ? a2 : (x3) == (kind) ? a3 : 0)
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
    [number] = {QUICK_CLASS(number) << TRACE_CLASS_SHIFT | (number), enter, exit_wide, arguments},
#include "abi/kercalls.def"
#undef KERCALL
};

#pragma GCC diagnostic pop

/* Records the events of uncommon cases. */
void kercall_trace_enter(struct thread *self)
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
    self->call = THREAD_CALL_NONE;
}

void kercall_trace_exit(struct thread *self)
{
    unsigned number = self->call;
    const struct kercall_quick *q = &kercall_quick[number];
    uint32_t word;

    if (number == THREAD_CALL_NONE) {
        return;
    }
    if (likely(kercall_quick_exit(self, q, number, &word))) {
        self->call = THREAD_CALL_NONE;
        trace_log2_code(q->code | TRACE_KERCALL_EXIT, (uint32_t)self->result, word);
    } else {
        exit_other(self);
    }
}
