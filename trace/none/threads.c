/* SPDX-License-Identifier: BSD-2-Clause */
/* A log without limits to a process or thread: see trace/threads.h. Its commands fail with
 * -ENOTSUP, except the one that clears all limits: there are none. */
#include "trace/threads.h"

#include "abi/errno.h"
#include "abi/sys/trace.h"

long trace_threads_command(uint32_t cmd, const uint32_t args[4])
{
    (void)args;
    return cmd == KYMO_TRACE_CLRALLTHREADS ? 0 : -ENOTSUP;
}

bool trace_threads_limit_row(unsigned id)
{
    (void)id;
    return false;
}

bool trace_threads_limit_kercall(unsigned number)
{
    (void)number;
    return false;
}

uint32_t trace_threads_limit_states(void)
{
    return 0;
}

bool trace_threads_entry(unsigned event_class, unsigned id, uint32_t pid, uint32_t tid)
{
    (void)event_class;
    (void)id;
    (void)pid;
    (void)tid;
    return true;
}

bool trace_threads_entry_here(unsigned event_class, unsigned id)
{
    (void)event_class;
    (void)id;
    return true;
}

bool trace_threads_state(unsigned state, uint32_t pid, uint32_t tid)
{
    (void)state;
    (void)pid;
    (void)tid;
    return true;
}

bool trace_threads_kercall(unsigned number, uint32_t pid, uint32_t tid)
{
    (void)number;
    (void)pid;
    (void)tid;
    return true;
}

bool trace_threads_kercall_here(unsigned number)
{
    (void)number;
    return true;
}
