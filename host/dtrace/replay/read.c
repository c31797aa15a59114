/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collects D's events of a capture, by consumer: see replay.h. The file may hold anything, in any
 * order: an invalid event is counted and left out; memory is bounded by the file's size, and time
 * by the sorting of its events. Tested by test/host/dtrace/replay/many_test.c.
 */
#include "host/dtrace/replay/replay.h"

#include "host/kymo.h"
#include "host/reader/kev.h"
#include "host/verify/verify.h"
#include "trace/dtrace/notes.h"
#include "trace/dtrace/log_event.h"
#include "trace/slot.h"

#include <stdlib.h>
#include <string.h>

enum { CONSUMERS_MAX = 256 };

struct reading {
    struct replay *first;
    unsigned ncpus, nconsumers;
    bool ring, no_memory, broken;
};

/* ---- growing ----------------------------------------------------------------------- */

/* Returns the array with memory for one more element: it grows at 0, 1, 3, 7 … elements. */
static void *replay_grow_array(struct reading *in, void *array, size_t n, size_t size)
{
    void *bigger = n & (n + 1) ? array : realloc(array, (n * 2 + 1) * size);

    in->no_memory |= !bigger;
    return bigger;
}

static struct replay *replay_find_consumer(struct reading *in, uint32_t handle)
{
    struct replay **link = &in->first;

    while (*link && (*link)->handle != handle) {
        link = &(*link)->next;
    }
    if (!*link && in->nconsumers < CONSUMERS_MAX) {
        *link = calloc(1, sizeof(**link));
        in->no_memory |= !*link;
    }
    if (*link && !(*link)->ncpus) {
        in->nconsumers++;
        (*link)->handle = handle;
        (*link)->ncpus = in->ncpus;
        (*link)->ring = in->ring;
    }
    return *link;
}

static struct replay_mark *add_mark(struct reading *in, struct replay *r, uint32_t pass,
                                    uint32_t cpu)
{
    struct replay_mark *bigger = replay_grow_array(in, r->marks, r->nmarks, sizeof(*bigger));

    if (!bigger) {
        return NULL;
    }
    r->marks = bigger;
    bigger[r->nmarks] = (struct replay_mark){.pass = pass, .cpu = cpu, .order = r->nmarks};
    return &bigger[r->nmarks++];
}

/* ---- events: a function for each kind; false: the event is invalid ------------------ */

/* Finds the bytes after the first words. Returns false if there are fewer than `least`. */
static bool replay_rest_bytes(const struct kev_event *e, unsigned words, uint32_t least,
                              const uint8_t **data, uint32_t *bytes)
{
    if (e->nwords < words) {
        return false;
    }
    *data = (const uint8_t *)(e->words + words);
    *bytes = (e->nwords - words) * 4;
    return *bytes >= least;
}

static bool replay_read_notes(struct reading *in, struct replay *r, const struct kev_event *e)
{
    uint32_t total = kev_word(e, 1), from = kev_word(e, 2), bytes;
    const uint8_t *data;

    if (!replay_rest_bytes(e, 3, 1, &data, &bytes) || total > DTRACE_LOG_NOTES_MAX ||
        from >= total || (r->notes && r->total != total)) {
        return false;
    }
    bytes = bytes < DTRACE_LOG_NOTES_PART_MOST ? bytes : DTRACE_LOG_NOTES_PART_MOST;
    bytes = bytes < total - from ? bytes : total - from;
    if (!r->notes) {
        r->notes = calloc(1, total);
        r->have = calloc(1, total);
        r->total = total;
    }
    if (!r->notes || !r->have) {
        in->no_memory = true;
        return true;
    }
    for (uint32_t i = 0; i < bytes; i++) {
        r->nnotes += !r->have[from + i];
        r->have[from + i] = 1;
    }
    memcpy(r->notes + from, data, bytes);
    return true;
}

/* Adds a record, or an entry, with a copy of its bytes. */
static bool replay_keep_record(struct reading *in, struct replay_record **array, size_t *n,
                               struct replay_record from, const struct kev_event *e, unsigned words,
                               uint32_t least)
{
    const uint8_t *data;

    if (!replay_rest_bytes(e, words, least, &data, &from.bytes)) {
        return false;
    }
    struct replay_record *bigger = replay_grow_array(in, *array, *n, sizeof(*bigger));
    uint8_t *copy = malloc(from.bytes + 8);
    if (bigger) {
        *array = bigger;
    }
    if (!bigger || !copy) {
        in->no_memory = true;
        free(copy);
        return true;
    }
    from.data = memcpy(copy, data, from.bytes);
    bigger[(*n)++] = from;
    return true;
}

static bool replay_read_record(struct reading *in, struct replay *r, const struct kev_event *e)
{
    return replay_keep_record(in, &r->records, &r->nrecords,
                              (struct replay_record){.number = kev_word(e, 1), .cpu = e->cpu}, e, 2,
                              sizeof(struct dtrace_record));
}

