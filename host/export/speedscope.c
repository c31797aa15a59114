/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --speedscope: profiles of events for speedscope, in its JSON: what each CPU ran, with its losses,
 * its interrupts, and the kernel calls and functions of each thread. Events that are no slices are
 * not in it. A profile's events are spooled, because in the file one profile follows the other;
 * memory grows with threads, and with names of functions and losses.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/sys/states.h"
#include "host/export/follow.h"
#include "host/export/spool.h"
#include "host/json_text.h"
#include "host/kymo.h"
#include "host/memory_stream.h"

#define BUCKETS 4096 /* a power of two */

/* Profiles of a CPU. */
enum { OF_RUNS, OF_INTERRUPTS, OF_LOSSES, OF_CPU };

struct frame {
    struct frame *next; /* in its bucket */
    uint32_t number;
    char name[];
};

struct profile {
    struct profile *next;
    struct spool_text events;
    int64_t last; /* ns of its last event */
    uint32_t *open;
    unsigned depth, room;
    char name[560];
};

struct speedscope {
    struct flow *flow;
    struct spool spool;
    struct frame *buckets[BUCKETS];
    struct spool_text names; /* text of the frames */
    uint32_t nframes;
    struct profile *first, **end;
    struct profile *cpus[OF_CPU][FLOW_CPUS + 1]; /* of each CPU, and of none in particular */
    struct profile **threads;                    /* by serial */
    uint32_t nthreads;
    int64_t last;
    bool failed;
};

static struct speedscope *speedscope_of(const struct export *export)
{
    return export->state;
}

static void *speedscope_check_memory(struct speedscope *speedscope, void *pointer)
{
    if (pointer == NULL) {
        kymo_error("out of memory");
        speedscope->failed = true;
    }
    return pointer;
}

/* ---- text of a profile --------------------------------------------------------------- */

static void speedscope_text_put(struct speedscope *speedscope, struct spool_text *to,
                                const char *text, size_t length)
{
    speedscope->failed |= spool_text_add(&speedscope->spool, to, text, length) != 0;
}

/* The number of a name; its text is added to the frames if it is new. */
static uint32_t frame_of(struct speedscope *speedscope, const char *name)
{
    uint32_t hash = 2166136261u;
    struct frame **bucket, *frame;
    char *text = NULL;
    size_t size;
    FILE *file;

    for (const char *c = name; *c != '\0'; c++) {
        hash = (hash ^ (uint8_t)*c) * 16777619u;
    }
    bucket = &speedscope->buckets[hash & (BUCKETS - 1)];
    for (frame = *bucket; frame != NULL; frame = frame->next) {
        if (strcmp(frame->name, name) == 0) {
            return frame->number;
        }
    }
    frame = speedscope_check_memory(speedscope, malloc(sizeof(*frame) + strlen(name) + 1));
    file = speedscope_check_memory(speedscope, memory_stream(&text, &size));
    if (frame == NULL || file == NULL) {
        free(frame);
        return 0;
    }
    fputs(speedscope->nframes == 0 ? "\n{\"name\":" : ",\n{\"name\":", file);
    json_put(file, name);
    putc('}', file);
    if (fclose(file) != 0) {
        speedscope_check_memory(speedscope, NULL);
    } else {
        speedscope_text_put(speedscope, &speedscope->names, text, size);
    }
    free(text);
    strcpy(frame->name, name);
    frame->number = speedscope->nframes++;
    frame->next = *bucket;
    *bucket = frame;
    return frame->number;
}

/* ---- profiles ------------------------------------------------------------------------ */

static struct profile *profile_new(struct speedscope *speedscope, const char *name)
{
    struct profile *profile = speedscope_check_memory(speedscope, calloc(1, sizeof(*profile)));

    if (profile != NULL) {
        snprintf(profile->name, sizeof(profile->name), "%s", name);
        speedscope->end = speedscope->end == NULL ? &speedscope->first : speedscope->end;
        *speedscope->end = profile;
        speedscope->end = &profile->next;
    }
    return profile;
}

static struct profile *profile_of_cpu(struct speedscope *speedscope, int cpu, unsigned of)
{
    static const char *const what[OF_CPU] = {"", ", interrupts", ", lost"};
    unsigned index = cpu < 0 || cpu >= FLOW_CPUS ? FLOW_CPUS : (unsigned)cpu;
    struct profile **at = &speedscope->cpus[of][index];
    char name[64];

    if (*at == NULL) {
        snprintf(name, sizeof(name), "CPU %u%s", index, what[of]);
        *at = profile_new(speedscope, index < FLOW_CPUS ? name : "no CPU in particular");
    }
    return *at;
}

