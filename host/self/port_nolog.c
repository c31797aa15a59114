/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of trace/dtrace/port.h for the event log and for retained memory, where there is
 * neither: -x log=1 and -x retain are refused. For the target `self`, and for `make bench`. */
#include "trace/dtrace/port.h"

#include "abi/errno.h"

bool dtrace_port_log(unsigned number, const uint32_t *words, unsigned nwords, const void *bytes,
                     size_t size)
{
    (void)number;
    (void)words;
    (void)nwords;
    (void)bytes;
    (void)size;
    return false;
}

void dtrace_port_notes(uint32_t id, const void *bytes, uint32_t n)
{
    (void)id;
    (void)bytes;
    (void)n;
}

bool dtrace_port_logging(void)
{
    return false;
}

bool dtrace_port_log_room(void)
{
    return false;
}

int32_t dtrace_port_next_process(int32_t after, struct kymo_d_process *process)
{
    (void)after;
    (void)process;
    return 0;
}

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
