/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * KERCALL events, whose table is abi/kercalls.def: the kernel collects the words, guarded by
 * the sites TRACE_EV_kercall_*. Any context, no lock. Proof: test/unit/test_calls.c.
 */
#include "trace/filter.h"
#include "trace/log.h"
#include "trace/threads.h"
#include "trace/trace.h"

bool trace_kercall_on(unsigned number)
{
    return trace_bit(trace_filter.kercall_on, number) &&
           (!trace_bit(trace_filter.kercall_limited, number) || trace_threads_kercall_here(number));
}

bool trace_kercall_of(unsigned number, uint32_t pid, uint32_t tid)
{
    return trace_bit(trace_filter.kercall_on, number) && trace_threads_kercall(number, pid, tid);
}

bool trace_kercall_slow(unsigned number)
{
    return trace_bit(trace_filter.kercall_slow, number);
}

bool trace_kercall_wide(unsigned number)
{
    return trace_bit(trace_filter.kercall_wide, number);
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

TRACE_COLD static void kercall_long(unsigned number, const struct trace_values *v)
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