/* "process/thread (4/2)" */
static void speedscope_thread_name(const struct export *export, const struct flow_thread *thread,
                                   char *to, size_t room)
{
    const char *process = kev_capture_name(export->capture, thread->pid, KEV_NOBODY);
    const char *name = kev_capture_name(export->capture, thread->pid, thread->tid);

    snprintf(to, room, "%s%s%s (%" PRId32 "/%" PRId32 ")", process == NULL ? "" : process,
             name == NULL ? "" : "/", name == NULL ? "" : name, thread->pid, thread->tid);
}

static struct profile *profile_of(struct export *export, const struct flow_thread *thread)
{
    struct speedscope *speedscope = speedscope_of(export);
    char name[560];

    if (thread->serial >= speedscope->nthreads) {
        uint32_t count = 2 * thread->serial + 16;
        struct profile **more = speedscope_check_memory(
            speedscope, realloc(speedscope->threads, count * sizeof(struct profile *)));

        if (more == NULL) {
            return NULL;
        }
        memset(more + speedscope->nthreads, 0,
               (count - speedscope->nthreads) * sizeof(struct profile *));
        speedscope->threads = more;
        speedscope->nthreads = count;
    }
    if (speedscope->threads[thread->serial] == NULL) {
        speedscope_thread_name(export, thread, name, sizeof(name));
        speedscope->threads[thread->serial] = profile_new(speedscope, name);
    }
    return speedscope->threads[thread->serial];
}

static void speedscope_event_put(struct speedscope *speedscope, struct profile *profile, char type,
                                 uint32_t frame, int64_t ns)
{
    char text[96];
    int n;

    profile->last = ns < profile->last ? profile->last : ns;
    n = snprintf(text, sizeof(text), "%s{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRId64 "}",
                 profile->events.bytes == 0 ? "\n" : ",\n", type, frame, profile->last);
    speedscope_text_put(speedscope, &profile->events, text, (size_t)n);
}

static void frame_open(struct speedscope *speedscope, struct profile *profile, uint32_t frame,
                       int64_t ns)
{
    if (profile->depth == profile->room) {
        unsigned room = 2 * profile->room + 8;
        uint32_t *more =
            speedscope_check_memory(speedscope, realloc(profile->open, room * sizeof(*more)));

        if (more == NULL) {
            return;
        }
        profile->open = more;
        profile->room = room;
    }
    profile->open[profile->depth++] = frame;
    speedscope_event_put(speedscope, profile, 'O', frame, ns);
}

static void frame_close(struct speedscope *speedscope, struct profile *profile, int64_t ns)
{
    if (profile->depth > 0) {
        speedscope_event_put(speedscope, profile, 'C', profile->open[--profile->depth], ns);
    }
}

/* ---- what the flow gives --------------------------------------------------------------- */

static void speedscope_span(void *arg, const struct flow_thread *thread,
                            const struct flow_state *state, int64_t to, bool ended)
{
    struct export *export = arg;
    struct speedscope *speedscope = speedscope_of(export);
    struct profile *profile;
    char name[560];

    (void)ended;
    if (state->state != STATE_RUNNING || !export_flow_shows(state, to)) {
        return;
    }
    speedscope_thread_name(export, thread, name, sizeof(name));
    profile = profile_of_cpu(speedscope, state->cpu, OF_RUNS);
    if (profile != NULL) {
        frame_open(speedscope, profile, frame_of(speedscope, name), state->since);
        frame_close(speedscope, profile, to);
    }
}

static void speedscope_close(void *arg, const struct flow_thread *thread, int cpu,
                             const struct flow_open *open, int64_t ns, enum flow_ending ending)
{
    struct export *export = arg;
    struct speedscope *speedscope = speedscope_of(export);
    struct profile *profile = thread == NULL ? profile_of_cpu(speedscope, cpu, OF_INTERRUPTS)
                                             : profile_of(export, thread);

    (void)open;
    (void)ending;
    if (profile != NULL) {
        frame_close(speedscope, profile, ns);
    }
}

static const struct flow_ops speedscope_ops = {.span = speedscope_span, .close = speedscope_close};

/* ---- items --------------------------------------------------------------------------- */

static int speedscope_event_take(struct export *export, const struct kev_item *item)
{
    struct speedscope *speedscope = speedscope_of(export);
    struct profile *profile;
    struct flow_step step;
    char name[256];

    if (export_flow_take(speedscope->flow, item, &step) != 0) {
        return -1;
    }
    speedscope->last = step.ns;
    if (step.role == FLOW_POINT) {
        return speedscope->failed ? -1 : 0;
    }
    profile = step.thread == NULL ? profile_of_cpu(speedscope, item->cpu, OF_INTERRUPTS)
                                  : profile_of(export, step.thread);
    if (profile != NULL && step.role == FLOW_BEGIN) {
        export_slice_name(export, item, name, sizeof(name));
        frame_open(speedscope, profile, frame_of(speedscope, name), step.ns);
    } else if (profile != NULL) {
        frame_close(speedscope, profile, step.ns);
    }
    return speedscope->failed ? -1 : 0;
}

