/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers to the commands of D's control call. Control context; the request is checked. */
#include "trace/dtrace/control_answer.h"

#include "abi/errno.h"
#include "trace/assert.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/retained.h"

void dtrace_answer_put(struct dtrace_control_request *r, uint32_t at, const void *from,
                       uint32_t bytes)
{
    trace_assert(at <= r->room && bytes <= r->room - at);
    __builtin_memcpy(r->out + at, from, bytes);
    r->call->out_bytes = at + bytes;
}

int dtrace_answer_info(struct dtrace_control_request *r)
{
    struct kymo_d_info info = {.version = KYMO_D_VERSION};

    dtrace_control_info(&info);
    dtrace_answer_put(r, 0, &info, sizeof(info));
    /* The boot, which describes its own program, is not a process. */
    r->call->id = r->owner ? dtrace_control_pid(r->owner) : 0;
    return 0;
}

int dtrace_answer_resume(struct dtrace_control_request *r)
{
    return dtrace_control_resume((int32_t)r->call->id);
}

int dtrace_answer_process(struct dtrace_control_request *r)
{
    struct kymo_d_process process = {.text = 0};
    int error = dtrace_control_process((int32_t)r->call->id, &process);

    if (!error) {
        dtrace_answer_put(r, 0, &process, sizeof(process));
    }
    return error;
}

/* ---- probes ------------------------------------------------------------------------ */

struct probes_writing { /* one probe, at `from` of the answer */
    uint8_t *out;
    uint32_t at, room;
};

/* Returns false, with nothing written, if there is no room for the text and 8 bytes more. */
static bool control_answer_put_text(struct probes_writing *w, const char *text)
{
    uint32_t n = (uint32_t)__builtin_strlen(text) + 1;

    if (n + 8 > w->room - w->at) {
        return false;
    }
    __builtin_memcpy(w->out + w->at, text, n);
    w->at += n;
    return true;
}

/* Returns the number of bytes written, or 0 if there is no room. */
static uint32_t put_probe(uint8_t *out, uint32_t room, const struct dtrace_probe *p)
{
    struct probes_writing w = {out, sizeof(struct kymo_d_probe), room};
    const char *const names[] = {p->provider->name, p->module, p->function, p->name};
    struct kymo_d_probe head = {.id = p->id};

    if (room < sizeof(head)) {
        return 0;
    }
    for (unsigned i = 0; i < 4; i++) {
        if (!control_answer_put_text(&w, names[i])) {
            return 0;
        }
    }
    while (p->provider->ops->argument_type && head.arguments < UINT8_MAX) {
        const char *type = p->provider->ops->argument_type(p->id, p->arg, head.arguments);
        if (!type) {
            break;
        }
        if (!control_answer_put_text(&w, type)) {
            return 0;
        }
        head.arguments++;
    }
    while (w.at % 8) {
        out[w.at++] = 0;
    }
    head.size = (uint16_t)w.at;

    __builtin_memcpy(head.name, &p->provider->ops->attributes, sizeof(struct dtrace_attributes));
    __builtin_memcpy(out, &head, sizeof(head));
    return w.at;
}
_Static_assert(sizeof(struct dtrace_attributes) == 15, "name, data, class");
_Static_assert(DTRACE_CONTROL_PROBES_MAX <= UINT16_MAX, "a probe's size");

/* Reads a description: four texts with their NULs. */
static int take_names(const struct dtrace_control_request *r, const char *names[4])
{
    const char *at = r->in, *end = at + r->call->in_bytes;

    if (r->call->in_bytes > DTRACE_CONTROL_NAMES_MAX || end[-1]) {
        return -EINVAL;
    }
    for (unsigned i = 0; i < 4; i++) {
        if (at == end) {
            return -EINVAL;
        }
        names[i] = at;
        at += __builtin_strlen(at) + 1;
    }
    return at == end ? 0 : -EINVAL;
}

int dtrace_answer_probes(struct dtrace_control_request *r)
{
    uint32_t room = r->room < DTRACE_CONTROL_PROBES_MAX ? r->room : DTRACE_CONTROL_PROBES_MAX;
    uint32_t at = 0, id = r->call->id;
    const char *names[4] = {"", "", "", ""};
    int error = r->call->in_bytes ? take_names(r, names) : 0;

    if (error || id >= dtrace_probe_count) {
        return error ? error : -ENOENT;
    }
    for (unsigned i = 0; i < DTRACE_CONTROL_LOOK_MAX && id < dtrace_probe_count; i++, id++) {
        const struct dtrace_probe *p = dtrace_probe_at(id + 1);
        if ((p->provider->ops->own || r->rights & DTRACE_MAY_KERNEL) &&
            dtrace_probe_matches(p, names[0], names[1], names[2], names[3])) {
            uint32_t n = put_probe(r->out + at, room - at, p);
            if (n == 0) {
                error = at ? 0 : -EMSGSIZE;
                break;
            }
            at += n;
        }
    }
    r->call->id = id;
    r->call->out_bytes = at;
    return error;
}

int dtrace_answer_provide(struct dtrace_control_request *r)
{
    const char *names[4];
    int error = take_names(r, names);

    if (!error) {
        (r->rights & DTRACE_MAY_KERNEL ? dtrace_probe_provide : dtrace_probe_provide_own)(
            names[0], names[1], names[2], names[3]);
    }
    return error;
}

/* ---- of one consumer --------------------------------------------------------------- */

