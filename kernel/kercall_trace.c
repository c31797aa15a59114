/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of KERCALL events, from the table kernel/abi/kercalls.def. Reached only while such a
 * site is on; with or without the kernel lock (NOLOCK calls), on the CPU where the thread runs.
 *
 * The exit event is written when the thread goes back to user mode, however long it was blocked,
 * because the event itself has no thread: a reader takes the one that runs on that CPU.
 * Words of messages that the caller has not, or has no right to, are 0.
 */
#include "kernel/kercall_trace.h"

#include "kernel/d/syscall.h"
#include "kernel/kercall.h"
#include "kernel/process.h"
#include "kernel/string.h"
#include "trace/gate.h"
#include "trace/trace.h"

#define ENTER_FAST 2
#define ENTER_WIDE 7
#define EXIT_WIDE 3

/* Codes of a word: 0 none; a0..a5 an argument; m0.. of the outgoing message; r0.. of the reply. */
enum word { NONE, a0, a1, a2, a3, a4, a5, m0, m1, m2, r0, r1, r2 };
/* Codes of an argument: only which are messages is wanted here. */
enum argument { OTHER, MSG_smsg, MSG_rmsg };

struct kercall_words {
    uint8_t arguments[6];                                                    /* enum argument */
    uint8_t enter[ENTER_FAST], enter_wide[ENTER_WIDE], exit_wide[EXIT_WIDE]; /* enum word */
};

#define A(...) \
    { \
        __VA_ARGS__ \
    }
#define VAL(name) OTHER
#define IN(name, bytes) OTHER
#define OUT(name, bytes) OTHER
#define INOUT(name, bytes) OTHER
#define STR(name) OTHER
#define MSG(name) MSG_##name
#define ENTER(...) \
    { \
        __VA_ARGS__ \
    }
#define ENTERW(...) \
    { \
        __VA_ARGS__ \
    }
#define EXITW(...) \
    { \
        __VA_ARGS__ \
    }

static const struct kercall_words table[KERCALL_MAX] = {
#define KERCALL(number, NAME, handler, flags, arguments, enter, enter_wide, exit_wide, doc) \
    [number] = {arguments, enter, enter_wide, exit_wide},
#include "kernel/abi/kercalls.def"
#undef KERCALL
};

/* Up to three words of the caller's message, whose address is args[at] and whose length, in parts
 * or, negative, in bytes, is args[at + 1]. Of several parts only the first counts. */
static void message_words(struct thread *self, unsigned at, uintptr_t words[3])
{
    uintptr_t addr = self->args[at];
    intptr_t parts = (intptr_t)self->args[at + 1];
    size_t len = parts < 0 ? (size_t)-parts : 0;
    uint32_t word;

    if (parts > 0) {
        struct kymo_iov iov;
        const void *first = vm_user_ptr(self->proc, addr, sizeof(iov), KYMO_PROT_READ);
        if (!first) {
            return;
        }
        memcpy(&iov, first, sizeof(iov));
        addr = (uintptr_t)iov.iov_base;
        len = iov.iov_len;
    }
    for (unsigned i = 0; i < 3 && len >= sizeof(word); i++, len -= sizeof(word)) {
        const void *p =
            vm_user_ptr(self->proc, addr + i * sizeof(word), sizeof(word), KYMO_PROT_READ);
        if (!p) {
            return;
        }
        memcpy(&word, p, sizeof(word));
        words[i] = word;
    }
}

static void find_message(struct thread *self, enum argument kind, uintptr_t words[3])
{
    for (unsigned i = 0; i < 5; i++) {
        if (table[self->call].arguments[i] == kind) {
            message_words(self, i, words);
        }
    }
}

/* Turns the codes of a form into words; returns how many. */
static unsigned collect(struct thread *self, const uint8_t *codes, unsigned most, uintptr_t *words)
{
    uintptr_t message[3] = {0, 0, 0};
    bool found = false;
    unsigned n = 0;

    for (; n < most && codes[n] != NONE; n++) {
        enum word code = codes[n];
        if (code >= m0 && !found) {
            find_message(self, code >= r0 ? MSG_rmsg : MSG_smsg, message);
            found = true;
        }
        words[n] = code <= a5 ? self->args[code - a0] : message[(code - m0) % 3];
    }
    return n;
}

