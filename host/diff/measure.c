/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The values of each series of a capture, in blocks of its time: only what happened while all CPUs
 * were covered counts. Threads are known by the names of process and thread, as pids and tids are
 * other ones in each run; those of one name are one. See diff.h.
 */
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "host/diff/diff.h"
#include "host/kymo.h"
#include "host/timeline/timeline.h"
#include "host/verify/verify.h"
#include "trace/slot.h"

enum { PROGRESS_EVENTS = 65536, NUMBERS = 1024, NAME_ROOM = 512 };

struct measure {
    struct diff *diff;
    unsigned side, at; /* of the capture in its side */
    struct diff_capture *capture;
    const struct timeline *timeline;
    struct kev_capture *kev;
    double length; /* ns of a block */
    uint32_t stretch;
    struct diff_series *of_event[DIFF_CLASSES][NUMBERS];
    bool failed;
};

/* ---- series ------------------------------------------------------------------------ */

static int series_order(const void *a, const void *b)
{
    const struct diff_series *x = a, *y = b;

    return x->kind != y->kind ? (int)x->kind - (int)y->kind : strcmp(x->name, y->name);
}

static int series_order_at(const void *a, const void *b)
{
    return series_order(*(struct diff_series *const *)a, *(struct diff_series *const *)b);
}

static struct diff_series *series_new(struct diff *diff, const struct diff_series *like)
{
    struct diff_series **more = realloc(diff->series, (diff->nseries + 1) * sizeof(*more));
    struct diff_series *series = calloc(1, sizeof(*series));

    diff->series = more != NULL ? more : diff->series;
    if (more == NULL || series == NULL) {
        free(series);
        return NULL;
    }
    *series = *like;
    series->name = strdup(like->name);
    for (unsigned i = 0; i < 2; i++) {
        series->part[i].sums =
            calloc((size_t)diff->side[i].ncaptures * diff->blocks, sizeof(double));
    }
    if (series->name == NULL || series->part[0].sums == NULL || series->part[1].sums == NULL ||
        tsearch(series, &diff->tree, series_order) == NULL) {
        free(series->name);
        free(series->part[0].sums);
        free(series->part[1].sums);
        free(series);
        return NULL;
    }
    diff->series[diff->nseries++] = series;
    return series;
}

/* The series of that name; NULL: no memory, noted. */
static struct diff_series *series_of(struct measure *m, enum diff_kind kind, const char *name,
                                     unsigned class_id)
{
    struct diff_series like = {.kind = kind, .name = (char *)name, .class_id = class_id};
    void *found = tfind(&like, &m->diff->tree, series_order);
    struct diff_series *series =
        found != NULL ? *(struct diff_series **)found : series_new(m->diff, &like);

    m->failed |= series == NULL;
    return series;
}

static void sum_add(struct measure *m, struct diff_series *series, unsigned block, double more)
{
    series->part[m->side].sums[(size_t)m->at * m->diff->blocks + block] += more;
}

static void diff_measure_value_add(struct measure *m, struct diff_series *series, unsigned block,
                                   int64_t ns)
{
    struct diff_part *part = &series->part[m->side];

    if (part->nvalues == part->room) {
        size_t room = 2 * part->room + 64;
        struct diff_value *grown = realloc(part->values, room * sizeof(*grown));

        if (grown == NULL) {
            m->failed = true;
            return;
        }
        part->values = grown;
        part->room = room;
    }
    part->values[part->nvalues++] = (struct diff_value){ns, (uint16_t)m->at, (uint16_t)block};
    sum_add(m, series, block, 1);
}

/* ---- blocks ------------------------------------------------------------------------ */

/* In a recovered capture an event may be older than the first one: it is in the first block. */
static unsigned diff_measure_block_of(const struct measure *m, int64_t ns)
{
    double block = (double)(ns - m->timeline->from) / m->length;

    return block <= 0 ? 0 : block < m->diff->blocks - 1 ? (unsigned)block : m->diff->blocks - 1;
}

/* Adds the seconds of [from, to) to each block that they are in. */
static void stretch_add(const struct measure *m, int64_t from, int64_t to, double *sums)
{
    while (from < to) {
        unsigned block = diff_measure_block_of(m, from);
        double end = (double)m->timeline->from + m->length * (block + 1);
        int64_t until = block + 1 < m->diff->blocks && end < (double)to ? (int64_t)end : to;

        until = until > from ? until : from + 1;
        sums[block] += (double)(until - from) / 1e9;
        from = until;
    }
}

