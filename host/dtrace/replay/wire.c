/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wire to a target that is a capture. Requests that describe the target and the program are
 * answered from the transcript in the notes; requests for buffers from what the current pass took.
 * A missing record is a drop of its CPU, a missing entry a drop of the aggregation. Tested by
 * test/host/dtrace/replay.
 */
#include "host/dtrace/replay/replay.h"
#include "trace/dtrace/notes.h"
#include "host/remote/remote.h"
#include "trace/dtrace/log_event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THEIR_ENOENT = 2, THEIR_EINVAL = 22, PADDING_MAX = 16 };
enum { BATCH_MOST = 16 << 10 }; /* bytes of probes in one answer */

struct answer { /* a request and its answer in the transcript */
    struct kymo_d_call asked, answered;
    const uint8_t *in, *out;
};

struct size { /* the size of an EPID's records */
    uint32_t epid, bytes;
};

struct replay_wire_state {
    struct wire base;
    struct replay *r;
    struct answer *answers;
    size_t nanswers;
    struct replay_probes probes; /* of answers without a description */
    struct size *sizes;          /* by EPID */
    size_t nsizes;
    struct kymo_d_call call; /* the answer that waits to be received */
    uint8_t *out;            /* its bytes */
    size_t out_room;
    bool waits;
    bool made; /* created and not yet started: a buffer that is read now is empty */
};

static struct replay_wire_state *replay_wire_of(struct wire *wire)
{
    return (struct replay_wire_state *)wire;
}

/* ---- the transcript ---------------------------------------------------------------- */

static bool take_bytes(const uint8_t **at, const uint8_t *end, const uint8_t **bytes, uint32_t n)
{
    *bytes = *at;
    if ((size_t)(end - *at) < n) {
        return false;
    }
    *at += n;
    return true;
}

static bool replay_take_call(const uint8_t **at, const uint8_t *end, struct kymo_d_call *call)
{
    const uint8_t *bytes;

    if (!take_bytes(at, end, &bytes, sizeof(*call))) {
        return false;
    }
    memcpy(call, bytes, sizeof(*call));
    return true;
}

static int compare_sizes(const void *p, const void *q)
{
    const struct size *a = p, *b = q;

    return a->epid < b->epid ? -1 : a->epid > b->epid;
}

/* Reads all requests and answers; collects the probes, and the sizes of EPIDs' records. Returns
 * false if the transcript is invalid, or there is no memory. */
static bool read_transcript(struct replay_wire_state *w, const uint8_t *at, const uint8_t *end)
{
    struct dtrace_epid_desc desc;

    while (at < end) {
        struct answer a, *bigger = realloc(w->answers, (w->nanswers + 1) * sizeof(*bigger));
        if (!bigger) {
            return false;
        }
        w->answers = bigger;
        if (!replay_take_call(&at, end, &a.asked) ||
            !take_bytes(&at, end, &a.in, a.asked.in_bytes) ||
            !replay_take_call(&at, end, &a.answered) ||
            !take_bytes(&at, end, &a.out, a.answered.out_bytes)) {
            return false;
        }
        w->answers[w->nanswers++] = a;
    }
    w->sizes = calloc(w->nanswers + 1, sizeof(*w->sizes));
    for (size_t i = 0; w->sizes && i < w->nanswers; i++) {
        const struct answer *a = &w->answers[i];
        if (a->asked.command == KYMO_D_PROBES && a->asked.in_bytes == 0 &&
            !replay_probes_add(&w->probes, a->out, a->answered.out_bytes)) {
            return false;
        }
        if (a->asked.command == KYMO_D_EPID && a->asked.in_bytes == 0 && !a->answered.result &&
            a->answered.out_bytes >= sizeof(desc)) {
            memcpy(&desc, a->out, sizeof(desc));
            w->sizes[w->nsizes++] = (struct size){a->asked.id, desc.size};
        }
    }
    replay_probes_sort(&w->probes);
    if (w->nsizes) {
        qsort(w->sizes, w->nsizes, sizeof(*w->sizes), compare_sizes);
    }
    return w->sizes != NULL;
}

/* ---- answers from the transcript ---------------------------------------------------- */

static bool replay_grow_answer(struct replay_wire_state *w, size_t bytes)
{
    uint8_t *bigger = bytes <= w->out_room ? w->out : realloc(w->out, bytes);

    if (bigger) {
        w->out_room = bytes > w->out_room ? bytes : w->out_room;
        w->out = bigger;
    }
    return bigger != NULL;
}