int dtrace_answer_sizes(struct dtrace_control_request *r)
{
    struct dtrace_sizes s;

    dtrace_consumer_sizes(r->entry->consumer, &s);
    struct kymo_d_created made = {
        s.bufsize, s.aggsize, s.specsize, s.dynvarsize, dtrace_consumer_matched(r->entry->consumer),
        0,
    };
    dtrace_answer_put(r, 0, &made, sizeof(made));
    return 0;
}

int dtrace_answer_go(struct dtrace_control_request *r)
{
    unsigned cpu = 0;
    int error =
        r->state == DTRACE_STATE_INACTIVE ? dtrace_consumer_go(r->entry->consumer, &cpu) : -EINVAL;

    r->call->cpu = r->entry->consumer->begin_cpu = cpu;
    return error;
}

int dtrace_answer_stop(struct dtrace_control_request *r)
{
    unsigned cpu;

    dtrace_consumer_stop(r->entry->consumer, &cpu);
    r->call->cpu = r->entry->consumer->end_cpu = cpu;
    return 0;
}

int dtrace_answer_over(struct dtrace_control_request *r)
{
    r->call->id = dtrace_consumer_over(r->entry->consumer);
    return 0;
}

int dtrace_answer_status(struct dtrace_control_request *r)
{
    struct dtrace_status status;

    dtrace_consumer_status(r->entry->consumer, &status);
    dtrace_answer_put(r, 0, &status, sizeof(status));
    return 0;
}

typedef int take_fn(struct dtrace_consumer *, unsigned cpu, size_t room, struct dtrace_parts *,
                    struct dtrace_snap *);

/* The data taken may be megabytes: the caller copies it from its location. */
static int control_answer_snap(struct dtrace_control_request *r, take_fn *take)
{
    struct dtrace_snap s;
    struct dtrace_parts parts;
    uint8_t *to = r->out + sizeof(s);
    int error = take(r->entry->consumer, r->call->cpu, r->room - sizeof(s), &parts, &s);

    error = error ? error : dtrace_control_give(r->owner, r->out, &s, sizeof(s));
    for (unsigned i = 0; i < 2 && !error; to += parts.bytes[i++]) {
        error = dtrace_control_give(r->owner, to, parts.at[i], parts.bytes[i]);
    }
    if (!error) {
        r->call->out_bytes = (uint32_t)(to - r->out);
    }
    return error;
}

int dtrace_answer_buffer(struct dtrace_control_request *r)
{
    return control_answer_snap(r, dtrace_buffer_take);
}

int dtrace_answer_aggregation(struct dtrace_control_request *r)
{
    return control_answer_snap(r, dtrace_aggregation_take);
}

/* The records are already in place after the header; those that don't fit were only counted. */
static int control_answer_described(struct dtrace_control_request *r, int error, const void *head,
                                    uint32_t nrecs)
{
    uint64_t bytes = DTRACE_CONTROL_DESC_BYTES + (uint64_t)nrecs * sizeof(struct dtrace_recdesc);

    if (error || bytes > r->room) {
        return error ? error : -EMSGSIZE;
    }
    __builtin_memset(r->out, 0, DTRACE_CONTROL_DESC_BYTES);
    dtrace_answer_put(r, 0, head, sizeof(struct dtrace_epid_desc));
    r->call->out_bytes = (uint32_t)bytes;
    return 0;
}
_Static_assert(sizeof(struct dtrace_epid_desc) == 20 && sizeof(struct dtrace_agg_desc) == 20,
               "the heads");

static struct dtrace_recdesc *recs_of(const struct dtrace_control_request *r, uint32_t *nrecs)
{
    *nrecs = (r->room - DTRACE_CONTROL_DESC_BYTES) / sizeof(struct dtrace_recdesc);
    return (void *)(r->out + DTRACE_CONTROL_DESC_BYTES);
}

int dtrace_answer_epid(struct dtrace_control_request *r)
{
    struct dtrace_epid_desc desc;
    uint32_t n;
    struct dtrace_recdesc *recs = recs_of(r, &n);
    int error = dtrace_epid_describe(r->entry->consumer, r->call->id, &desc, recs, &n);

    return control_answer_described(r, error, &desc, n);
}

int dtrace_answer_agg(struct dtrace_control_request *r)
{
    struct dtrace_agg_desc desc;
    uint32_t n;
    struct dtrace_recdesc *recs = recs_of(r, &n);
    int error = dtrace_agg_describe(r->entry->consumer, r->call->id, &desc, recs, &n);

    return control_answer_described(r, error, &desc, n);
}

/* ---- in the event log -------------------------------------------------------------- */

int dtrace_answer_notes(struct dtrace_control_request *r)
{
    struct dtrace_consumer *c = r->entry->consumer;
    int error = dtrace_port_logging() ? 0 : -ECANCELED;

    if (r->call->in_bytes > DTRACE_LOG_NOTES_MAX) {
        return -EMSGSIZE;
    }
    if (c->kept) {
        r->call->id = r->call->in_bytes;
        return r->call->in_bytes ? dtrace_kept_notes(c, r->in, r->call->in_bytes) : -EINVAL;
    }
    if (!error && r->call->in_bytes > 0) {
        error = dtrace_log_notes_keep(c, r->in, r->call->in_bytes);
    }
    if (!error) {
        r->call->id = dtrace_log_notes(c, r->call->id);
    }
    return error;
}

int dtrace_answer_pass(struct dtrace_control_request *r)
{
    if (!dtrace_port_logging()) {
        return -ECANCELED;
    }
    if (!dtrace_port_log_room()) {
        return -EAGAIN;
    }
    r->call->id = dtrace_log_pass(r->entry->consumer, r->call->id, r->call->flags);
    return dtrace_answer_status(r);
}
