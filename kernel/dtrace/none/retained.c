/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D on a board without retained memory (board.mk: RETAIN := none), in place of
 * kernel/dtrace/retained.c: consumers that ask for it get ENODEV. Contexts as there.
 */
#include "abi/errno.h"
#include "kernel/dtrace/dtrace.h"
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

bool dtrace_retained_free(void *block)
{
    (void)block;
    return false;
}

uint32_t dtrace_port_retained_at(const void *block)
{
    (void)block;
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
