/* SPDX-License-Identifier: BSD-2-Clause */
/* See owner.h. */
#include "tracelogger/owner.h"

#include <stdio.h>

#include "abi/sys/neutrino.h"
#include "abi/sys/trace.h"

/* Returns false if there are no buffers. */
static bool logger_owner_ask_kernel(struct kymo_trace_owner *owner)
{
    return TraceEvent(KYMO_TRACE_QUERYOWNER, owner) == 0;
}

bool owner_is_recording(bool *triggered)
{
    struct kymo_trace_owner owner;
    bool known = logger_owner_ask_kernel(&owner);

    *triggered = known && owner.triggered;
    return known && owner.running;
}

bool owner_is_gone(void)
{
    struct kymo_trace_owner owner;

    return logger_owner_ask_kernel(&owner) && owner.gone;
}

void owner_tell(const char *remedy)
{
    struct kymo_trace_owner owner;

    if (logger_owner_ask_kernel(&owner)) {
        printf("tracelogger: %s (process %d) is recording already: %s\n", owner.name,
               (int)owner.pid, remedy);
    } else {
        printf("tracelogger: another program is starting a recording: %s\n", remedy);
    }
}