/* True if all CPUs are covered then; times come nearly in order. */
static bool is_covered(struct measure *m, int64_t ns)
{
    const struct timeline *timeline = m->timeline;

    while (m->stretch > 0 && timeline->covered[m->stretch].from > ns) {
        m->stretch--;
    }
    while (m->stretch + 1 < timeline->ncovered && timeline->covered[m->stretch + 1].from <= ns) {
        m->stretch++;
    }
    return timeline->ncovered > 0 && timeline->covered[m->stretch].from <= ns &&
           ns <= timeline->covered[m->stretch].to;
}

/* The part of a span while all CPUs were covered. */
static void diff_measure_span_add(struct measure *m, const struct timeline_span *span, double *sums)
{
    const struct timeline *timeline = m->timeline;

    is_covered(m, span->from);
    for (uint32_t i = m->stretch; i < timeline->ncovered && timeline->covered[i].from < span->to;
         i++) {
        int64_t from = timeline->covered[i].from, to = timeline->covered[i].to;

        stretch_add(m, from > span->from ? from : span->from, to < span->to ? to : span->to, sums);
    }
}

static void diff_measure_blocks_make(struct measure *m)
{
    const struct timeline *timeline = m->timeline;
    double all = (double)(timeline->to - timeline->from);

    m->length = all > 0 ? all / m->diff->blocks : 1;
    m->capture->seconds = all / 1e9;
    for (uint32_t i = 0; i < timeline->ncovered; i++) {
        int64_t from = timeline->covered[i].from, to = timeline->covered[i].to;

        stretch_add(m, from > timeline->from ? from : timeline->from,
                    to < timeline->to ? to : timeline->to, m->capture->time);
    }
    for (unsigned i = 0; i < m->diff->blocks; i++) {
        m->capture->covered += m->capture->time[i];
    }
}

/* ---- what the timeline has --------------------------------------------------------- */

static void diff_measure_thread_name(const struct timeline *timeline, uint32_t index, bool whole,
                                     char name[NAME_ROOM])
{
    const struct timeline_thread *thread;
    int n;

    if (index == TIMELINE_NONE) {
        snprintf(name, NAME_ROOM, "?");
        return;
    }
    thread = &timeline->threads[index];
    n = snprintf(name, NAME_ROOM, "%.200s", thread->process != NULL ? thread->process : "?");
    if (whole && thread->name != NULL) {
        snprintf(name + n, NAME_ROOM - (size_t)n, "/%.200s", thread->name);
    } else if (whole) {
        snprintf(name + n, NAME_ROOM - (size_t)n, "/%" PRId32, thread->tid);
    }
}

static void threads_measure(struct measure *m)
{
    const struct timeline *timeline = m->timeline;
    struct diff_series *all = series_of(m, DIFF_CPU, "all threads", 0);

    for (uint32_t i = 0; i < timeline->nthreads && !m->failed; i++) {
        const struct timeline_thread *thread = &timeline->threads[i];
        struct diff_series *series;
        char name[NAME_ROOM];

        if (thread->idle) {
            continue;
        }
        diff_measure_thread_name(timeline, i, true, name);
        m->capture->nameless |= thread->process == NULL;
        series = series_of(m, DIFF_CPU, name, 0);
        if (series == NULL || all == NULL) {
            return;
        }
        series->part[m->side].captures |= 1u << 31; /* it is in this one: counted below */
        for (uint32_t n = 0; n < thread->count; n++) {
            const struct timeline_span *span = timeline_span(timeline, i, n);
            size_t at = (size_t)m->at * m->diff->blocks;

            if (span->state == STATE_RUNNING) {
                diff_measure_span_add(m, span, series->part[m->side].sums + at);
                diff_measure_span_add(m, span, all->part[m->side].sums + at);
            }
        }
    }
    if (all != NULL) {
        all->part[m->side].captures |= 1u << 31;
    }
}