static bool replay_put_bytes(struct replay_wire_state *w, const void *bytes, size_t n)
{
    if (!replay_grow_answer(w, n)) {
        return false;
    }
    memcpy(w->out, bytes, n);
    w->call.out_bytes = (uint32_t)n;
    return true;
}

/* Answers from the transcript. Any image is the transcript's: the one compiled here need not be
 * identical to the bit, because the records' descriptions are checked against this program
 * (host/remote/describe.c). A request that was not made at recording time finds probes, or
 * nothing. */
static bool by_transcript(struct replay_wire_state *w, const uint8_t *in, uint32_t room)
{
    struct kymo_d_call *call = &w->call;
    const struct answer *found = NULL;
    struct kymo_d_created made;

    for (size_t i = 0; i < w->nanswers && !found; i++) {
        const struct kymo_d_call *a = &w->answers[i].asked;
        bool same = a->command == call->command && a->id == call->id && a->flags == call->flags &&
                    a->in_bytes == call->in_bytes && memcmp(w->answers[i].in, in, a->in_bytes) == 0;
        if (same || (a->command == KYMO_D_CREATE && call->command == KYMO_D_CREATE)) {
            found = &w->answers[i];
        }
    }
    if (!found) {
        if (call->command == KYMO_D_PROBES && call->in_bytes > 0) {
            room = room < BATCH_MOST ? room : BATCH_MOST;
            if (!replay_grow_answer(w, room)) {
                return false;
            }
            call->out_bytes =
                (uint32_t)replay_probes(&w->probes, in, call->in_bytes, &call->id, w->out, room);
        }
        if (call->command != KYMO_D_PROVIDE && call->out_bytes == 0) {
            call->result = -THEIR_ENOENT;
        }
        call->in_bytes = 0;
        return true;
    }
    *call = found->answered;
    if (!replay_put_bytes(w, found->out, found->answered.out_bytes)) {
        return false;
    }
    if (call->command == KYMO_D_CREATE) {
        w->made = true;
        if (call->result == 0 && call->out_bytes == sizeof(made)) {
            /* Buffers hold what a pass took, however little memory the target had for it. */
            memcpy(&made, w->out, sizeof(made));
            made.bufsize = made.aggsize = REMOTE_BUFFER_MAX & ~7u;
            memcpy(w->out, &made, sizeof(made));
        }
    }
    return true;
}

/* ---- answers from the current pass -------------------------------------------------- */

static const struct replay_pass no_pass;

static const struct replay_pass *replay_wire_now(const struct replay *r)
{
    return r->pass < r->npasses ? &r->passes[r->pass] : &no_pass;
}

/* Returns the number of the record after the last that the current pass took of the CPU; in the
 * last pass after all there are. */
static uint32_t replay_pass_end(const struct replay *r, uint32_t cpu)
{
    size_t end = replay_first_record(r, cpu + 1, 0);
    bool some = end > 0 && r->records[end - 1].cpu == cpu;
    uint32_t all = some ? r->records[end - 1].number + 1 : 0;
    const struct replay_mark *m = replay_mark(replay_wire_now(r), cpu);
    bool last = r->pass + 1 >= r->npasses;

    if (last) {
        return m && m->taken && m->records > all ? m->records : all;
    }
    return m && m->taken ? m->records : r->printed[cpu];
}

bool replay_overfull(const struct replay *r)
{
    for (uint32_t cpu = 0; cpu < r->ncpus; cpu++) {
        uint32_t end = replay_pass_end(r, cpu);
        uint64_t bytes = 0;
        for (size_t i = replay_first_record(r, cpu, r->printed[cpu]);
             i < r->nrecords && r->records[i].cpu == cpu && r->records[i].number < end; i++) {
            bytes += r->records[i].bytes + 8;
            if (bytes > REMOTE_BUFFER_MAX - 64) {
                return true;
            }
        }
    }
    return false;
}

/* Copies the record to `at`. Returns its bytes; 0, and counts it as damaged, if its size is not
 * that of its EPID, or there is no room. */
static size_t copy_record(struct replay_wire_state *w, const struct replay_record *record,
                          size_t at, size_t room)
{
    struct size key;

    memcpy(&key.epid, record->data, sizeof(key.epid));
    const struct size *s = bsearch(&key, w->sizes, w->nsizes, sizeof(key), compare_sizes);
    size_t padded = s ? ((size_t)s->bytes + 7u) & ~(size_t)7 : 0;
    if (!s || s->bytes < sizeof(struct dtrace_record) || s->bytes > record->bytes ||
        record->bytes - s->bytes > PADDING_MAX || padded > room - at) {
        w->r->damaged++;
        return 0;
    }
    memset(w->out + at, 0, padded);
    memcpy(w->out + at, record->data, s->bytes);
    return padded;
}

