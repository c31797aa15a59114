/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sorts and searches what was collected from a capture: see replay.h. The file may have it in any
 * order, and more than once. Tested by test/host/dtrace/replay/many_test.c.
 */
#include "host/dtrace/replay/replay.h"

#include <stdlib.h>

static int replay_compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_records(const void *p, const void *q)
{
    const struct replay_record *a = p, *b = q;
    int by_pass = replay_compare_numbers(a->pass, b->pass),
        by_cpu = replay_compare_numbers(a->cpu, b->cpu);

    return by_pass ? by_pass : by_cpu ? by_cpu : replay_compare_numbers(a->number, b->number);
}

static int compare_marks(const void *p, const void *q)
{
    const struct replay_mark *a = p, *b = q;
    int by_pass = replay_compare_numbers(a->pass, b->pass),
        by_cpu = replay_compare_numbers(a->cpu, b->cpu);

    return by_pass ? by_pass : by_cpu ? by_cpu : replay_compare_numbers(a->order, b->order);
}

static int compare_passes(const void *p, const void *q)
{
    const struct replay_pass *a = p, *b = q;
    int by_number = replay_compare_numbers(a->number, b->number);

    return by_number ? by_number : replay_compare_numbers(a->order, b->order);
}

static int compare_processes(const void *p, const void *q)
{
    const struct replay_process *a = p, *b = q;
    int by_pid = replay_compare_numbers(a->pid, b->pid);

    return by_pid ? by_pid : replay_compare_numbers(a->order, b->order);
}

static void replay_sort_stable(void *array, size_t n, size_t size,
                               int (*compare)(const void *, const void *))
{
    if (n) {
        qsort(array, n, size, compare);
    }
}

/* Joins the marks of a pass and CPU: what the last one of each kind reports counts. */
static void join_marks(struct replay *r)
{
    size_t n = 0;

    replay_sort_stable(r->marks, r->nmarks, sizeof(*r->marks), compare_marks);
    for (size_t i = 0; i < r->nmarks; i++) {
        struct replay_mark *last = n ? &r->marks[n - 1] : NULL, m = r->marks[i];
        if (!last || last->pass != m.pass || last->cpu != m.cpu) {
            r->marks[n++] = m;
        } else if (m.taken) {
            last->taken = true;
            last->records = m.records;
            last->snap = m.snap;
        } else if (m.counted) {
            last->counted = true;
            last->entries = m.entries;
            last->entry_drops = m.entry_drops;
        } else if (m.older > last->older) {
            last->older = m.older;
        }
    }
    r->nmarks = n;
}

/* Makes one pass of each number that has a status or a mark, with its last status and its marks. */
static bool join_passes(struct replay *r)
{
    struct replay_pass *all = realloc(r->passes, (r->npasses + r->nmarks + 1) * sizeof(*all));
    size_t mark = 0, with_status = 0, n = 0;

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
    replay_sort_stable(all, r->npasses, sizeof(*all), compare_passes);
    for (size_t i = 0; i < r->npasses; i++) {
        if (n == 0 || all[n - 1].number != all[i].number) {
            all[n++] = all[i];
        } else if (all[i].has_status) {
            all[n - 1] = all[i];
        }
    }
    r->npasses = n;
    for (size_t i = 0; i < n; i++) {
        struct replay_pass *p = &all[i];
        p->marks = r->marks + mark;
        while (mark < r->nmarks && r->marks[mark].pass == p->number) {
            mark++;
            p->nmarks++;
        }
        with_status = p->has_status ? i + 1 : with_status;
        p->last_status = with_status;
    }
    return true;
}

bool replay_sort(struct replay *r)
{
    size_t n = 0;

    replay_sort_stable(r->records, r->nrecords, sizeof(*r->records), compare_records);
    replay_sort_stable(r->entries, r->nentries, sizeof(*r->entries), compare_records);
    replay_sort_stable(r->processes, r->nprocesses, sizeof(*r->processes), compare_processes);
    for (size_t i = 0; i < r->nprocesses; i++) { /* descriptions of one process are identical */
        if (n == 0 || r->processes[n - 1].pid != r->processes[i].pid) {
            r->processes[n++] = r->processes[i];
        }
    }
    r->nprocesses = n;
    join_marks(r);
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
    size_t newest = pass ? r->passes[pass - 1].last_status : 0;

    return newest ? &r->passes[newest - 1].status : &none;
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
