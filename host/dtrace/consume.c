/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Taking buffers from the target and walking their records. Without `temporal` each CPU's come in
 * order, BEGIN's CPU first and, at the end, END's last; with it all in order of time: what is newer
 * than the oldest snapshot waits for the next pass.
 */
#include "host/dtrace/consume.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RECS_MAX = 4096, ROOM_MAX = 1 << 30 };

/* A size that nobody has stays as it was asked for if nothing is recorded, or aggregated: then the
 * machine took less than it says. No target gives a CPU more than this. */
static uint8_t *make_room(uint64_t *size)
{
    *size = *size < ROOM_MAX ? *size : ROOM_MAX;
    return malloc(*size + 8);
}

bool consumer_init(struct consumer *c)
{
    c->ncpus = c->target->ops->cpus(c->target);
    c->naggs = d_session_aggregations(c->session);
    c->aggs = calloc(c->naggs + 1, sizeof(*c->aggs));
    c->buffer = make_room(&c->bufsize);
    c->agg_buffer = make_room(&c->aggsize);
    for (unsigned i = 0; c->aggs && i < c->naggs; i++) {
        c->aggs[i].info = d_session_aggregation(c->session, i + 1);
        c->aggs[i].normal = 1;
        c->aggs[i].ncpus = c->json && d_option(c->session, "aggpercpu") ? c->ncpus : 0;
    }
    consumer_options(c);
    return c->aggs && c->buffer && c->agg_buffer;
}

void consumer_free(struct consumer *c)
{
    for (unsigned i = 0; c->aggs && i < c->naggs; i++) {
        agg_free(&c->aggs[i]);
    }
    for (uint32_t i = 0; i < c->nepids; i++) {
        if (c->epids[i]) {
            free(c->epids[i]->recs);
            free(c->epids[i]);
        }
    }
    for (size_t i = 0; i < c->npending; i++) {
        free(c->pending[i].data);
    }
    free(c->pending);
    free(c->epids);
    free(c->agg_variable);
    free(c->aggs);
    free(c->buffer);
    free(c->agg_buffer);
}

static bool flag(const struct consumer *c, const char *name)
{
    uint64_t value = d_option(c->session, name);

    return value != 0 && value != D_OPTION_UNSET;
}

static uint64_t number(const struct consumer *c, const char *name, uint64_t otherwise)
{
    uint64_t value = d_option(c->session, name);

    return value == D_OPTION_UNSET ? otherwise : value;
}

static bool terminal_has_utf8(void)
{
    const char *term = getenv("TERM");

    return !term || (strcmp(term, "dumb") != 0 && strcmp(term, "sun") != 0 &&
                     strcmp(term, "sun-color") != 0);
}

static bool process_of(void *arg, int32_t pid, const char **object, uint64_t *bias)
{
    struct target *target = arg;

    return target->ops->process(target, pid, object, bias);
}

static void objects_of(void *arg)
{
    struct consumer *c = arg;

    if (!c->objects_known) {
        c->objects_known = true;
        c->target->ops->objects(c->target, c->session);
    }
}

void consumer_options(struct consumer *c)
{
    struct agg_style *s = &c->printer.style;
    uint64_t encoding = d_option(c->session, "encoding"); /* 0 ascii, 1 utf8 */

    s->quiet = flag(c, "quiet");
    s->hist = flag(c, "agghist");
    s->pack = flag(c, "aggpack");
    s->zoom = flag(c, "aggzoom");
    s->sort_key = flag(c, "aggsortkey");
    s->sort_reverse = flag(c, "aggsortrev");
    s->sort_key_position = number(c, "aggsortkeypos", 0);
    s->sort_position = number(c, "aggsortpos", 0);
    s->utf8 = encoding == 1;
    s->pack_utf8 = encoding == D_OPTION_UNSET ? terminal_has_utf8() : s->utf8;
    c->printer.raw_bytes = flag(c, "rawbytes");
    c->printer.stack_indent = (unsigned)number(c, "stackindent", 14);
    c->printer.session = c->session;
    c->printer.process = c->target->ops->process ? process_of : NULL;
    c->printer.process_arg = c->target;
    c->printer.objects = c->target->ops->objects ? objects_of : NULL;
    c->printer.objects_arg = c;
    c->printer.pointer_bytes = c->target->ops->model(c->target)->pointer;
    c->flowindent = flag(c, "flowindent");
    c->drop_tags = flag(c, "droptags");
}

