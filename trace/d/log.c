/* SPDX-License-Identifier: BSD-2-Clause */
/* See log.h. A record travels whole, as one combine event, or is missing: then its number is, too.
 */
#include "trace/d/log.h"

#include "trace/d/port.h"
#include "trace/d/retained.h"

void d_log_records(struct d_consumer *c, struct d_consumer_cpu *here)
{
    struct d_buffer *b = &here->principal;
    uint32_t epid;

    for (size_t at = 0; at + sizeof(epid) <= b->offset;) {
        __builtin_memcpy(&epid, b->active + at, sizeof(epid));
        if (epid == 0 || epid > c->necbs) {
            at += sizeof(epid);
            continue;
        }
        uint32_t size = c->shapes.shape[epid - 1].size;
        const uint32_t words[] = {c->log_id, here->logged++};
        d_port_log(D_LOG_RECORD, words, 2, b->active + at, size);
        at += size;
    }
    b->offset = 0;
}

void d_log_fire(const struct d_ecb *e, struct d_consumer_cpu *here, const uint64_t args[5])
{
    struct d_ecb plain = *e;

    plain.states = e->states >> D_ECB_ASIDE;
    d_ecb_fire(&plain, args);
    if (e->consumer->logs) {
        d_log_records(e->consumer, here);
    } else {
        d_kept_records(e->consumer, here);
    }
}
