/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of trace/dtrace/port.h for the event log where there is none: -x log=1 is refused. For
 * the target `self`, and for `make bench`. */
#include "trace/dtrace/port.h"

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