/* ---- descriptions ------------------------------------------------------------------------------
 */

/* What the target says of it; false: it can't be had, or has a probe that isn't known. */
static bool describe_epid(struct consumer *c, uint32_t epid, struct epid_info *info)
{
    uint32_t n = RECS_MAX;

    if (c->target->ops->epid(c->target, epid, &info->desc, info->recs, &n) != 0 || n > RECS_MAX) {
        return false;
    }
    info->desc.nrecs = n;
    return c->target->ops->probe_names(c->target, info->desc.probe, &info->probe);
}

static struct epid_info *ask_epid(struct consumer *c, uint32_t epid)
{
    struct epid_info *info = calloc(1, sizeof(*info));

    if (info) {
        info->recs = calloc(RECS_MAX, sizeof(*info->recs));
    }
    if (!info || !info->recs || !describe_epid(c, epid, info)) {
        free(info ? info->recs : NULL);
        free(info);
        return NULL;
    }
    return info;
}

const struct epid_info *consumer_epid(struct consumer *c, uint32_t epid)
{
    if (epid == 0 || epid > 1u << 20) {
        return NULL;
    }
    if (epid > c->nepids) {
        struct epid_info **epids = realloc(c->epids, epid * sizeof(*epids));
        if (!epids) {
            return NULL;
        }
        memset(epids + c->nepids, 0, (epid - c->nepids) * sizeof(*epids));
        c->epids = epids;
        c->nepids = epid;
    }
    if (!c->epids[epid - 1]) {
        c->epids[epid - 1] = ask_epid(c, epid);
    }
    return c->epids[epid - 1];
}

struct aggregation *consumer_aggregation(struct consumer *c, uint32_t number)
{
    return &c->aggs[number - 1];
}

/* ---- aggregations ------------------------------------------------------------------------------
 */

/* The @variable that an aggregation id belongs to; the first one says what its rows look like. */
static struct aggregation *aggregation_of(struct consumer *c, uint32_t id)
{
    struct d_agg_desc desc;

    if (id == 0 || id > 1u << 20) {
        return NULL;
    }
    if (id > c->nagg_ids) {
        uint32_t *variables = realloc(c->agg_variable, id * sizeof(*variables));
        if (!variables) {
            return NULL;
        }
        memset(variables + c->nagg_ids, 0, (id - c->nagg_ids) * sizeof(*variables));
        c->agg_variable = variables;
        c->nagg_ids = id;
    }
    if (!c->agg_variable[id - 1]) {
        struct d_recdesc *recs = calloc(RECS_MAX, sizeof(*recs));
        uint32_t n = RECS_MAX;
        if (!recs || c->target->ops->agg(c->target, id, &desc, recs, &n) != 0 || n > RECS_MAX ||
            desc.variable == 0 || desc.variable > c->naggs) {
            free(recs);
            return NULL;
        }
        struct aggregation *a = &c->aggs[desc.variable - 1];
        if (a->recs) {
            free(recs);
        } else {
            a->recs = recs;
            a->nrecs = n;
        }
        c->agg_variable[id - 1] = desc.variable;
    }
    return &c->aggs[c->agg_variable[id - 1] - 1];
}

static void merge_entries(struct consumer *c, unsigned cpu, const uint8_t *data, uint64_t size)
{
    struct d_agg_entry entry;

    for (uint64_t at = 0; at + sizeof(entry) <= size; at += entry.size) {
        memcpy(&entry, data + at, sizeof(entry));
        struct aggregation *a = aggregation_of(c, entry.id);
        if (entry.size < sizeof(entry) || entry.size > size - at) {
            return;
        }
        if (a && entry.size >= agg_entry_size(a)) {
            agg_merge(a, data + at, cpu);
        }
    }
}

