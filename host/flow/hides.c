/* SPDX-License-Identifier: BSD-2-Clause */
/* Which trace commands of a program hide events, so that from then on less is known: flow.h. */
#include "host/flow/flow.h"

#include "abi/sys/trace.h"

/* Returns the class of a command that hides events of one; 0: it hides none, UINT32_MAX: all. */
static uint32_t flow_hidden_class(const uint32_t *words, unsigned nwords, bool wide)
{
    switch (nwords > 0 ? words[0] : 0) {
    case _NTO_TRACE_DELALLCLASSES:
    case KYMO_TRACE_SETGATE:
        return UINT32_MAX;
    case _NTO_TRACE_DELCLASS:
    case _NTO_TRACE_DELEVENT:
    case _NTO_TRACE_SETCLASSPID:
    case _NTO_TRACE_SETCLASSTID:
    case _NTO_TRACE_SETEVENTPID:
    case _NTO_TRACE_SETEVENTTID:
        return nwords > (wide ? 2u : 1u) ? words[wide ? 2 : 1] : 0;
    default:
        return 0;
    }
}

bool flow_hides(const uint32_t *words, unsigned nwords, bool wide)
{
    uint32_t class_id = flow_hidden_class(words, nwords, wide);

    return class_id == UINT32_MAX || class_id == _NTO_TRACE_THREAD || class_id == _NTO_TRACE_COMM ||
           class_id == _NTO_TRACE_INT || class_id == _NTO_TRACE_INTENTER ||
           class_id == _NTO_TRACE_INTEXIT;
}

bool flow_hides_calls(const uint32_t *words, unsigned nwords, bool wide)
{
    uint32_t class_id = flow_hidden_class(words, nwords, wide);

    return class_id == UINT32_MAX || class_id == _NTO_TRACE_KERCALL ||
           class_id == _NTO_TRACE_KERCALLENTER || class_id == _NTO_TRACE_KERCALLEXIT;
}
