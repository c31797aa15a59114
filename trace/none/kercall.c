/* SPDX-License-Identifier: BSD-2-Clause */
/* A log without kernel calls: see trace/kercall.h. Their classes fail with -ENOTSUP. */
#include "trace/kercall.h"

#include "abi/errno.h"
#include "trace/trace.h"

int trace_kercall_set(enum trace_filter_set set, unsigned kind, const uint32_t *event, bool value)
{
    (void)set;
    (void)kind;
    (void)event;
    (void)value;
    return -ENOTSUP;
}

void trace_kercall_update(bool all)
{
    (void)all;
}

void trace_kercall_probe(unsigned kind, bool on)
{
    (void)kind;
    (void)on;
}

bool trace_kercall_any(unsigned kind)
{
    (void)kind;
    return false;
}

bool trace_kercall_on(unsigned number)
{
    (void)number;
    return false;
}
