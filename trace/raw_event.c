/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceEvent(INSERTEVENT): inserts one slot unchanged, regardless of the filters, for callers with
 * the ability. Any context, no lock.
 *
 * Time and CPU are replaced, because a ring's stamps must increase and a buffer belongs to one CPU.
 * Errors: -EINVAL: bits 15 to 23, except _NTO_TRACE_PROCESS_INJECTED, which is cleared. -ENOTSUP: a
 * part of a combine event, which would be incomplete (INSERTCCLASSEVENT makes complete ones);
 * classes of the ring itself (EMPTY, CONTROL) and unknown classes. Tested by
 * test/trace/interrupt_test.c.
 */
#include "abi/errno.h"
#include "abi/sys/trace.h"
#include "trace/log.h"
#include "trace/trace.h"

#define RESERVED 0x00fe8000u

long trace_raw_event(bool able, const uint32_t args[4])
{
    uint32_t header = args[0], slot_class = TRACE_GET_CLASS(header);

    if (!able) {
        return -EPERM;
    }
    if (header & RESERVED) {
        return -EINVAL;
    }
    if (TRACE_GET_STRUCT(header) != TRACE_STRUCT_S || slot_class <= TRACE_CLASS_CONTROL ||
        (slot_class > TRACE_CLASS_COMM && slot_class != TRACE_CLASS_KYMO_CALL)) {
        return -ENOTSUP;
    }
    trace_log_words(slot_class, TRACE_GET_EVENT(header),
                    &(struct trace_words){args + 2, 2, NULL, 0});
    return 0;
}
