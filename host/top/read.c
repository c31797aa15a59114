/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An interval from the lines of the D program:
 *
 *   T timestamp                the interval's end, first of its lines
 *   C cpu pid tid ns name      a thread ran on a CPU
 *   R pid tid count name       got a CPU
 *   S pid tid count name       sent messages
 *   I cpu count, P cpu count   interrupts, samples
 *   E                          the last of its lines
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/top/top.h"

void top_frame_free(struct top_frame *frame)
{
    free(frame->rows);
    *frame = (struct top_frame){0};
}

uint64_t top_frame_span(const struct top_frame *frame)
{
    return frame->before_ns != 0 && frame->at_ns > frame->before_ns
               ? frame->at_ns - frame->before_ns
               : 0;
}

static void frame_begin(struct top_frame *frame, uint64_t at_ns)
{
    frame->nrows = 0;
    frame->left_out = 0;
    frame->interrupts = 0;
    frame->ncpu = 0;
    frame->cpus = 0;
    memset(frame->idle_ns, 0, sizeof(frame->idle_ns));
    frame->before_ns = frame->at_ns;
    frame->at_ns = at_ns;
}

static void top_read_row_add(struct top_frame *frame, const struct top_row *row)
{
    if (frame->nrows == frame->room) {
        unsigned room = frame->room == 0 ? 64 : 2 * frame->room;
        struct top_row *rows =
            room > TOP_ENTRIES ? NULL : realloc(frame->rows, room * sizeof(*rows));

        if (rows == NULL) {
            frame->left_out++;
            return;
        }
        frame->rows = rows;
        frame->room = room;
    }
    frame->rows[frame->nrows++] = *row;
}

/* Reads numbers with a blank before each. Returns the text after them, NULL: they are not
 * there. */
static const char *top_read_parse_numbers(const char *at, int64_t *value, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char *end;

        if (at[0] != ' ' || (at[1] != '-' && (at[1] < '0' || at[1] > '9'))) {
            return NULL;
        }
        value[i] = strtoll(at + 1, &end, 10);
        if (end == at + 1) {
            return NULL;
        }
        at = end;
    }
    return at;
}

static uint64_t top_read_clamp_positive(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

static void cpu_note(struct top_frame *frame, int64_t cpu)
{
    if (cpu >= 0 && cpu < TOP_CPUS) {
        frame->cpus |= UINT64_C(1) << cpu;
        frame->ncpu = (unsigned)cpu >= frame->ncpu ? (unsigned)cpu + 1 : frame->ncpu;
    }
}

/* A line about a thread; `value` has pid, tid and the amount. */
static bool thread_line(struct top_frame *frame, char kind, const int64_t *value, const char *name)
{
    struct top_row row = {.pid = (int32_t)value[0], .tid = (int32_t)value[1]};
    uint64_t amount = top_read_clamp_positive(value[2]);

    if (name == NULL || *name != ' ') {
        return false;
    }
    snprintf(row.name, sizeof(row.name), "%s", name + 1);
    row.cpu_ns = kind == 'C' ? amount : 0;
    row.runs = kind == 'R' ? amount : 0;
    row.sent = kind == 'S' ? amount : 0;
    top_read_row_add(frame, &row);
    return true;
}

static int compare_thread(const void *a, const void *b)
{
    const struct top_row *x = a, *y = b;

    if (x->pid != y->pid) {
        return x->pid < y->pid ? -1 : 1;
    }
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Makes one row of a thread's lines. */
static void rows_join(struct top_frame *frame)
{
    unsigned n = 0;

    if (frame->nrows > 0) {
        qsort(frame->rows, frame->nrows, sizeof(*frame->rows), compare_thread);
    }
    for (unsigned i = 0; i < frame->nrows; i++) {
        struct top_row *row = &frame->rows[i];

        if (n == 0 || compare_thread(&frame->rows[n - 1], row) != 0) {
            frame->rows[n++] = *row;
            continue;
        }
        struct top_row *sum = &frame->rows[n - 1];
        sum->cpu_ns += row->cpu_ns;
        sum->runs += row->runs;
        sum->sent += row->sent;
        memcpy(sum->name, row->name, sizeof(sum->name)); /* exec: the last one holds */
    }
    frame->nrows = n;
}

enum top_line top_frame_line(struct top_frame *frame, const char *line)
{
    int64_t value[4];
    const char *rest;

    switch (line[0]) {
    case 'T':
        rest = top_read_parse_numbers(line + 1, value, 1);
        if (rest != NULL) {
            frame_begin(frame, top_read_clamp_positive(value[0]));
        }
        return rest != NULL ? TOP_MORE : TOP_UNKNOWN;
    case 'C':
        rest = top_read_parse_numbers(line + 1, value, 4);
        if (rest == NULL || !thread_line(frame, 'C', value + 1, rest)) {
            return TOP_UNKNOWN;
        }
        cpu_note(frame, value[0]);
        if (value[1] == TOP_IDLE_PID && value[0] >= 0 && value[0] < TOP_CPUS &&
            value[2] == value[0] + 1) {
            frame->idle_ns[value[0]] += top_read_clamp_positive(value[3]);
        }
        return TOP_MORE;
    case 'R':
    case 'S':
        rest = top_read_parse_numbers(line + 1, value, 3);
        return rest != NULL && thread_line(frame, line[0], value, rest) ? TOP_MORE : TOP_UNKNOWN;
    case 'I':
    case 'P':
        if (top_read_parse_numbers(line + 1, value, 2) == NULL) {
            return TOP_UNKNOWN;
        }
        cpu_note(frame, value[0]);
        frame->interrupts += line[0] == 'I' ? top_read_clamp_positive(value[1]) : 0;
        return TOP_MORE;
    case 'E':
        if (line[1] == '\0') {
            if (frame->ncpu == 0 && frame->before_ns != 0) {
                /* The consumer was late, and printed two intervals in one sweep: the first one
                 * has the sums of both. The next one counts from the first. */
                frame->at_ns = frame->before_ns;
                return TOP_MORE;
            }
            rows_join(frame);
            return TOP_WHOLE;
        }
        return TOP_UNKNOWN;
    default:
        return TOP_UNKNOWN;
    }
}