static bool answer_buffer(struct replay_wire_state *w, uint32_t room)
{
    struct replay *r = w->r;
    uint32_t cpu = w->call.cpu, end = replay_pass_end(r, cpu), lost = 0, next = r->printed[cpu];
    const struct replay_mark *m = replay_mark(replay_wire_now(r), cpu);
    struct dtrace_snap snap =
        m && m->taken && !r->part ? m->snap : (struct dtrace_snap){.taken = 1};
    size_t at = sizeof(snap);

    if (!replay_grow_answer(w, room)) {
        return false;
    }
    for (size_t i = replay_first_record(r, cpu, next);
         i < r->nrecords && r->records[i].cpu == cpu && r->records[i].number < end; i++) {
        if (r->records[i].number < next) {
            continue; /* twice the same number */
        }
        if (r->part && room - at < r->records[i].bytes + 8u) {
            end = next; /* the rest is another part's */
            break;
        }
        size_t bytes = copy_record(w, &r->records[i], at, room);
        lost += r->records[i].number - next + (bytes == 0);
        next = r->records[i].number + 1;
        at += bytes;
    }
    if (end > r->printed[cpu]) {
        lost += end - next;
        r->printed[cpu] = end;
    }
    snap.size = at - sizeof(snap);
    snap.oldest = 0;
    snap.drops += lost;
    memcpy(w->out, &snap, sizeof(snap));
    w->call.out_bytes = (uint32_t)at;
    return true;
}

static bool answer_aggregation(struct replay_wire_state *w, uint32_t room)
{
    const struct replay *r = w->r;
    const struct replay_pass *p = replay_wire_now(r);
    const struct replay_mark *m = replay_mark(p, w->call.cpu);
    bool any = p != &no_pass && !r->part;
    struct dtrace_snap snap = {.drops = any && m ? m->entry_drops : 0};
    uint32_t found = 0;
    size_t at = sizeof(snap);

    if (!replay_grow_answer(w, room)) {
        return false;
    }
    for (size_t i = replay_first_entry(r, p->number, w->call.cpu); any && i < r->nentries; i++) {
        const struct replay_record *e = &r->entries[i];
        struct dtrace_agg_entry head;
        if (e->pass != p->number || e->cpu != w->call.cpu) {
            break;
        }
        memcpy(&head, e->data, sizeof(head));
        if (head.size >= sizeof(head) && head.size % 8 == 0 && head.size <= e->bytes &&
            head.size <= room - at) {
            memcpy(w->out + at, e->data, head.size);
            at += head.size;
            found++;
        }
    }
    if (any && m && m->counted && found < m->entries) {
        uint32_t missing = m->entries - found, older = m->older < missing ? m->older : missing;
        snap.drops += missing - older;
        if (older) {
            fprintf(stderr, "dtrace: the capture begins after %u aggregation entr%s of CPU %u\n",
                    (unsigned)older, older == 1 ? "y" : "ies", (unsigned)w->call.cpu);
        }
    }
    snap.size = at - sizeof(snap);
    memcpy(w->out, &snap, sizeof(snap));
    w->call.out_bytes = (uint32_t)at;
    return true;
}

/* Returns false if there is no memory. */
static bool replay_make_answer(struct replay_wire_state *w, const uint8_t *in)
{
    const struct kymo_d_process *process;
    uint32_t room = w->call.out_bytes;

    w->call.out_bytes = 0;
    w->call.result = 0;
    switch (w->call.command) {
    case KYMO_D_GO:
        w->made = false;
        w->call.cpu = w->r->begin_cpu;
        return true;
    case KYMO_D_STOP:
        w->call.cpu = w->r->end_cpu;
        return true;
    case KYMO_D_DESTROY:
        return true;
    case KYMO_D_STATUS:
        return replay_put_bytes(w, replay_status(w->r), sizeof(struct dtrace_status));
    case KYMO_D_PROCESS:
        process = replay_process(w->r, w->call.id);
        return process ? replay_put_bytes(w, process, sizeof(*process))
                       : by_transcript(w, in, room);
    case KYMO_D_USER: /* what was made then is among the probes */
        return replay_put_bytes(w, &(struct kymo_d_user_made){0}, sizeof(struct kymo_d_user_made));
    case KYMO_D_BUFFER:
    case KYMO_D_AGGREGATION:
        if (w->call.cpu >= w->r->ncpus || room < sizeof(struct dtrace_snap)) {
            w->call.result = -THEIR_EINVAL;
            return true;
        }
        return w->made ? replay_put_bytes(w, &(struct dtrace_snap){0}, sizeof(struct dtrace_snap))
               : w->call.command == KYMO_D_BUFFER ? answer_buffer(w, room)
                                                  : answer_aggregation(w, room);
    default:
        return by_transcript(w, in, room);
    }
}