/* The snapshot's entries before this event, so many, are older than the capture if it is the first
 * that its CPU's ring kept. */
static void note_older(struct reading *in, struct replay *r, const struct kev_event *e,
                       uint32_t entries)
{
    if (r->ring && entries && !(r->begun >> e->cpu & 1)) {
        struct replay_mark *m = add_mark(in, r, kev_word(e, 1), kev_word(e, 2));
        if (m) {
            m->older = entries;
        }
    }
}

static bool replay_read_entry(struct reading *in, struct replay *r, const struct kev_event *e)
{
    struct replay_record to = {
        .pass = kev_word(e, 1), .cpu = kev_word(e, 2), .number = kev_word(e, 3)};

    if (to.cpu >= r->ncpus || !replay_keep_record(in, &r->entries, &r->nentries, to, e, 4,
                                                  sizeof(struct dtrace_agg_entry))) {
        return false;
    }
    note_older(in, r, e, to.number);
    return true;
}

static bool replay_read_taken(struct reading *in, struct replay *r, const struct kev_event *e)
{
    const uint8_t *data;
    uint32_t bytes;

    if (!replay_rest_bytes(e, 4, sizeof(struct dtrace_snap), &data, &bytes)) {
        return false;
    }
    struct replay_mark *m = add_mark(in, r, kev_word(e, 1), e->cpu);
    if (m) {
        m->taken = true;
        m->records = kev_word(e, 2);
        memcpy(&m->snap, data, sizeof(m->snap));
    }
    return true;
}

static bool replay_read_entries(struct reading *in, struct replay *r, const struct kev_event *e)
{
    uint32_t cpu = kev_word(e, 2);

    if (e->nwords < 6 || cpu >= r->ncpus) {
        return false;
    }
    struct replay_mark *m = add_mark(in, r, kev_word(e, 1), cpu);
    if (m) {
        m->counted = true;
        m->entries = kev_word(e, 3);
        m->entry_drops = kev_word(e, 4) | (uint64_t)kev_word(e, 5) << 32;
        note_older(in, r, e, m->entries);
    }
    return true;
}

static bool replay_read_status(struct reading *in, struct replay *r, const struct kev_event *e)
{
    uint32_t cpus = kev_word(e, 3), bytes;
    const uint8_t *data;

    if (!replay_rest_bytes(e, 4, sizeof(struct dtrace_status), &data, &bytes) ||
        (cpus & 0xffff) >= r->ncpus || cpus >> 16 >= r->ncpus) {
        return false;
    }
    struct replay_pass *bigger = replay_grow_array(in, r->passes, r->npasses, sizeof(*bigger));
    if (!bigger) {
        return true;
    }
    struct replay_pass *p = &bigger[r->npasses];
    *p = (struct replay_pass){.number = kev_word(e, 1),
                              .flags = kev_word(e, 2),
                              .order = r->npasses++,
                              .has_status = true};
    memcpy(&p->status, data, sizeof(p->status));
    r->passes = bigger;
    r->begin_cpu = cpus & 0xffff;
    r->end_cpu = cpus >> 16;
    return true;
}

static bool replay_read_process(struct reading *in, struct replay *r, const struct kev_event *e)
{
    struct replay_process to = {.pid = kev_word(e, 1), .order = r->nprocesses}, *bigger;
    const uint8_t *data;
    uint32_t bytes;

    if (!replay_rest_bytes(e, 4, sizeof(to.process), &data, &bytes)) {
        return false;
    }
    bigger = replay_grow_array(in, r->processes, r->nprocesses, sizeof(*bigger));
    if (bigger) {
        memcpy(&to.process, data, sizeof(to.process));
        r->processes = bigger;
        r->processes[r->nprocesses++] = to;
    }
    return true;
}

/* ---- the file ---------------------------------------------------------------------- */

static bool read_events(struct reading *in, struct kev *kev)
{
    static bool (*const kinds[])(struct reading *, struct replay *, const struct kev_event *) = {
        [DTRACE_LOG_NOTES] = replay_read_notes,     [DTRACE_LOG_RECORD] = replay_read_record,
        [DTRACE_LOG_TAKEN] = replay_read_taken,     [DTRACE_LOG_ENTRY] = replay_read_entry,
        [DTRACE_LOG_ENTRIES] = replay_read_entries, [DTRACE_LOG_STATUS] = replay_read_status,
        [DTRACE_LOG_PROCESS] = replay_read_process,
    };
    enum kev_result result;
    struct kev_error error;
    struct kev_event e;
    uint64_t n = 0;

    while ((result = kev_next(kev, &e, &error)) == KEV_EVENT && !in->no_memory) {
        bool of_d = e.class == TRACE_CLASS_D && e.nwords;
        struct replay *r = of_d ? replay_find_consumer(in, kev_word(&e, 0)) : NULL;
        bool known = e.number < sizeof(kinds) / sizeof(*kinds) && kinds[e.number];
        if (r && (!known || e.cpu >= r->ncpus || !kinds[e.number](in, r, &e))) {
            r->damaged++;
        }
        if (r && e.cpu < r->ncpus && e.number != DTRACE_LOG_NOTES) { /* which has no pass */
            r->begun |= 1ull << e.cpu;
        }
        if (++n % KEV_PROGRESS_EVENTS == 0) {
            kymo_progress((void *)"reading", e.offset, kev_info(kev)->size);
        }
    }
    if (in->no_memory) {
        fputs("dtrace: Not enough space\n", stderr);
        return false;
    }
    if (result == KEV_ERROR) {
        verify_refuse_d(&error);
    }
    in->broken = result == KEV_ERROR;
    return result != KEV_ERROR || error.given;
}

