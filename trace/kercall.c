/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * KERCALL events, whose table is abi/kercalls.def: the kernel collects the words, guarded by the
 * sites TRACE_EV_kercall_*. Any context, no lock. Tested by test/trace/calls_test.c.
 */
#include "trace/kercall.h"

#include "abi/compiler.h"
#include "abi/errno.h"
#include "trace/log.h"
#include "trace/threads.h"
#include "trace/trace.h"

#define EVENTS (3 * TRACE_KERCALLS) /* by number | TRACE_KERCALL_* */

static struct {
    uint32_t on[TRACE_BITS(EVENTS)];   /* [a] */
    uint32_t slow[TRACE_BITS(EVENTS)]; /* [a] wide or all: needs a query */
    uint32_t wide[TRACE_BITS(EVENTS)]; /* [a] */
    /* [a] to a process or thread: trace/threads.h must be queried */
    uint32_t limited[TRACE_BITS(EVENTS)];
} calls;

int trace_kercall_set(enum trace_filter_set set, unsigned kind, const uint32_t *event, bool value)
{
    if (event && *event >= TRACE_KERCALLS) {
        return -ENOTSUP;
    }
    trace_bits_set(set == TRACE_SET_ON ? calls.on : calls.wide,
                   kind * TRACE_KERCALLS + (event ? *event : 0), event ? 1 : TRACE_KERCALLS, value);
    return 0;
}

uint8_t trace_kercall_modes[EVENTS]; /* [a] */

/* Sets the number's mode. all: the gate is armed. */
static void set_mode(unsigned number, bool all)
{
    unsigned mode = trace_kercall_modes[number] & TRACE_KERCALL_PROBED;

    if (trace_bit(calls.on, number)) {
        bool asks = all || trace_bit(calls.limited, number);
        mode |= asks                            ? TRACE_KERCALL_ASK
                : trace_bit(calls.wide, number) ? TRACE_KERCALL_WIDE
                                                : TRACE_KERCALL_LOG;
    }
    trace_kercall_modes[number] = (uint8_t)mode;
}

void trace_kercall_update(bool all)
{
    for (unsigned i = 0; i < TRACE_BITS(EVENTS); i++) {
        calls.slow[i] = calls.wide[i] | (all ? UINT32_MAX : 0);
    }
    for (unsigned i = 0; i < EVENTS; i++) {
        trace_bits_set(calls.limited, i, 1, trace_threads_limit_kercall(i));
        set_mode(i, all);
        if (i % 32 == 31) {
            trace_port_window();
        }
    }
}

void trace_kercall_probe(unsigned kind, bool on)
{
    for (unsigned i = kind * TRACE_KERCALLS; i < (kind + 1) * TRACE_KERCALLS; i++) {
        unsigned mode = trace_kercall_modes[i] & ~TRACE_KERCALL_PROBED;
        trace_kercall_modes[i] = (uint8_t)(mode | (on ? TRACE_KERCALL_PROBED : 0));
    }
}

bool trace_kercall_any(unsigned kind)
{
    uint32_t any = 0;

    for (unsigned i = 0; i < TRACE_KERCALLS / 32; i++) {
        any |= calls.on[kind * (TRACE_KERCALLS / 32) + i];
    }
    return any != 0;
}

bool trace_kercall_on(unsigned number)
{
    return trace_bit(calls.on, number) &&
           (!trace_bit(calls.limited, number) || trace_threads_kercall_here(number));
}

bool trace_kercall_of(unsigned number, uint32_t pid, uint32_t tid)
{
    return trace_bit(calls.on, number) && trace_threads_kercall(number, pid, tid);
}

bool trace_kercall_slow(unsigned number)
{
    return trace_bit(calls.slow, number);
}

bool trace_kercall_wide(unsigned number)
{
    return trace_bit(calls.wide, number);
}

static bool kercall_fits(uint64_t value, bool is_signed)
{
    return value >> 32 == 0 || (is_signed && value >> 31 == UINT64_MAX >> 31);
}

/* Logs an event of which some value that should take one word doesn't fit: all of them take two. */
COLD static void kercall_big(unsigned number, const struct trace_values *v)
{
    uint32_t out[2 * TRACE_KERCALL_VALUES];

    for (unsigned i = 0; i < v->n; i++) {
        out[2 * i] = (uint32_t)v->value[i];
        out[2 * i + 1] = (uint32_t)(v->value[i] >> 32);
    }
    trace_log_words(trace_kercall_class(number), number | TRACE_EVENT_64,
                    &(struct trace_words){out, 2 * v->n, NULL, 0});
}

static __attribute__((noinline)) void kercall_long(unsigned number, const struct trace_values *v)
{
    uint32_t out[2 * TRACE_KERCALL_VALUES];
    uint32_t is_long = v->is_long, is_signed = v->is_signed;
    const uint64_t *value = v->value, *end = value + v->n;
    uint32_t *word = out;

    for (; value < end; value++, is_long >>= 1, is_signed >>= 1) {
        uint32_t high = (uint32_t)(*value >> 32);
        *word++ = (uint32_t)*value;
        if (is_long & 1) {
            *word++ = high;
        } else if (unlikely(high != 0) && !kercall_fits(*value, is_signed & 1)) {
            kercall_big(number, v);
            return;
        }
    }
    trace_log_words(trace_kercall_class(number), number,
                    &(struct trace_words){out, (unsigned)(word - out), NULL, 0});
}

void trace_kercall(unsigned number, const struct trace_values *v)
{
    if (v->n == 2 && v->is_long == 0 && kercall_fits(v->value[0], v->is_signed & 1) &&
        kercall_fits(v->value[1], v->is_signed & 2)) {
        trace_log2(trace_kercall_class(number), number, (uint32_t)v->value[0],
                   (uint32_t)v->value[1]);
    } else {
        kercall_long(number, v);
    }
}