/* On the CPU's profile, if it is known when: nothing runs there then. */
static int speedscope_loss_take(struct export *export, const struct kev_item *item)
{
    struct speedscope *speedscope = speedscope_of(export);
    struct profile *profile;
    const struct kev_loss *loss = item->loss;
    bool known = loss->from_ns != KEV_EVER && loss->to_ns != KEV_NEVER;
    char name[1024];

    flow_lose(speedscope->flow, item);
    profile = profile_of_cpu(speedscope, item->cpu, OF_RUNS);
    if (profile != NULL && (!known || loss->from_ns < profile->last)) {
        profile = profile_of_cpu(speedscope, item->cpu, OF_LOSSES); /* a thread may run meanwhile */
    }
    snprintf(name, sizeof(name), "LOST: %s", loss->text);
    if (profile != NULL) {
        frame_open(speedscope, profile, frame_of(speedscope, name),
                   known ? loss->from_ns : item->ns);
        frame_close(speedscope, profile, known ? loss->to_ns : item->ns);
    }
    return speedscope->failed ? -1 : 0;
}

static int speedscope_item(struct export *export, const struct kev_item *item)
{
    return item->kind == KEV_ITEM_EVENT  ? speedscope_event_take(export, item)
           : item->kind == KEV_ITEM_LOSS ? speedscope_loss_take(export, item)
                                         : 0;
}

/* ---- the file ------------------------------------------------------------------------ */

static int profile_write(struct export *export, struct profile *profile, bool first)
{
    const struct spool *spool = &speedscope_of(export)->spool;
    struct out *out = export->out;
    int64_t end = speedscope_of(export)->last;

    out_str(out,
            first ? "\n{\"type\":\"evented\",\"name\":" : ",\n{\"type\":\"evented\",\"name\":");
    out_json_text(out, profile->name);
    out_str(out, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":");
    out_i64(out, profile->last > end ? profile->last : end);
    out_str(out, ",\"events\":[");
    if (spool_text_copy(spool, &profile->events, out) != 0) {
        return -1;
    }
    out_str(out, "]}");
    return 0;
}

static int speedscope_end(struct export *export)
{
    struct speedscope *speedscope = speedscope_of(export);
    struct out *out = export->out;

    flow_end(speedscope->flow);
    if (speedscope->failed) {
        return -1;
    }
    out_str(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":"
                 "\"kymo export\",\"name\":");
    out_json_text(out, export->facts->path);
    out_str(out, ",\"kymo\":{");
    export_json_counts(out, export);
    out_str(out, export->fault == KEV_FAULT_NONE ? ",\"complete\":true},\"profiles\":["
                                                 : ",\"complete\":false},\"profiles\":[");
    if (speedscope->first == NULL) {
        profile_new(speedscope, "nothing ran"); /* speedscope wants a profile */
    }
    for (struct profile *profile = speedscope->first; profile != NULL; profile = profile->next) {
        if (profile_write(export, profile, profile == speedscope->first) != 0) {
            return -1;
        }
    }
    out_str(out, "],\"shared\":{\"frames\":[");
    if (spool_text_copy(&speedscope->spool, &speedscope->names, out) != 0) {
        return -1;
    }
    out_str(out, "]}}\n");
    return speedscope->failed ? -1 : 0;
}

static int speedscope_begin(struct export *export)
{
    struct speedscope *speedscope = calloc(1, sizeof(*speedscope));

    export->state = speedscope;
    if (speedscope == NULL) {
        kymo_error("out of memory");
        return -1;
    }
    speedscope->spool.fd = -1;
    speedscope->flow = export_flow_new(export, &speedscope_ops);
    for (unsigned cpu = 0; cpu < export->facts->cpus && cpu < FLOW_CPUS; cpu++) {
        profile_of_cpu(speedscope, (int)cpu, OF_RUNS); /* they come first */
    }
    return speedscope->flow == NULL ? -1 : spool_open(&speedscope->spool);
}

static void speedscope_discard(struct export *export)
{
    struct speedscope *speedscope = speedscope_of(export);

    if (speedscope == NULL) {
        return;
    }
    while (speedscope->first != NULL) {
        struct profile *profile = speedscope->first;

        speedscope->first = profile->next;
        free(profile->open);
        free(profile);
    }
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct frame *frame = speedscope->buckets[i], *next; frame != NULL; frame = next) {
            next = frame->next;
            free(frame);
        }
    }
    free(speedscope->threads);
    spool_close(&speedscope->spool);
    flow_free(speedscope->flow);
    free(speedscope);
}

const struct export_format export_speedscope = {.name = "speedscope",
                                                .draws = true,
                                                .begin = speedscope_begin,
                                                .item = speedscope_item,
                                                .end = speedscope_end,
                                                .discard = speedscope_discard};