/* Returns true if a word of tracelogger's command line has -r. */
static bool says_ring(const char *word)
{
    if (*word++ != '-') {
        return false;
    }
    for (; *word && *word != ' '; word++) {
        if (*word == 'r' || strchr("nskFf", *word)) {
            return *word == 'r'; /* the others' values follow */
        }
    }
    return false;
}

/* Returns true for the capture of a ring, which overwrites old data on purpose. */
static bool is_ring(const struct kev_info *info)
{
    for (unsigned i = 0; i < info->nattrs; i++) {
        const char *at = info->attrs[i].value;
        if (strcmp(info->attrs[i].key, "RETAINED") == 0) {
            return true;
        }
        bool found = strcmp(info->attrs[i].key, "TRACELOGGER_ARGS") == 0 && says_ring(at);
        while (strcmp(info->attrs[i].key, "TRACELOGGER_ARGS") == 0 && !found &&
               (at = strchr(at, ' ')) != NULL) {
            found = says_ring(++at);
        }
        if (found) {
            return true;
        }
    }
    return false;
}

struct replay *replay_read(const char *path)
{
    const struct kev_options options = {.recover = false};
    struct kev_error error;
    struct kev *kev = kev_open(path, &options, &error);

    if (!kev) {
        verify_refuse_d(&error);
        return NULL;
    }
    const struct kev_info *info = kev_info(kev);
    struct reading in = {.ncpus = info->ncpu < KEV_CPUS ? info->ncpu : KEV_CPUS,
                         .ring = is_ring(info)};
    bool ok = !info->swapped && in.ncpus > 0 && read_events(&in, kev);

    kymo_progress_end();

    if (ok && !in.first) {
        fprintf(stderr, "dtrace: %s: no program of D has records in it (-x log=1, -x retain)\n",
                path);
    } else if (info->swapped) {
        fprintf(stderr, "dtrace: %s: it is of another byte order\n", path);
    }
    kev_close(kev);
    if (!ok) {
        replay_free(in.first);
        return NULL;
    }
    for (struct replay *r = in.first; r && ok; r = r->next) {
        r->path = path;
        ok = replay_sort(r);
    }
    if (!ok) {
        fputs("dtrace: Not enough space\n", stderr);
        replay_free(in.first);
        return NULL;
    }
    if (in.first) {
        in.first->broken = in.broken;
    }
    return in.first;
}

void replay_free(struct replay *r)
{
    while (r) {
        struct replay *next = r->next;
        for (size_t i = 0; i < r->nrecords; i++) {
            free((void *)r->records[i].data);
        }
        for (size_t i = 0; i < r->nentries; i++) {
            free((void *)r->entries[i].data);
        }
        free(r->marks);
        free(r->records);
        free(r->entries);
        free(r->passes);
        free(r->processes);
        free(r->notes);
        free(r->have);
        free(r->printed);
        free(r);
        r = next;
    }
}

const void *replay_saved(const struct replay *r, size_t *bytes)
{
    struct notes_head head;

    if (r->total < sizeof(head) || r->nnotes != r->total) {
        return NULL;
    }
    memcpy(&head, r->notes, sizeof(head));
    *bytes = head.saved;
    return head.magic == NOTES_MAGIC && head.version == NOTES_VERSION &&
                   head.saved <= r->total - sizeof(head)
               ? r->notes + sizeof(head)
               : NULL;
}

void replay_report(const struct replay *r)
{
    if (r->damaged) {
        fprintf(stderr, "dtrace: %llu damaged event%s of D left out\n",
                (unsigned long long)r->damaged, r->damaged == 1 ? "" : "s");
    }
    if (!r->npasses || !(r->passes[r->npasses - 1].flags & DTRACE_LOG_LAST)) {
        fputs("dtrace: the capture ends before the program\n", stderr);
        return;
    }
    for (unsigned cpu = 0; cpu < r->ncpus; cpu++) {
        const struct replay_mark *m = replay_mark(&r->passes[r->npasses - 1], cpu);
        if (!m || !m->taken) {
            fprintf(stderr, "dtrace: the capture does not say where the records of CPU %u end\n",
                    cpu);
        }
    }
}
