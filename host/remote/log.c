/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -x log=1 on a target behind messages: the notes (notes.h) go into its event log, then the kernel
 * puts the records there, and at each pass what a live consumer would take. -x retain: the notes go
 * into retained memory, where the consumer's buffers are.
 */
#include "trace/dtrace/notes.h"
#include "host/remote/remote.h"
#include "trace/dtrace/log_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRIES = 200, NAP = 20000000 }; /* ns: the log's buffers are being carried away */

/* ---- the transcript ---------------------------------------------------------------- */

static bool remote_log_append_bytes(struct remote *r, const void *bytes, size_t n)
{
    if (n > r->transcript_room - r->ntranscript) {
        size_t room = (r->transcript_room + n) * 2;
        uint8_t *bigger = realloc(r->transcript, room);
        if (!bigger) {
            return false;
        }
        r->transcript = bigger;
        r->transcript_room = room;
    }
    memcpy(r->transcript + r->ntranscript, bytes, n);
    r->ntranscript += n;
    return true;
}

/* A process that a description of the provider pid means is asked for before the program is made;
 * those that records have addresses of the log has itself. */
static bool remote_log_is_description(const struct remote *r, uint32_t command)
{
    return (command == KYMO_D_PROCESS && !r->handle) || command == KYMO_D_INFO ||
           command == KYMO_D_PROVIDE || command == KYMO_D_PROBES || command == KYMO_D_CREATE ||
           command == KYMO_D_EPID || command == KYMO_D_AGG;
}

void remote_transcribe(struct remote *r, const struct kymo_d_call *asked, const void *in,
                       const struct kymo_d_call *answer, const void *out)
{
    if (!remote_log_is_description(r, asked->command) || r->ntranscript > DTRACE_LOG_NOTES_MAX) {
        return;
    }
    size_t before = r->ntranscript;
    if (!remote_log_append_bytes(r, asked, sizeof(*asked)) ||
        !remote_log_append_bytes(r, in ? in : "", asked->in_bytes) ||
        !remote_log_append_bytes(r, answer, sizeof(*answer)) ||
        !remote_log_append_bytes(r, out ? out : "", answer->out_bytes)) {
        r->ntranscript = before;
    }
}

/* Everything that a reader may ask of the program's records. */
static int ask_descriptions(struct target *t)
{
    enum { MOST = 4096 };
    struct dtrace_recdesc *recs = calloc(MOST, sizeof(*recs));
    struct dtrace_epid_desc epid;
    struct dtrace_agg_desc agg;
    uint32_t n;
    int error = recs ? 0 : -ENOMEM;

    for (uint32_t id = 1; !error; id++) {
        n = MOST;
        error = t->ops->epid(t, id, &epid, recs, &n);
        if (!error) {
            struct dt_probe_info info;
            t->ops->probe_names(t, epid.probe, &info);
        }
    }
    error = error == -ENOENT ? 0 : error;
    for (uint32_t id = 1; !error; id++) {
        n = MOST;
        error = t->ops->agg(t, id, &agg, recs, &n);
    }
    free(recs);
    return error == -ENOENT ? 0 : error;
}

/* ---- sending them ------------------------------------------------------------------ */

/* Has them logged, waiting for room; notes: with `bytes` of them to keep. */
static int log_notes(struct remote *r, const void *notes, uint32_t bytes, uint32_t total)
{
    struct kymo_d_call call = {0};
    const uint8_t *out;
    int error = 0;

    for (unsigned i = 0; i < TRIES && !error && call.id < total; i++) {
        uint32_t from = call.id;
        call = (struct kymo_d_call){
            .command = KYMO_D_NOTES, .handle = r->handle, .id = from, .in_bytes = bytes};
        error = remote_call(r, &call, notes, &out);
        bytes = 0; /* it has them */
        if (!error && call.id < total) {
            i = call.id > from ? 0 : i;
            nanosleep(&(struct timespec){0, NAP}, NULL);
        }
    }
    return error ? error : call.id < total ? -ENOSPC : 0;
}

/* All of them: r->notes_bytes, malloc'ed. NULL: *error says why. */
static uint8_t *make_notes(struct target *t, const void *saved, size_t bytes, int *error)
{
    struct remote *r = (struct remote *)t;

    *error = ask_descriptions(t);
    size_t total = sizeof(struct notes_head) + bytes + r->ntranscript;
    if (*error || total > DTRACE_LOG_NOTES_MAX) {
        *error = *error ? *error : -E2BIG;
        return NULL;
    }
    uint8_t *notes = malloc(total);
    if (!notes) {
        *error = -ENOMEM;
        return NULL;
    }
    struct notes_head head = {NOTES_MAGIC, NOTES_VERSION, (uint32_t)bytes, 0};
    memcpy(notes, &head, sizeof(head));
    memcpy(notes + sizeof(head), saved, bytes);
    memcpy(notes + sizeof(head) + bytes, r->transcript, r->ntranscript);
    r->notes_bytes = (uint32_t)total;
    return notes;
}

int remote_log_start(struct target *t, const void *saved, size_t bytes)
{
    struct remote *r = (struct remote *)t;
    int error;
    uint8_t *notes = make_notes(t, saved, bytes, &error);

    if (notes) {
        error = log_notes(r, notes, r->notes_bytes, r->notes_bytes);
    }
    free(notes);
    return error;
}

/* At once: they need no room in a log. */
int remote_retain(struct target *t, const void *saved, size_t bytes)
{
    struct remote *r = (struct remote *)t;
    const uint8_t *out;
    int error;
    uint8_t *notes = make_notes(t, saved, bytes, &error);

    if (notes) {
        struct kymo_d_call call = {
            .command = KYMO_D_NOTES, .handle = r->handle, .in_bytes = r->notes_bytes};
        error = remote_call(r, &call, notes, &out);
    }
    free(notes);
    return error;
}

int remote_log_pass(struct target *t, uint32_t pass, unsigned flags, struct dtrace_status *status)
{
    struct remote *r = (struct remote *)t;
    struct kymo_d_call call = {
        .command = KYMO_D_PASS, .handle = r->handle, .id = pass, .flags = flags};

    call.flags |= r->uses.addresses ? DTRACE_LOG_PROCESSES : 0;
    int error = remote_ask(r, &call, status, sizeof(*status));
    return error ? error : call.id != 0;
}

/* Again: a ring may have forgotten the first ones. */
int remote_log_end(struct target *t)
{
    struct remote *r = (struct remote *)t;

    return log_notes(r, NULL, 0, r->notes_bytes);
}
