/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions called by the compiler's code in files compiled with -finstrument-functions. In a
 * separate file, so that a program may define its own. Any context; errno is preserved.
 */
#include "abi/sys/neutrino.h"
#include "lib/include/sys/neutrino_r.h"
#include "lib/include/sys/trace.h"

#define UNTRACED __attribute__((no_instrument_function))
#define EVENT(name) (_NTO_TRACE_SYS_##name | _NTO_TRACE_EVENT64)

UNTRACED void __cyg_profile_func_enter(void *this_fn, void *call_site)
{
    TraceEvent_r((int)_NTO_TRACE_INSERTSCLASSEVENT, TRACE_CLASS_SYSTEM, EVENT(FUNC_ENTER), this_fn,
                 call_site);
}

UNTRACED void __cyg_profile_func_exit(void *this_fn, void *call_site)
{
    TraceEvent_r((int)_NTO_TRACE_INSERTSCLASSEVENT, TRACE_CLASS_SYSTEM, EVENT(FUNC_EXIT), this_fn,
                 call_site);
}
