/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code locations for the trace: SYSTEM/ADDRESS, FUNC_ENTER and FUNC_EXIT. Addresses are whole
 * machine words. Contexts as in <sys/trace.h>; also before the C library is set up, and errno is
 * preserved where the compiler makes the call. Tested by test/board's t_events.
 */
#include "abi/sys/neutrino.h"
#include "lib/include/sys/trace.h"

#define UNTRACED __attribute__((no_instrument_function))
#define EVENT(name) (_NTO_TRACE_SYS_##name | _NTO_TRACE_EVENT64)

static inline UNTRACED int trace_place_insert_event(unsigned event, void *d1, void *d2)
{
    return TraceEvent((int)_NTO_TRACE_INSERTSCLASSEVENT, TRACE_CLASS_SYSTEM, event, d1, d2);
}

UNTRACED int trace_here(void)
{
    return trace_place_insert_event(EVENT(ADDRESS), __builtin_return_address(0), NULL);
}

UNTRACED int trace_func_enter(void *this_fn, void *call_site)
{
    return trace_place_insert_event(EVENT(FUNC_ENTER), this_fn, call_site);
}

UNTRACED int trace_func_exit(void *this_fn, void *call_site)
{
    return trace_place_insert_event(EVENT(FUNC_EXIT), this_fn, call_site);
}
