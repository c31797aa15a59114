/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of this room that is too large for a stack: the answer of the trace command that is being
 * executed, and the record of a panic. With one CPU they share it, because no command ends after a
 * panic; with several, another CPU may be writing an answer when this one panics.
 */
#ifndef KERNEL_OBSERVE_SCRATCH_H
#define KERNEL_OBSERVE_SCRATCH_H

#include "abi/sys/panic.h"
#include "abi/sys/trace.h"
#include "kernel/base/config.h"

union observe_scratch {
    union {
        uint64_t paddr;
        struct kymo_trace_buffer buffer;
        struct kymo_trace_loss loss;
        struct kymo_trace_owner owner;
        struct kymo_trace_stopped stopped;
    } answer;                /* [k] of the first element: trace_calls.c */
    struct kymo_panic panic; /* of the last element; the panicking CPU: panic.c */
};
#define OBSERVE_SCRATCHES (CONFIG_CPUS > 1 ? 2 : 1)
extern union observe_scratch observe_scratch[OBSERVE_SCRATCHES];

#endif
