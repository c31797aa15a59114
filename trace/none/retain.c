/* SPDX-License-Identifier: BSD-2-Clause */
/* A log without retained memory: see trace/retain.h. ALLOCRETAINED fails with -ENODEV. */
#include "trace/retain.h"

#include "abi/errno.h"

int trace_retain_alloc(struct trace_consumer *consumer)
{
    (void)consumer;
    return -ENODEV;
}

void trace_retain_begin(struct trace_consumer *consumer)
{
    (void)consumer;
}

void trace_retain_end(void)
{
}

void trace_retain_exit(struct trace_cpu *cpu)
{
    (void)cpu;
}
