/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * KERCALL events, whose table is kernel/abi/kercalls.def: the kernel collects the words, guarded by
 * the sites TRACE_EV_kercall_*. Any context, no lock. Proof: test/unit/test_calls.c.
 */
#include "trace/filter.h"
#include "trace/log.h"
#include "trace/threads.h"
#include "trace/trace.h"

#define MAX_WORDS 16

bool trace_kercall_on(unsigned number)
{
    return trace_bit(trace_filter.kercall_on, number) &&
           (!trace_bit(trace_filter.kercall_limited, number) || trace_threads_kercall(number));
}

bool trace_kercall_slow(unsigned number)
{
    return trace_bit(trace_filter.kercall_slow, number);
}

bool trace_kercall_wide(unsigned number)
{
    return trace_bit(trace_filter.kercall_wide, number);
}

TRACE_COLD static void kercall_long(unsigned number, const uintptr_t *words, unsigned nwords,
                                    bool big)
{
    uint32_t out[2 * MAX_WORDS];
    unsigned n = 0;

    for (unsigned i = 0; i < nwords && i < MAX_WORDS; i++) {
        out[n++] = (uint32_t)words[i];
        if (big) {
            out[n++] = (uint32_t)((uint64_t)words[i] >> 32);
        }
    }
    trace_log_words(TRACE_CLASS_KER_CALL, number | (big ? TRACE_EVENT_64 : 0),
                    &(struct trace_words){out, n, NULL, 0});
}

void trace_kercall(unsigned number, const uintptr_t *words, unsigned nwords)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < nwords; i++) {
        all |= words[i];
    }
    if (nwords == 2 && all >> 32 == 0) {
        trace_log2(TRACE_CLASS_KER_CALL, number, (uint32_t)words[0], (uint32_t)words[1]);
    } else {
        kercall_long(number, words, nwords, all >> 32 != 0);
    }
}
