/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of KERCALL events, from the table abi/kercalls.def. Called only while such a site is
 * on; with or without the kernel lock (NOLOCK calls), on the CPU where the thread runs.
 *
 * The exit event is written when the thread returns to user mode, however long it was blocked: the
 * event itself names no thread, so a reader attributes it to the one running on that CPU. The same
 * holds for the INT event of an aborted wait; if the thread itself is ended, the INT event follows
 * its THDEAD event. Words of messages and structures that the caller doesn't have, or has no right
 * to, are 0. Words of a structure that the call reads are the same bytes that the call reads:
 * kernel/mem/mem.h, copy_keep(). Words of a message and of a sync_t are read when the event is
 * made, and another thread of the caller may have changed them since. The common cases are in
 * kercall_quick.c and, for the wide form, kercall_wide.c, which call this file for all others.
 * Tested by test/board's suites events and events-wide, where a program predicts every word;
 * test/kernel/mem/kept_test.c.
 */
#include "kernel/entry/kercall_trace.h"

#include "abi/compiler.h"
#include "abi/sys/dtrace.h"
#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/base/kercall.h"
#include "kernel/ipc/msg.h"
#include "kernel/proc/proc.h"
#include "trace/gate.h"
#include "trace/stamp.h"
#include "trace/trace.h"

/* Expands the words that kercalls.def names. */
#define WORD(...) \
    { \
        __VA_ARGS__ \
    }
#define a0 WORD(WORD_A0, 0, 0, 0)
#define a1 WORD(WORD_A0 + 1, 0, 0, 0)
#define a2 WORD(WORD_A0 + 2, 0, 0, 0)
#define a3 WORD(WORD_A0 + 3, 0, 0, 0)
#define a4 WORD(WORD_A0 + 4, 0, 0, 0)
#define a5 WORD(WORD_A0 + 5, 0, 0, 0)
#define m0 WORD(WORD_M0, 0, 0, 0)
#define m1 WORD(WORD_M0 + 1, 0, 0, 0)
#define m2 WORD(WORD_M0 + 2, 0, 0, 0)
#define r0 WORD(WORD_R0, 0, 0, 0)
#define r1 WORD(WORD_R0 + 1, 0, 0, 0)
#define r2 WORD(WORD_R0 + 2, 0, 0, 0)
#define CALLER WORD(WORD_OWNER, 0, 0, 0)
#define F(n, structure, member, type, name) \
    WORD(FIELD + (n), offsetof(structure, member), SIZE_##type(sizeof(((structure *)0)->member)), \
         WHOLE(structure))
#define W(n, c_type, type, name) WORD(FIELD + (n), 0, SIZE_##type(sizeof(c_type)), WHOLE(c_type))
#define WHOLE(c_type) (sizeof(c_type) <= UINT8_MAX ? sizeof(c_type) : 0)
#define SIZE_D(bytes) (((bytes) < 4 ? (bytes) : 4) | SIGNED)
#define SIZE_H(bytes) ((bytes) < 4 ? (bytes) : 4)
#define SIZE_P(bytes) (bytes)
#define SIZE_E(bytes) ((bytes) | SIGNED | LONG)
#define SIZE_X(bytes) ((bytes) | LONG)

/* The lists of each call, ended by NONE. */
#define LIST(...) \
    { \
        __VA_ARGS__ __VA_OPT__(, ) WORD(NONE, 0, 0, 0) \
    }