/* A message that is not over counts as longer than any. */
static void messages_measure(struct measure *m)
{
    const struct timeline *timeline = m->timeline;

    for (uint32_t i = 0; i < timeline->nmessages && !m->failed; i++) {
        const struct timeline_message *message = &timeline->messages[i];
        char client[NAME_ROOM], server[NAME_ROOM], name[2 * NAME_ROOM + 8];
        struct diff_series *series;

        if (!is_covered(m, message->sent) || message->flags & TIMELINE_ABORTED) {
            continue;
        }
        diff_measure_thread_name(timeline, message->client, false, client);
        snprintf(server, sizeof(server), "%s", "?");
        const char *process = kev_capture_name(m->kev, message->server_pid, KEV_NOBODY);
        if (message->server != TIMELINE_NONE) {
            diff_measure_thread_name(timeline, message->server, false, server);
        } else if (process != NULL) {
            snprintf(server, sizeof(server), "%.200s", process);
        }
        snprintf(name, sizeof(name), "%s -> %s", client, server);
        series = series_of(m, DIFF_MESSAGE, name, 0);
        if (series != NULL) {
            diff_measure_value_add(
                m, series, diff_measure_block_of(m, message->sent),
                message->replied == KEV_NEVER ? INT64_MAX : message->replied - message->sent);
        }
    }
}

static void interrupts_measure(struct measure *m)
{
    const struct timeline *timeline = m->timeline;
    const uint8_t both = TIMELINE_FROM | TIMELINE_TO;

    for (uint32_t i = 0; i < timeline->ninterrupts && !m->failed; i++) {
        const struct timeline_interrupt *interrupt = &timeline->interrupts[i];
        const char *term = kev_capture_term(m->kev, KEV_MEANS_INTERRUPT, interrupt->number);
        struct diff_series *series;
        char name[NAME_ROOM];

        if ((interrupt->flags & both) != both || !is_covered(m, interrupt->from)) {
            continue;
        }
        snprintf(name, sizeof(name), "%" PRIu32 "%s%.200s%s", interrupt->number, term ? " (" : "",
                 term ? term : "", term ? ")" : "");
        series = series_of(m, DIFF_INTERRUPT, name, 0);
        if (series != NULL) {
            diff_measure_value_add(m, series, diff_measure_block_of(m, interrupt->from),
                                   interrupt->to - interrupt->from);
        }
    }
}

/* ---- the items --------------------------------------------------------------------- */

static void event_measure(struct measure *m, const struct kev_item *item)
{
    unsigned class_id = item->class_id % DIFF_CLASSES, number = item->number % NUMBERS;
    struct diff_series **series = &m->of_event[class_id][number];
    char name[NAME_ROOM];

    if (item->class_id == TRACE_CLASS_CONTROL || item->flags & KEV_FLAG_INJECTED ||
        !is_covered(m, item->ns)) {
        return;
    }
    if (*series == NULL) {
        if (item->name != NULL) {
            snprintf(name, sizeof(name), "%s %s", item->class_name, item->name);
        } else {
            snprintf(name, sizeof(name), "%s %" PRIu32, item->class_name, item->code);
        }
        *series = series_of(m, DIFF_EVENT, name, class_id);
    }
    if (*series != NULL) {
        sum_add(m, *series, diff_measure_block_of(m, item->ns), 1);
    }
}

static bool recover_set(const struct diff *diff, struct kev_capture *kev)
{
    return !diff->recover || kev_capture_set_recover(kev, 1) == KEV_COMPLETE;
}

/* The capture once more, for what the timeline doesn't keep. */
static bool items_measure(struct measure *m, const char *path)
{
    struct kev_capture *kev = kev_capture_new();
    const struct kev_item *item;
    int outcome =
        kev != NULL && recover_set(m->diff, kev) ? kev_capture_open(kev, path) : KEV_FAILED;
    uint64_t n = 0;

    m->stretch = 0;
    while (outcome >= 0 && !m->failed && (outcome = kev_capture_next(kev, &item)) == KEV_GIVEN) {
        if (item->kind == KEV_ITEM_SCOPE) {
            doubt_scope(m->capture, item->loss);
        } else if (item->kind == KEV_ITEM_LOSS) {
            doubt_loss(m->capture, item->loss);
        } else if (item->kind == KEV_ITEM_EVENT) {
            event_measure(m, item);
        }
        if (++n % PROGRESS_EVENTS == 0) {
            kymo_progress((void *)"counting", item->offset, kev_capture_facts(kev)->bytes);
        }
    }
    kymo_progress_end();
    if (outcome == KEV_FAILED) {
        if (kev != NULL) {
            verify_refuse_fault(kev_capture_fault(kev));
        } else {
            kymo_error("out of memory");
        }
    } else if (!m->failed && verify_end_capture(kev, outcome, false) != KYMO_OK) {
        m->diff->lacks = true;
    }
    kev_capture_free(kev);
    return outcome != KEV_FAILED;
}

