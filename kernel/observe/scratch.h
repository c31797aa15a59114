/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of this room that is too large for a stack and has one user at a time: the answer of the
 * trace command that is being executed, or the record of a panic, after which no command ends.
 */
#ifndef KERNEL_OBSERVE_SCRATCH_H
#define KERNEL_OBSERVE_SCRATCH_H

#include "abi/sys/panic.h"
#include "abi/sys/trace.h"

union observe_scratch {
    union {
        uint64_t paddr;
        struct kymo_trace_buffer buffer;
        struct kymo_trace_loss loss;
        struct kymo_trace_owner owner;
        struct kymo_trace_stopped stopped;
    } answer;                /* [k] trace_calls.c */
    struct kymo_panic panic; /* the panicking CPU: panic.c */
};
extern union observe_scratch observe_scratch;

#endif
