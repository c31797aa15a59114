/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sorts and searches the data collected from a capture's programs: see replay.h. The file may have
 * it in any order, and more than once. Tested by test/d_replay/many_test.c.
 */
#include "host/dtrace/replay.h"

#include <stdlib.h>

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_records(const void *p, const void *q)
{
    const struct replay_record *a = p, *b = q;
    int by_pass = compare_numbers(a->pass, b->pass), by_cpu = compare_numbers(a->cpu, b->cpu);

    return by_pass ? by_pass : by_cpu ? by_cpu : compare_numbers(a->number, b->number);
}

static int compare_marks(const void *p, const void *q)
{
    const struct replay_mark *a = p, *b = q;
    int by_pass = compare_numbers(a->pass, b->pass), by_cpu = compare_numbers(a->cpu, b->cpu);

    return by_pass ? by_pass : by_cpu ? by_cpu : compare_numbers(a->order, b->order);
}

static int compare_passes(const void *p, const void *q)
{
    const struct replay_pass *a = p, *b = q;
    int by_number = compare_numbers(a->number, b->number);

    return by_number ? by_number : compare_numbers(a->order, b->order);
}

static int compare_processes(const void *p, const void *q)
{
    const struct replay_process *a = p, *b = q;
    int by_pid = compare_numbers(a->pid, b->pid);

    return by_pid ? by_pid : compare_numbers(a->order, b->order);
}

static void sort(void *array, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    if (n) {
        qsort(array, n, size, compare);
    }
}

/* Keeps one mark for each pass and CPU: the later one counts. */
static void join_marks(struct replay *r)
{
    size_t n = 0;

    sort(r->marks, r->nmarks, sizeof(*r->marks), compare_marks);
    for (size_t i = 0; i < r->nmarks; i++) {
        struct replay_mark *last = n ? &r->marks[n - 1] : NULL, m = r->marks[i];
        if (!last || last->pass != m.pass || last->cpu != m.cpu) {
            r->marks[n++] = m;
        } else if (m.taken) {
            last->taken = true;
            last->records = m.records;
            last->snap = m.snap;
        } else {
            last->counted = true;
            last->entries = m.entries;
            last->entry_drops = m.entry_drops;
        }
    }
    r->nmarks = n;
}

/* Several statuses of one pass: the last one counts. */
static void join_statuses(struct replay *r)
{
    size_t n = 0;

    sort(r->passes, r->npasses, sizeof(*r->passes), compare_passes);
    for (size_t i = 0; i < r->npasses; i++) {
        bool again = n && r->passes[n - 1].number == r->passes[i].number;
        if (!again) {
            r->passes[n++] = r->passes[i];
        } else if (r->passes[i].told) {
            r->passes[n - 1] = r->passes[i];
        }
    }
    r->npasses = n;
}

/* Makes a pass for each number of a status or a mark, with its marks. */
static bool join_passes(struct replay *r)
{
    struct replay_pass *all = realloc(r->passes, (r->npasses + r->nmarks + 1) * sizeof(*all));
    size_t mark = 0, told = 0;

    if (!all) {
        return false;
    }
    r->passes = all;
    for (size_t i = 0; i < r->nmarks; i++) {
        if (i == 0 || r->marks[i - 1].pass != r->marks[i].pass) {
            all[r->npasses] = (struct replay_pass){.number = r->marks[i].pass, .order = r->npasses};
            r->npasses++;
        }
    }
    join_statuses(r);
    for (size_t i = 0; i < r->npasses; i++) {
        struct replay_pass *p = &r->passes[i];
        p->marks = r->marks + mark;
        while (mark < r->nmarks && r->marks[mark].pass == p->number) {
            mark++;
            p->nmarks++;
        }
        told = p->told ? i + 1 : told;
        p->last_told = told;
    }
    return true;
}

/* Descriptions of one process are identical. */
static void join_processes(struct replay *r)
{
    size_t n = 0;

    sort(r->processes, r->nprocesses, sizeof(*r->processes), compare_processes);
    for (size_t i = 0; i < r->nprocesses; i++) {
        if (n == 0 || r->processes[n - 1].pid != r->processes[i].pid) {
            r->processes[n++] = r->processes[i];
        }
    }
    r->nprocesses = n;
}

bool replay_sort(struct replay *r)
{
    sort(r->records, r->nrecords, sizeof(*r->records), compare_records);
    sort(r->entries, r->nentries, sizeof(*r->entries), compare_records);
    join_marks(r);
    join_processes(r);
    return join_passes(r);
}

const struct replay_mark *replay_mark(const struct replay_pass *p, uint32_t cpu)
{
    size_t low = 0, high = p->nmarks;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (p->marks[mid].cpu < cpu) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < p->nmarks && p->marks[low].cpu == cpu ? &p->marks[low] : NULL;
}

const struct kymo_d_process *replay_process(const struct replay *r, uint32_t pid)
{
    size_t low = 0, high = r->nprocesses;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (r->processes[mid].pid < pid) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < r->nprocesses && r->processes[low].pid == pid ? &r->processes[low].process : NULL;
}

const struct dtrace_status *replay_status(const struct replay *r)
{
    static const struct dtrace_status none;
    size_t pass = r->pass < r->npasses ? r->pass + 1 : r->npasses;
    size_t told = pass ? r->passes[pass - 1].last_told : 0;

    return told ? &r->passes[told - 1].status : &none;
}

size_t replay_first_record(const struct replay *r, uint32_t cpu, uint32_t number)
{
    size_t low = 0, high = r->nrecords;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct replay_record *m = &r->records[mid];
        if (m->cpu < cpu || (m->cpu == cpu && m->number < number)) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

size_t replay_first_entry(const struct replay *r, uint32_t pass, uint32_t cpu)
{
    size_t low = 0, high = r->nentries;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct replay_record *e = &r->entries[mid];
        if (e->pass < pass || (e->pass == pass && e->cpu < cpu)) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}