int consumer_aggregate(struct consumer *c, unsigned cpu)
{
    struct d_snap snap;
    int error = c->target->ops->aggregation(c->target, cpu, c->agg_buffer, c->aggsize, &snap);

    if (!error) {
        message_drops(c, snap.drops, "aggregation drop|", "DTRACEDROP_AGGREGATION", (int)cpu);
        merge_entries(c, cpu, c->agg_buffer, snap.size);
    }
    return error;
}

/* ---- records -----------------------------------------------------------------------------------
 */

/* Calls fn for each whole record. */
static void walk(struct consumer *c, unsigned cpu, const uint8_t *data, uint64_t size,
                 void (*fn)(struct consumer *, unsigned cpu, const uint8_t *record,
                            const struct epid_info *, const struct epid_info *next))
{
    const struct epid_info *info = NULL, *next;
    const uint8_t *record = NULL;
    uint32_t epid;

    for (uint64_t at = 0; at + sizeof(epid) <= size;) {
        memcpy(&epid, data + at, sizeof(epid));
        if (epid == 0) {
            at += sizeof(epid);
            continue;
        }
        next = consumer_epid(c, epid);
        if (!next || next->desc.size < sizeof(struct d_record) || next->desc.size > size - at) {
            break;
        }
        if (record) {
            fn(c, cpu, record, info, next);
        }
        record = data + at;
        info = next;
        at += next->desc.size;
    }
    if (record) {
        fn(c, cpu, record, info, NULL);
    }
}

static void print_now(struct consumer *c, unsigned cpu, const uint8_t *record,
                      const struct epid_info *info, const struct epid_info *next)
{
    if (info->desc.clause == D_CLAUSE_FAULT) {
        message_fault(c, record, info);
    } else if (c->json) {
        record_json(c, cpu, record, info);
    } else {
        record_print(c, cpu, record, info, next);
    }
}

static void keep(struct consumer *c, unsigned cpu, const uint8_t *record,
                 const struct epid_info *info, const struct epid_info *next)
{
    struct d_record head;

    (void)next;
    if (c->npending == c->pending_room) {
        size_t room = c->pending_room ? c->pending_room * 2 : 256;
        struct pending *pending = realloc(c->pending, room * sizeof(*pending));
        if (!pending) {
            print_now(c, cpu, record, info, NULL);
            return;
        }
        c->pending = pending;
        c->pending_room = room;
    }
    uint8_t *copy = malloc(info->desc.size);
    if (!copy) {
        print_now(c, cpu, record, info, NULL);
        return;
    }
    memcpy(copy, record, info->desc.size);
    memcpy(&head, record, sizeof(head));
    c->pending[c->npending++] = (struct pending){
        .time = (uint64_t)head.time_high << 32 | head.time_low,
        .order = c->order++,
        .cpu = cpu,
        .data = copy,
        .size = info->desc.size,
    };
}

