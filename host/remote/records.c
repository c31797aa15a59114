/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of host/target/target.h that fetch records and their descriptions. Proof:
 * test/host/remote.
 */
#include "host/remote/remote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* size: of the buffer there, which is the most that can come. What is larger doesn't exist: the
 * program has no use for it. */
static int remote_records_take_buffer(struct remote *r, uint32_t command, unsigned cpu,
                                      uint64_t size, void *to, size_t room,
                                      struct dtrace_snap *snap)
{
    struct kymo_d_call call = {.command = command, .handle = r->handle, .cpu = cpu};
    const uint8_t *out;

    call.out_bytes =
        (uint32_t)((size < REMOTE_BUFFER_MAX ? size : REMOTE_BUFFER_MAX) + sizeof(*snap));
    int error = remote_call(r, &call, NULL, &out);

    memset(snap, 0, sizeof(*snap));
    if (error) {
        return error;
    }
    if (call.out_bytes < sizeof(*snap)) {
        return remote_nonsense(r, "a buffer");
    }
    memcpy(snap, out, sizeof(*snap));
    if (snap->size != call.out_bytes - sizeof(*snap) || snap->size > room) {
        return remote_nonsense(r, "a buffer's size");
    }
    memcpy(to, out + sizeof(*snap), snap->size);
    return 0;
}

int remote_buffer(struct target *t, unsigned cpu, void *to, size_t room, struct dtrace_snap *snap)
{
    return remote_records_take_buffer(remote_of(t), KYMO_D_BUFFER, cpu, remote_of(t)->principal, to,
                                      room, snap);
}

int remote_aggregation(struct target *t, unsigned cpu, void *to, size_t room,
                       struct dtrace_snap *snap)
{
    if (!remote_of(t)->uses.aggregates) {
        *snap = (struct dtrace_snap){0};
        return 0;
    }
    return remote_records_take_buffer(remote_of(t), KYMO_D_AGGREGATION, cpu,
                                      remote_of(t)->sizes.aggsize, to, room, snap);
}

/* ---- descriptions ------------------------------------------------------------------ */

enum { HEAD = 24 };

/* head: 20 bytes, whose last four are how many records follow. */
static int remote_records_ask_description(struct remote *r, uint32_t command, uint32_t id,
                                          void *head, struct dtrace_recdesc *recs, uint32_t *nrecs)
{
    struct kymo_d_call call = {.command = command,
                               .handle = r->handle,
                               .id = id,
                               .out_bytes = HEAD + (r->uses.most_actions + 1) * sizeof(*recs)};
    const uint8_t *out;
    uint32_t n, head_id;
    int error = remote_call(r, &call, NULL, &out);

    if (error) {
        return error;
    }
    if (call.out_bytes < HEAD) {
        return remote_nonsense(r, "a description");
    }
    memcpy(head, out, 20);
    memcpy(&head_id, out, sizeof(head_id));
    memcpy(&n, out + 16, sizeof(n));
    if (call.out_bytes != HEAD + n * (uint64_t)sizeof(*recs) || head_id != id) {
        return remote_nonsense(r, "a description's size");
    }
    memcpy(recs, out + HEAD, (n < *nrecs ? n : *nrecs) * sizeof(*recs));
    *nrecs = n;
    return 0;
}

int remote_epid(struct target *t, uint32_t epid, struct dtrace_epid_desc *desc,
                struct dtrace_recdesc *recs, uint32_t *nrecs)
{
    uint32_t room = *nrecs;
    int error = remote_records_ask_description(remote_of(t), KYMO_D_EPID, epid, desc, recs, nrecs);

    if (!error && *nrecs <= room && !remote_epid_fits(remote_of(t)->image, desc, recs)) {
        return remote_nonsense(remote_of(t), "records of another program");
    }
    return error;
}

int remote_agg(struct target *t, uint32_t id, struct dtrace_agg_desc *desc,
               struct dtrace_recdesc *recs, uint32_t *nrecs)
{
    uint32_t room = *nrecs;
    int error = remote_records_ask_description(remote_of(t), KYMO_D_AGG, id, desc, recs, nrecs);

    if (!error && *nrecs <= room && !remote_agg_fits(remote_of(t)->image, desc, recs)) {
        return remote_nonsense(remote_of(t), "aggregations of another program");
    }
    return error;
}
