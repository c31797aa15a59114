/* SPDX-License-Identifier: BSD-2-Clause */
/* Which trace commands of a program hide events, so that from then on less is known: flow.h. */
#include "host/flow/flow.h"

#include "abi/sys/trace.h"

bool flow_hides(const uint32_t *words, unsigned nwords, bool wide)
{
    uint32_t class_id = nwords > (wide ? 2u : 1u) ? words[wide ? 2 : 1] : 0;
    bool matters = class_id == _NTO_TRACE_THREAD || class_id == _NTO_TRACE_COMM ||
                   class_id == _NTO_TRACE_INT || class_id == _NTO_TRACE_INTENTER ||
                   class_id == _NTO_TRACE_INTEXIT;

    switch (nwords > 0 ? words[0] : 0) {
    case _NTO_TRACE_DELALLCLASSES:
    case KYMO_TRACE_SETGATE:
        return true;
    case _NTO_TRACE_DELCLASS:
    case _NTO_TRACE_DELEVENT:
    case _NTO_TRACE_SETCLASSPID:
    case _NTO_TRACE_SETCLASSTID:
    case _NTO_TRACE_SETEVENTPID:
    case _NTO_TRACE_SETEVENTTID:
        return matters;
    default:
        return false;
    }
}
