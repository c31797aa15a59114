/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceEvent()'s commands that limit a class or an event to a process or thread. Kernel lock;
 * trace/control.c has checked the ability. A class or event has one such limit: SET replaces it,
 * either CLR removes it, STOP, DEALLOCBUFFER and DELALLCLASSES keep it. A pid need not exist (yet);
 * an impossible one (0, negative), or a negative tid, is -EINVAL. Tested by
 * test/trace/threads_test.c.
 */
#include "abi/errno.h"
#include "abi/sys/trace.h"
#include "trace/filter.h"
#include "trace/threads.h"

static bool control_threads_exists(uint32_t pid, uint32_t tid)
{
    return (int32_t)pid > 0 && (int32_t)tid >= 0;
}

static long control_threads_set_class(const uint32_t args[4], uint32_t tid)
{
    return control_threads_exists(args[1], tid)
               ? trace_threads_set_class(args[0], TRACE_THREAD(args[1], tid))
               : -EINVAL;
}

static long set_event(const uint32_t args[4], uint32_t tid)
{
    return control_threads_exists(args[2], tid)
               ? trace_threads_set_event(args[0], args[1], TRACE_THREAD(args[2], tid))
               : -EINVAL;
}

long trace_threads_command(uint32_t cmd, const uint32_t args[4])
{
    switch (cmd) {
    case _NTO_TRACE_SETCLASSPID:
        return control_threads_set_class(args, 0);
    case _NTO_TRACE_SETCLASSTID:
        return control_threads_set_class(args, args[2]);
    case _NTO_TRACE_SETEVENTPID:
        return set_event(args, 0);
    case _NTO_TRACE_SETEVENTTID:
        return set_event(args, args[3]);
    case _NTO_TRACE_CLRCLASSPID:
    case _NTO_TRACE_CLRCLASSTID:
        return trace_threads_set_class(args[0], 0);
    case _NTO_TRACE_CLREVENTPID:
    case _NTO_TRACE_CLREVENTTID:
        return trace_threads_set_event(args[0], args[1], 0);
    case KYMO_TRACE_CLRALLTHREADS:
        trace_threads_clear();
        return 0;
    default:
        return -ENOTSUP;
    }
}