static bool is_logged(unsigned site, unsigned number)
{
    return trace_bit(trace_site_logged, site) && trace_kercall_on(number);
}

/* The gate's predicates have what syscall:::entry and :::return have (kernel/d/syscall.c). */
static bool entry_stopped(const struct thread *self, unsigned site, unsigned number)
{
    const uintptr_t *a = self->args;
    const uint64_t words[6] = {a[0], a[1], a[2], a[3], a[4], a[5]};

    return trace_gate_stops(TRACE_CLASS_KER_CALL, site, number, words);
}

static bool return_stopped(const struct thread *self, unsigned number)
{
    const uint64_t result = (uint64_t)(int64_t)self->result;
    const uint64_t words[6] = {result, result};

    return trace_gate_stops(TRACE_CLASS_KER_CALL, TRACE_EV_kercall_exit, number, words);
}

static __attribute__((noinline)) void enter_slow(struct thread *self, unsigned number)
{
    uintptr_t words[ENTER_WIDE] = {0};
    const struct kercall_words *row = &table[self->call];

    if (entry_stopped(self, TRACE_EV_kercall_enter, number)) {
        return;
    }
    if (trace_kercall_wide(number)) {
        trace_kercall(number, words, collect(self, row->enter_wide, ENTER_WIDE, words));
    } else {
        collect(self, row->enter, ENTER_FAST, words);
        trace_kercall(number, words, ENTER_FAST);
    }
}

void kercall_trace_enter(struct thread *self)
{
    uintptr_t words[ENTER_WIDE] = {0};
    unsigned number = self->call | TRACE_KERCALL_ENTER;
    const struct kercall_words *row = &table[self->call];

    if (is_logged(TRACE_EV_kercall_enter, number)) {
        if (trace_kercall_slow(number)) {
            enter_slow(self, number);
        } else {
            collect(self, row->enter, ENTER_FAST, words);
            trace_kercall(number, words, ENTER_FAST);
        }
    }
    if (trace_bit(trace_site_probed, TRACE_EV_kercall_enter)) {
        d_syscall_entry(self);
    }
}

/* Return value, then errno if it failed, then the reply's first words. */
static unsigned exit_words(struct thread *self, bool wide, uintptr_t words[1 + EXIT_WIDE])
{
    const struct kercall_words *row = &table[self->call];

    words[0] = (uintptr_t)self->result;
    if (self->result_error) {
        words[1] = (uintptr_t)self->result_error;
        return 2;
    }
    unsigned n = collect(self, row->exit_wide, wide ? EXIT_WIDE : 1, words + 1);
    return wide ? 1 + n : 2;
}

static __attribute__((noinline)) void exit_slow(struct thread *self, unsigned number)
{
    uintptr_t words[1 + EXIT_WIDE] = {0};

    if (!return_stopped(self, number)) {
        unsigned n = exit_words(self, trace_kercall_wide(number), words);
        trace_kercall(number, words, n);
    }
}

void kercall_trace_exit(struct thread *self)
{
    uintptr_t words[1 + EXIT_WIDE] = {0};
    unsigned number = self->call | TRACE_KERCALL_EXIT;

    if (self->call == THREAD_CALL_NONE) {
        return;
    }
    if (is_logged(TRACE_EV_kercall_exit, number)) {
        if (trace_kercall_slow(number)) {
            exit_slow(self, number);
        } else {
            trace_kercall(number, words, exit_words(self, false, words));
        }
    }
    if (trace_bit(trace_site_probed, TRACE_EV_kercall_exit)) {
        d_syscall_return(self);
    }
    self->call = THREAD_CALL_NONE;
}

/* A long call stops at a preemption point: how far it is, in steps of its own. */
void kercall_trace_int(struct thread *self)
{
    unsigned number = self->call | TRACE_KERCALL_INT;
    uintptr_t words[2] = {self->step, 0};

    if (trace_kercall_on(number) && !entry_stopped(self, TRACE_EV_kercall_int, number)) {
        trace_kercall(number, words, 2);
    }
}
