/* SPDX-License-Identifier: BSD-2-Clause */
/* Logs records: see log.h. A record is logged whole, as one combine event, or is missing together
 * with its number. */
#include "trace/dtrace/log.h"

#include "trace/assert.h"
#include "trace/dtrace/own.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/retained.h"

void dtrace_log_records(struct dtrace_consumer *c, struct dtrace_consumer_cpu *here)
{
    struct dtrace_buffer *b = &here->principal;
    uint32_t epid;

    for (size_t at = 0; at + sizeof(epid) <= b->offset;) {
        __builtin_memcpy(&epid, b->active + at, sizeof(epid));
        if (epid == 0 || epid > c->necbs) {
            at += sizeof(epid);
            continue;
        }
        uint32_t size = c->shapes.shape[epid - 1].size;
        const uint32_t words[] = {c->log_id, here->logged++};
        trace_assert(size <= b->offset - at);
        dtrace_port_log(DTRACE_LOG_RECORD, words, 2, b->active + at, size);
        at += size;
    }
    b->offset = 0;
}

void dtrace_log_fire(const struct dtrace_ecb *e, struct dtrace_consumer_cpu *here,
                     const uint64_t args[5])
{
    struct dtrace_ecb plain = *e;

    if (e->consumer->own && !dtrace_own_fires(e, &here->context, &args)) {
        return;
    }
    plain.states = e->states >> DTRACE_ECB_ASIDE;
    dtrace_ecb_fire_copy(&plain, args);
    if (e->consumer->logs) {
        dtrace_log_records(e->consumer, here);
    } else if (e->consumer->retains) {
        dtrace_kept_records(e->consumer, here);
    }
}
