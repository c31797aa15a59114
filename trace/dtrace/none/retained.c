/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of trace/dtrace/port.h for memory that a reset preserves, where there is none for D:
 * -x retain is refused. In ports without it, and in kernels with room for a ring only.
 */
#include "abi/errno.h"
#include "trace/dtrace/port.h"

int dtrace_port_retaining(void)
{
    return -ENODEV;
}

void *dtrace_port_retain(size_t bytes)
{
    (void)bytes;
    return NULL;
}

uint32_t dtrace_port_retained_at(const void *at)
{
    (void)at;
    return UINT32_MAX;
}

int dtrace_port_retained_put(struct kymo_retain_d *is)
{
    (void)is;
    return -ENODEV;
}

void dtrace_port_retained_drop(const struct kymo_retain_d *is)
{
    (void)is;
}