/* Counts in how many captures each series is: a thread with its first event, others if there is a
 * sum. */
static void presence_note(struct measure *m)
{
    for (size_t i = 0; i < m->diff->nseries; i++) {
        struct diff_part *part = &m->diff->series[i]->part[m->side];
        const double *sums = part->sums + (size_t)m->at * m->diff->blocks;
        bool is_here = part->captures >> 31;

        for (unsigned block = 0; block < m->diff->blocks; block++) {
            is_here |= sums[block] > 0;
        }
        part->captures = (part->captures & ~(1u << 31)) + is_here;
    }
}

static bool timeline_measure(struct measure *m, const char *path)
{
    const struct kev_facts *facts = kev_capture_facts(m->kev);
    struct timeline *timeline = timeline_new(m->kev, kymo_progress, (void *)"reading");
    bool good = timeline != NULL && timeline->outcome != KEV_FAILED;

    kymo_progress_end();
    if (!good) {
        kymo_error("%s", timeline == NULL ? "out of memory" : timeline->fault);
    } else {
        m->timeline = timeline;
        m->capture->cpus = facts->cpus;
        snprintf(m->capture->board, sizeof(m->capture->board), "%s", facts->board);
        diff_measure_blocks_make(m);
        threads_measure(m);
        messages_measure(m);
        interrupts_measure(m);
        good = items_measure(m, path);
        presence_note(m);
    }
    timeline_free(timeline);
    return good;
}

bool measure_capture(struct diff *diff, unsigned side, const char *path)
{
    struct measure *m = calloc(1, sizeof(*m));
    struct diff_capture *capture = NULL;
    bool good = m != NULL;

    for (unsigned i = 0; capture == NULL; i++) {
        capture = diff->side[side].captures[i].time == NULL ? &diff->side[side].captures[i] : NULL;
    }
    capture->time = calloc(diff->blocks, sizeof(double));
    if (good && capture->time != NULL) {
        m->diff = diff;
        m->side = side;
        m->at = (unsigned)(capture - diff->side[side].captures);
        m->capture = capture;
        m->kev = kev_capture_new();
    }
    if (!good || m->kev == NULL) {
        kymo_error("out of memory");
        free(m);
        return false;
    }
    good = recover_set(diff, m->kev) && kev_capture_open(m->kev, path) >= 0;
    if (!good) {
        verify_refuse_fault(kev_capture_fault(m->kev));
    }
    good = good && timeline_measure(m, path);
    if (good && m->failed) {
        kymo_error("%s: out of memory; kymo cut takes a part of it (--from, --to)", path);
        good = false;
    }
    kev_capture_free(m->kev);
    free(m);
    return good;
}

void measure_end(struct diff *diff)
{
    if (diff->nseries > 0) {
        qsort(diff->series, diff->nseries, sizeof(*diff->series), series_order_at);
    }
}

static void diff_measure_free_nothing(void *of)
{
    (void)of;
}

void measure_free(struct diff *diff)
{
    tdestroy(diff->tree, diff_measure_free_nothing);
    for (size_t i = 0; i < diff->nseries; i++) {
        for (unsigned side = 0; side < 2; side++) {
            free(diff->series[i]->part[side].sums);
            free(diff->series[i]->part[side].values);
        }
        free(diff->series[i]->name);
        free(diff->series[i]);
    }
    free(diff->series);
    for (unsigned side = 0; side < 2; side++) {
        for (unsigned i = 0; i < diff->side[side].ncaptures; i++) {
            free(diff->side[side].captures[i].path);
            free(diff->side[side].captures[i].time);
        }
        free(diff->side[side].weights);
    }
    free(diff->results);
}