static int compare_pending(const void *p, const void *q)
{
    const struct pending *a = p, *b = q;

    if (a->time != b->time) {
        return a->time < b->time ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Known since it was kept. */
static const struct epid_info *info_of(struct consumer *c, const struct pending *pending)
{
    uint32_t epid;

    memcpy(&epid, pending->data, sizeof(epid));
    return consumer_epid(c, epid);
}

/* The next record, if the same CPU made it. */
static const struct epid_info *next_on_cpu(struct consumer *c, size_t n, unsigned cpu)
{
    return n < c->npending && c->pending[n].cpu == cpu ? info_of(c, &c->pending[n]) : NULL;
}

/* Prints what is not newer than `until`. */
static void release(struct consumer *c, uint64_t until)
{
    size_t n = 0;

    if (c->npending == 0) {
        return;
    }
    qsort(c->pending, c->npending, sizeof(*c->pending), compare_pending);
    while (n < c->npending && c->pending[n].time <= until) {
        struct pending *p = &c->pending[n++];
        print_now(c, p->cpu, p->data, info_of(c, p), next_on_cpu(c, n, p->cpu));
        free(p->data);
    }
    c->npending -= n;
    if (c->npending) {
        memmove(c->pending, c->pending + n, c->npending * sizeof(*c->pending));
    }
}

static int take_buffer(struct consumer *c, unsigned cpu, uint64_t *oldest)
{
    struct d_snap snap;
    int error = c->target->ops->buffer(c->target, cpu, c->buffer, c->bufsize, &snap);

    if (error) {
        return error;
    }
    message_drops(c, snap.drops, "drop|", "DTRACEDROP_PRINCIPAL", (int)cpu);
    walk(c, cpu, c->buffer, snap.size, c->temporal ? keep : print_now);
    *oldest = snap.taken && snap.taken < *oldest ? snap.taken : *oldest;
    return 0;
}

/* BEGIN's CPU first, END's last if this is the last pass. */
static unsigned cpu_in_order(const struct consumer *c, unsigned i, bool last)
{
    unsigned special = last ? c->end_cpu : c->begin_cpu;

    if (last) {
        return i + 1 == c->ncpus ? special : i < special ? i : i + 1;
    }
    return i == 0 ? special : i <= special ? i - 1 : i;
}

static int take_records(struct consumer *c, bool last)
{
    uint64_t oldest = UINT64_MAX;

    for (unsigned i = 0; i < c->ncpus; i++) {
        int error = take_buffer(c, cpu_in_order(c, i, last), &oldest);
        if (error) {
            return error;
        }
    }
    if (c->temporal) {
        release(c, last ? UINT64_MAX : oldest);
    }
    return 0;
}

bool consumer_is_over(const struct consumer *c)
{
    return c->last.exited || c->last.filled || c->last.state >= D_STATE_DRAINING;
}

/* The option says how often, without one: each time. Times are those for which a pass was meant,
 * not those at which it came to be. */
static bool is_due(struct consumer *c, const char *option, uint64_t *due)
{
    uint64_t interval = d_option(c->session, option);

    if (interval == D_OPTION_UNSET || interval == 0) {
        return true;
    }
    if (c->at < *due) {
        return false;
    }
    *due = *due && c->at < *due + interval ? *due + interval : c->at + interval;
    return true;
}

/* What could not be written is gone from the stream: only the first time tells why. */
void consumer_flush(struct consumer *c)
{
    if (fflush(c->printer.out) != 0 && c->write_error == 0) {
        c->write_error = errno;
    }
    if (ferror(c->printer.out) && c->write_error == 0) {
        c->write_error = EIO;
    }
}

int consumer_pass(struct consumer *c, bool last)
{
    bool running_ring = !last && d_option(c->session, "bufpolicy") != D_POLICY_SWITCH;
    struct d_status status;
    int error = c->target->ops->status(c->target, &status);

    if (error) {
        return error;
    }
    message_status(c, &status);
    if (last || consumer_is_over(c)) {
        c->agg_due = c->switch_due = 0;
    }
    bool aggregations = is_due(c, "aggrate", &c->agg_due);
    bool records = is_due(c, "switchrate", &c->switch_due);
    for (unsigned cpu = 0; cpu < c->ncpus && aggregations && !error; cpu++) {
        error = consumer_aggregate(c, cpu);
    }
    if (!error && records && !running_ring) {
        error = take_records(c, last);
    }
    consumer_flush(c);
    if (status.exited && status.exit_dropped && !c->status_set) {
        c->status = status.exit_status & 0xff; /* as a process has it */
    }
    return error;
}

void consumer_finish(struct consumer *c)
{
    for (unsigned i = 0; i < c->naggs; i++) {
        struct aggregation *a = &c->aggs[i];
        if (a->printed || a->nrows == 0) {
            continue;
        }
        if (c->json) {
            aggregation_json(c, a);
        } else {
            print_aggregations(&c->printer, &a, 1, NULL);
        }
    }
    consumer_flush(c);
}
