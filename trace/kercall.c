/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * KERCALL events, whose table is abi/kercalls.def: the kernel collects the words, guarded by
 * the sites TRACE_EV_kercall_*. Any context, no lock. Proof: test/unit/test_calls.c.
 */
#include "trace/kercall.h"

#include "abi/compiler.h"
#include "abi/errno.h"
#include "trace/log.h"
#include "trace/threads.h"
#include "trace/trace.h"

#define EVENTS (3 * TRACE_KERCALLS) /* by number | TRACE_KERCALL_* */

static struct {
    uint32_t on[TRACE_BITS(EVENTS)];      /* [a] */
    uint32_t slow[TRACE_BITS(EVENTS)];    /* [a] wide or all: needs a query */
    uint32_t wide[TRACE_BITS(EVENTS)];    /* [a] */
    uint32_t limited[TRACE_BITS(EVENTS)]; /* [a] to a process or thread: query trace/threads.h */
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

void trace_kercall_update(bool all)
{
    for (unsigned i = 0; i < TRACE_BITS(EVENTS); i++) {
        calls.slow[i] = calls.wide[i] | (all ? UINT32_MAX : 0);
    }
    for (unsigned i = 0; i < EVENTS; i++) {
        trace_bits_set(calls.limited, i, 1, trace_threads_limit_kercall(i));
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

static bool has_big(const struct trace_values *v)
{
    for (unsigned i = 0; i < v->n; i++) {
        if (!(v->is_long >> i & 1) && !kercall_fits(v->value[i], v->is_signed >> i & 1)) {
            return true;
        }
    }
    return false;
}

COLD static void kercall_long(unsigned number, const struct trace_values *v)
{
    uint32_t out[2 * TRACE_KERCALL_VALUES];
    bool big = has_big(v);
    unsigned n = 0;

    for (unsigned i = 0; i < v->n; i++) {
        out[n++] = (uint32_t)v->value[i];
        if (big || (v->is_long >> i & 1)) {
            out[n++] = (uint32_t)(v->value[i] >> 32);
        }
    }
    trace_log_words(trace_kercall_class(number), number | (big ? TRACE_EVENT_64 : 0),
                    &(struct trace_words){out, n, NULL, 0});
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
