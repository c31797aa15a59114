/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The notes (notes.h) of the boot's consumer, whose buffers are in retained memory. No host is
 * connected that could write them, so the machine makes a host's requests itself and records the
 * answers. A reader compiles the program's source again, with the probes recorded here.
 *
 * Control context. Tested by test/board/dretain.py.
 */
#include "abi/errno.h"
#include "trace/assert.h"
#include "trace/dtrace/control_answer.h"
#include "trace/dtrace/notes.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/retained.h"

enum { ANSWER_ROOM = 16 * 1024 };

struct describing {
    struct dtrace_control_entry *entry;
    uint8_t *notes;
    uint32_t used, room;
    uint8_t *answer; /* ANSWER_ROOM */
    int error;
};

static void control_boot_put(struct describing *d, const void *bytes, uint32_t n)
{
    if (n > d->room - d->used) {
        d->error = -ENOSPC;
        return;
    }
    trace_assert(d->used <= d->room);
    dtrace_copy_long(d->notes + d->used, bytes, n);
    d->used += n;
}

/* Records a request and its answer. Returns false if there is no answer because the object does not
 * exist. */
static bool control_boot_ask(struct describing *d, uint32_t command, uint32_t id,
                             int (*answer)(struct dtrace_control_request *))
{
    const struct kymo_d_call asked = {.command = command, .id = id};
    struct kymo_d_call call = asked;
    struct dtrace_control_request r = {
        .call = &call, .out = d->answer, .room = ANSWER_ROOM, .entry = d->entry};

    call.result = answer(&r);
    if (call.result || d->error) {
        d->error = d->error || call.result == -ENOENT ? d->error : call.result;
        return false;
    }
    const struct kymo_d_probe *probe = (const void *)d->answer;
    if (command == KYMO_D_PROBES && call.out_bytes >= sizeof(*probe)) {
        call.out_bytes = probe->size; /* only the first probe: the requested one */
        call.id = probe->id;
    }
    control_boot_put(d, &asked, sizeof(asked));
    control_boot_put(d, &call, sizeof(call));
    control_boot_put(d, d->answer, call.out_bytes);
    return true;
}

static int control_boot_created(struct dtrace_control_request *r)
{
    r->call->handle = r->entry->handle;
    return dtrace_answer_sizes(r);
}

/* The image is followed by the saved settings and sources. */
static void control_boot_describe(struct describing *d,
                                  const struct dtrace_control_program *program)
{
    const struct dtrace_image *image = program->image;
    struct notes_head head = {NOTES_MAGIC, NOTES_VERSION, program->bytes - image->size, 0};
    uint32_t known = 0; /* probes, by id, to avoid repeating a request */

    control_boot_put(d, &head, sizeof(head));
    control_boot_put(d, (const uint8_t *)image + image->size, head.saved);
    control_boot_ask(d, KYMO_D_INFO, 0, dtrace_answer_info);
    control_boot_ask(d, KYMO_D_CREATE, 0, control_boot_created);
    for (uint32_t id = 1; control_boot_ask(d, KYMO_D_EPID, id, dtrace_answer_epid); id++) {
        uint32_t probe = d->entry->consumer->ecbs[id - 1].probe->id;
        if (probe != known) {
            control_boot_ask(d, KYMO_D_PROBES, probe - 1, dtrace_answer_probes);
            known = probe;
        }
    }
    for (uint32_t id = 1; control_boot_ask(d, KYMO_D_AGG, id, dtrace_answer_agg); id++) {
    }
    d->error = d->error ? d->error : dtrace_kept_notes(d->entry->consumer, d->notes, d->used);
}

int dtrace_control_describe(struct dtrace_control_entry *p,
                            const struct dtrace_control_program *program)
{
    struct dtrace_block notes, answer;
    int error = -ENOMEM;

    if (dtrace_block_make(&notes, DTRACE_LOG_NOTES_MAX)) {
        if (dtrace_block_make(&answer, ANSWER_ROOM)) {
            struct describing d = {
                .entry = p, .notes = notes.at, .room = DTRACE_LOG_NOTES_MAX, .answer = answer.at};
            control_boot_describe(&d, program);
            error = d.error;
            dtrace_block_free(&answer);
        }
        dtrace_block_free(&notes);
    }
    return error;
}