#define ENTER(...) LIST(__VA_ARGS__)
#define ENTERW(...) LIST(__VA_ARGS__)
#define EXITW(...) LIST(__VA_ARGS__)
#define KERCALL(number, NAME, handler, flags, arguments, enter, enter_wide, exit_wide, doc) \
    static const struct word enter_##NAME[] = enter; \
    static const struct word enter_wide_##NAME[] = enter_wide; \
    static const struct word exit_wide_##NAME[] = exit_wide; \
    _Static_assert(sizeof(enter_##NAME) <= 3 * sizeof(struct word) && \
                       sizeof(enter_wide_##NAME) <= (KERCALL_WORDS + 1) * sizeof(struct word) && \
                       sizeof(exit_wide_##NAME) <= KERCALL_WORDS * sizeof(struct word), \
                   "words of " #NAME);
#include "abi/kercalls.def"
#undef KERCALL
#undef a0
#undef a1
#undef a2
#undef a3
#undef a4
#undef a5
#undef m0
#undef m1
#undef m2
#undef r0
#undef r1
#undef r2
#undef CALLER
_Static_assert(KERCALL_WORDS == TRACE_KERCALL_VALUES, "an event has room for them");

#define A(...) \
    { \
        __VA_ARGS__ \
    }
#define VAL(name) VALUE
#define IN(name, bytes) POINTER
#define OUT(name, bytes) POINTER
#define INOUT(name, bytes) POINTER
#define STR(name) POINTER
#define MSG(name) MSG_##name
const struct kercall_words kercall_words_of[KERCALL_MAX] = {
#define KERCALL(number, NAME, handler, flags, arguments, ...) \
    [number] = {enter_##NAME, enter_wide_##NAME, exit_wide_##NAME, arguments},
#include "abi/kercalls.def"
#undef KERCALL
};

static const bool reads[KERCALL_MAX] = {
#include "kernel/entry/kercall_reads.h"
#define KERCALL(number, NAME, handler, flags, arguments, ...) [number] = arguments,
#include "abi/kercalls.def"
#undef KERCALL
};

/* Returns three words of a message in memory that one of the caches covers; NULL: look it up. */
static const uint32_t *message_found(const struct thread *self, unsigned at)
{
    bool outgoing = kercall_words_of[self->call].arguments[at] == MSG_smsg;
    const struct vm_cache *cache = outgoing ? &self->out_cache : &self->in_cache;
    uintptr_t base = self->args[at];

    if ((intptr_t)self->args[at + 1] > -(intptr_t)sizeof(uint32_t) || (base & 3) != 0 ||
        !msg_cached(cache, base, 3 * sizeof(uint32_t))) {
        return NULL;
    }
    return msg_cached_ptr(cache, base);
}

/* Reads up to three words of the caller's message, whose address is args[at] and whose length, in
 * parts or, negative, in bytes, is args[at + 1]. Of several parts only the first counts. */
static void message_words(struct thread *self, unsigned at, uintptr_t words[3])
{
    uintptr_t addr = self->args[at];
    intptr_t parts = (intptr_t)self->args[at + 1];
    size_t len = parts < 0 ? (size_t)-parts : 0;
    const uint32_t *found = message_found(self, at);
    uint32_t word;

    if (likely(found)) {
        words[0] = found[0];
        words[1] = len >= 2 * sizeof(word) ? found[1] : 0;
        words[2] = len >= 3 * sizeof(word) ? found[2] : 0;
        return;
    }

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

void kercall_trace_message(struct thread *self, enum argument kind, uintptr_t words[3])
{
    for (unsigned i = 0; i < 5; i++) {
        if (kercall_words_of[self->call].arguments[i] == kind) {
            message_words(self, i, words);
        }
    }
}

/* The structure that a list's fields are in. */
struct found {
    unsigned code; /* the structure that these fields are in; NONE: none yet */
    const char *at;
};

const char *kercall_trace_structure(struct thread *self, const struct word *word, bool enter)
{
    uintptr_t at = self->args[word->code - FIELD];

    if (at == 0) {
        return NULL;
    }
    if (CONFIG_CPUS > 1 && enter && reads[self->call]) {
        const char *kept = copy_keep(self->proc, at, word->whole ? word->whole : COPY_KEPT);
        if (kept) {
            return kept;
        }
    }
    return word->whole == 0 ? NULL : vm_user_ptr(self->proc, at, word->whole, KYMO_PROT_READ);
}

/* Returns a field of a structure that is not entirely in the caller's memory, or 0 if the field
 * isn't either. */
static uint64_t field_alone(struct thread *self, const struct word *word)
{
    uintptr_t at = self->args[word->code - FIELD];
    const void *from =
        at == 0 ? NULL
                : vm_user_ptr(self->proc, at + word->offset, word->size & BYTES, KYMO_PROT_READ);

    return from ? field_load(from, word->size) : 0;
}

static inline void add_field(struct thread *self, const struct word *word, struct found *found,
                             bool enter, struct trace_values *v)
{
    kernel_assert(!enter || word->offset + (word->size & BYTES) <= COPY_KEPT);
    v->is_long |= (uint32_t)((word->size & LONG) != 0) << v->n;
    v->is_signed |= (uint32_t)((word->size & SIGNED) != 0) << v->n;
    if (word->code != found->code) {
        found->code = word->code;
        found->at = kercall_trace_structure(self, word, enter);
    }
    v->value[v->n] =
        found->at ? field_load(found->at + word->offset, word->size) : field_alone(self, word);
}

static void add_argument(struct thread *self, unsigned i, struct trace_values *v)
{
    bool value = kercall_words_of[self->call].arguments[i] == VALUE;

    v->is_signed |= (uint32_t)value << v->n;
    v->value[v->n] = value ? (uint64_t)(intptr_t)self->args[i] : self->args[i];
}

/* Appends the words of a list, which is NULL if there is no such call. */
static void kercall_trace_collect(struct thread *self, const struct word *word, bool enter,
                                  struct trace_values *v)
{
    uintptr_t message[3] = {0, 0, 0};
    struct found structure = {NONE, NULL};
    bool found = false;

    for (; word && word->code != NONE; word++) {
        if (word->code >= FIELD) {
            if (found && self->result == 0) {
                return; /* a pulse: no information about its sender */
            }
            add_field(self, word, &structure, enter, v);
        } else if (word->code == WORD_OWNER) {
            v->value[v->n] = (uint32_t)self->proc->pid;
        } else if (word->code <= WORD_A5) {
            add_argument(self, word->code - WORD_A0, v);
        } else {
            if (!found) {
                kercall_trace_message(self, word->code >= WORD_R0 ? MSG_rmsg : MSG_smsg, message);
                found = true;
            }
            v->value[v->n] = message[(word->code - WORD_M0) % 3];
        }
        v->n++;
    }
}

static bool is_logged(unsigned site, unsigned number)
{
    return trace_bit(trace_site_logged, site) && trace_kercall_on(number);
}

/* Gives the gate's predicates the arguments of syscall:::entry and :::return
 * (kernel/dtrace/syscall.c). */
static bool entry_stopped(const struct thread *self, unsigned site, unsigned number)
{
    if (likely(!trace_gate_armed)) {
        return false;
    }
    const uintptr_t *a = self->args;
    const uint64_t words[6] = {a[0], a[1], a[2], a[3], a[4], a[5]};

    return trace_gate_stops(trace_kercall_class(number), site, number, words);
}

static bool return_stopped(const struct thread *self, unsigned number)
{
    if (likely(!trace_gate_armed)) {
        return false;
    }
    const uint64_t result = (uint64_t)(int64_t)self->result;
    const uint64_t words[6] = {result, result};

    return trace_gate_stops(trace_kercall_class(number), TRACE_EV_kercall_exit, number, words);
}

/* The fast form has two words, even if the table names fewer. */
static void trace_enter(struct thread *self, unsigned number, const struct word *list, bool wide)
{
    struct trace_values v;

    v.is_long = v.is_signed = v.n = 0;
    v.value[0] = v.value[1] = 0;
    kercall_trace_collect(self, list, true, &v);
    v.n = wide ? v.n : 2;
    trace_kercall(number, &v);
}

static __attribute__((noinline)) void enter_slow(struct thread *self, unsigned number)
{
    const struct kercall_words *entry = &kercall_words_of[self->call];
    bool wide = trace_kercall_wide(number);

    if (!entry_stopped(self, TRACE_EV_kercall_enter, number)) {
        trace_enter(self, number, wide ? entry->enter_wide : entry->enter, wide);
    }
}

void kercall_trace_enter_any(struct thread *self)
{
    unsigned number = self->call | TRACE_KERCALL_ENTER;
    const bool probed = trace_bit(trace_site_probed, TRACE_EV_kercall_enter);
    const bool logged = is_logged(TRACE_EV_kercall_enter, number), both = probed && logged;
    uintptr_t irq = both ? trace_stamp_begin() : 0;

    if (logged) {
        if (trace_kercall_slow(number)) {
            enter_slow(self, number);
        } else {
            trace_enter(self, number, kercall_words_of[self->call].enter, false);
        }
    }
    if (both) {
        trace_stamp_take();
    }
    if (probed) {
        dtrace_syscall_entry(self);
    }
    if (both) {
        trace_stamp_end(irq);
    }
}

/* Appends the returned value, then errno if the call failed, else the words of the list: in the
 * fast form only the first, and only if it takes one word. */
static void exit_words(struct thread *self, bool wide, struct trace_values *v)
{
    const struct word *list = kercall_words_of[self->call].exit_wide;
    v->value[0] = (uint64_t)(int64_t)self->result;
    v->value[1] = (uint64_t)self->result_error;
    v->is_signed = 1;
    v->is_long = 0;
    v->n = 1;
    if (list && !self->result_error && (wide || !(list->size & LONG))) {
        kercall_trace_collect(self, wide ? list : (const struct word[]){*list, {NONE, 0, 0, 0}},
                              false, v);
    }
    v->n = wide && !self->result_error ? v->n : 2;
}

static void trace_exit(struct thread *self, unsigned number, bool wide)
{
    struct trace_values v;

    exit_words(self, wide, &v);
    trace_kercall(number, &v);
}

static __attribute__((noinline)) void exit_slow(struct thread *self, unsigned number)
{
    if (!return_stopped(self, number)) {
        trace_exit(self, number, trace_kercall_wide(number));
    }
}

/* Fires msg:::receive where the receiver continues. The client may have ended meanwhile; its pid is
 * known until another thread takes its slot. */
static void trace_received(const struct thread *self)
{
    const uintptr_t rcvid = (uintptr_t)self->result;
    const unsigned index = (unsigned)(rcvid & ((1u << THREAD_RCVID_BITS) - 1)) - 1;
    const struct thread *client = thread_by_index(index);

    client = client ? client : thread_ended_by_index(index);
    bool same = client && client->generation == (uint16_t)(rcvid >> THREAD_RCVID_BITS);
    trace_site_msg_receive((uint32_t)rcvid, same ? (uint32_t)client->pid : 0);
}

void kercall_trace_exit_any(struct thread *self)
{
    unsigned number = self->call | TRACE_KERCALL_EXIT;
    const bool probed = trace_bit(trace_site_probed, TRACE_EV_kercall_exit);
    const bool logged = is_logged(TRACE_EV_kercall_exit, number), both = probed && logged;
    uintptr_t irq = both ? trace_stamp_begin() : 0;

    if (logged) {
        if (trace_kercall_slow(number)) {
            exit_slow(self, number);
        } else {
            trace_exit(self, number, false);
        }
    }
    if (both) {
        trace_stamp_take();
    }
    if (probed) {
        if (self->call == KER_MSG_RECEIVEV && self->result > 0) {
            trace_received(self);
        }
        dtrace_syscall_return(self);
    }
    if (both) {
        trace_stamp_end(irq);
    }
}

static void trace_int(const struct thread *t, uint32_t step)
{
    unsigned number = t->call | TRACE_KERCALL_INT;
    const struct trace_values words = {.value = {step, 0}, .n = 2};

    if (trace_kercall_of(number, (uint32_t)t->pid, (uint32_t)t->tid) &&
        !entry_stopped(t, TRACE_EV_kercall_int, number)) {
        trace_kercall(number, &words);
    }
}

/* Traces the progress, counted in its own steps, of a long call that loses the CPU at a preemption
 * point. */
void kercall_trace_int(struct thread *self)
{
    if (self->call != THREAD_CALL_NONE) { /* otherwise a fault ends it */
        trace_int(self, self->step);
    }
}

/* Traces two words of 0, also for a long call that would have continued. */
void kercall_trace_aborted(struct thread *t)
{
    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_int) && t->call != THREAD_CALL_NONE) {
        trace_int(t, 0);
    }
}