/* ---- the wire ---------------------------------------------------------------------- */

static int replay_send(struct wire *wire, const void *message, size_t bytes)
{
    struct replay_wire_state *w = replay_wire_of(wire);

    memcpy(&w->call, message, sizeof(w->call));
    w->waits = bytes == sizeof(w->call) + w->call.in_bytes &&
               replay_make_answer(w, (const uint8_t *)message + sizeof(w->call));
    w->call.in_bytes = 0;
    return w->waits ? 0 : -EPIPE;
}

static long replay_receive(struct wire *wire, void *message, size_t room, int timeout_ms)
{
    struct replay_wire_state *w = replay_wire_of(wire);
    size_t bytes = sizeof(w->call) + w->call.out_bytes;

    (void)timeout_ms;
    if (!w->waits) {
        return -EPIPE;
    }
    w->waits = false;
    if (bytes > room) {
        return -EMSGSIZE;
    }
    memcpy(message, &w->call, sizeof(w->call));
    memcpy((uint8_t *)message + sizeof(w->call), w->out ? w->out : (uint8_t *)"",
           w->call.out_bytes);
    return (long)bytes;
}

static const char *replay_reason(struct wire *wire)
{
    (void)wire;
    return "Not enough space";
}

static void replay_close(struct wire *wire)
{
    free(replay_wire_of(wire)->answers);
    free(replay_wire_of(wire)->sizes);
    free(replay_wire_of(wire)->probes.probe);
    free(replay_wire_of(wire)->out);
    free(wire);
}

static const struct wire_ops replay_ops = {replay_send, replay_receive, replay_reason, replay_close,
                                           NULL};

/* Returns the reason why there are no notes that can be used. */
static const char *replay_lack(const struct replay *r)
{
    static char text[160];
    struct notes_head head;

    if (r->total < sizeof(head) || r->nnotes != r->total) {
        return "the capture lacks part of the program's description";
    }
    memcpy(&head, r->notes, sizeof(head));
    if (head.magic != NOTES_MAGIC || head.version == NOTES_VERSION) {
        return "the program's description in the capture is invalid";
    }
    snprintf(text, sizeof(text),
             "%.60s: the program's description is of version %u, this kymo reads version %u: use a "
             "later kymo",
             r->path, head.version, NOTES_VERSION);
    return text;
}

struct wire *replay_wire(struct replay *r, const char **why)
{
    struct replay_wire_state *w = calloc(1, sizeof(*w));
    size_t saved;
    const uint8_t *notes = replay_saved(r, &saved);

    *why = notes ? "Not enough space" : replay_lack(r);
    r->printed = calloc(r->ncpus, sizeof(*r->printed));
    if (!w || !notes || !r->printed) {
        free(w);
        return NULL;
    }
    w->base.ops = &replay_ops;
    w->r = r;
    for (uint32_t cpu = 0; r->ring && cpu < r->ncpus; cpu++) { /* from its oldest record */
        size_t first = replay_first_record(r, cpu, 0);
        if (first < r->nrecords && r->records[first].cpu == cpu) {
            r->printed[cpu] = r->records[first].number;
        } else if (r->npasses) {
            const struct replay_mark *m = replay_mark(&r->passes[0], cpu);
            r->printed[cpu] = m ? m->records : 0;
        }
        if (r->printed[cpu]) {
            fprintf(stderr, "dtrace: the capture begins after %u record%s of CPU %u\n",
                    (unsigned)r->printed[cpu], r->printed[cpu] == 1 ? "" : "s", (unsigned)cpu);
        }
    }
    if (!read_transcript(w, notes + saved, r->notes + r->total)) {
        *why = "the program's description in the capture is invalid";
        replay_close(&w->base);
        return NULL;
    }
    return &w->base;
}
