/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A frame as a table, on a terminal no larger than it; or as JSON. Rates are per second of the
 * target's time; a share of CPU is of one CPU.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "host/escape.h"
#include "host/json_text.h"
#include "host/top/top.h"

static bool is_idle(const struct top_frame *frame, const struct top_row *row)
{
    return row->pid == TOP_IDLE_PID && row->tid >= 1 && (unsigned)row->tid <= frame->ncpu;
}

static enum top_sort sort_by; /* qsort() gives its function no argument */

static int compare_rows(const void *a, const void *b)
{
    const struct top_row *x = a, *y = b;
    uint64_t first = x->cpu_ns, second = y->cpu_ns;

    if (sort_by == TOP_BY_RUNS) {
        first = x->runs;
        second = y->runs;
    } else if (sort_by == TOP_BY_SENT) {
        first = x->sent;
        second = y->sent;
    } else if (sort_by == TOP_BY_NAME && strcmp(x->name, y->name) != 0) {
        return strcmp(x->name, y->name);
    }
    if (sort_by != TOP_BY_NAME && first != second) {
        return first > second ? -1 : 1;
    }
    if (x->pid != y->pid) {
        return x->pid < y->pid ? -1 : 1;
    }
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

void top_frame_sort(struct top_frame *frame, enum top_sort sort)
{
    sort_by = sort;
    if (frame->nrows > 0) {
        qsort(frame->rows, frame->nrows, sizeof(*frame->rows), compare_rows);
    }
}

struct sums {
    double seconds; /* 0: unknown */
    uint64_t runs, sent;
    double busy;    /* percent of all CPUs */
    double threads; /* of it what threads ran; the rest is the kernel's between them, and D's */
};

/* Without its length the first interval has no rates. */
static double per_second(const struct sums *sums, uint64_t amount)
{
    return sums->seconds > 0 ? (double)amount / sums->seconds : 0;
}

static double top_percent_of(const struct sums *sums, uint64_t ns)
{
    return sums->seconds > 0 ? (double)ns / sums->seconds / 1e7 : 0;
}

/* Returns the number of CPUs that run: one that did not start leaves a gap. */
static unsigned cpus_of(const struct top_frame *frame)
{
    return (unsigned)__builtin_popcountll(frame->cpus);
}

static struct sums sums_of(const struct top_frame *frame)
{
    struct sums sums = {.seconds = (double)top_frame_span(frame) / 1e9};
    uint64_t idle = 0, ran = 0;

    for (unsigned i = 0; i < frame->nrows; i++) {
        sums.runs += frame->rows[i].runs;
        sums.sent += frame->rows[i].sent;
        ran += is_idle(frame, &frame->rows[i]) ? 0 : frame->rows[i].cpu_ns;
    }
    for (unsigned cpu = 0; cpu < frame->ncpu; cpu++) {
        idle += frame->idle_ns[cpu];
    }
    unsigned n = cpus_of(frame);
    if (n > 0) {
        sums.busy = 100 - top_percent_of(&sums, idle) / n;
        sums.threads = top_percent_of(&sums, ran) / n;
    }
    sums.busy = sums.busy < 0 || sums.seconds == 0 ? 0 : sums.busy;
    return sums;
}

/* Prints a line, cut at the terminal's width and without what a terminal would obey. */
__attribute__((format(printf, 3, 4))) static void put_line(FILE *to, const struct top_style *style,
                                                           const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    size_t left = n < 0 ? 0 : strlen(text);
    unsigned column = 0;
    char one[4];

    for (const char *at = text; left > 0;) {
        unsigned taken, bytes = escape_line_char(one, at, left, &taken);

        column += taken > 1 ? 1 : bytes;
        if (style->columns > 0 && column > style->columns) {
            break;
        }
        fwrite(one, 1, bytes, to);
        at += taken;
        left -= taken;
    }
    fprintf(to, "%s\n", style->lines > 0 ? "\033[K" : "");
}

void top_show(FILE *to, const struct top_frame *frame, const struct top_style *style)
{
    static const char *const order[] = {"CPU", "switches", "messages", "name"};
    struct sums sums = sums_of(frame);
    unsigned head = 3 + (style->notice != NULL), shown = 0;
    unsigned most = style->lines > head ? style->lines - head - 1 : style->lines > 0 ? 1 : ~0u;

    most = style->rows > 0 && style->rows < most ? style->rows : most;
    put_line(to, style,
             "%s: %u CPU%s, %.1f %% busy, threads %.1f %%; %.0f switches, %.0f messages, "
             "%.0f interrupts/s",
             style->target, cpus_of(frame), cpus_of(frame) == 1 ? "" : "s", sums.busy, sums.threads,
             per_second(&sums, sums.runs), per_second(&sums, sums.sent),
             per_second(&sums, frame->interrupts));
    put_line(to, style, "%.2f s by %s%s; lost: %" PRIu64 " records%s", sums.seconds,
             order[style->sort], style->is_paused ? ", paused" : "", style->drops,
             frame->left_out > 0 ? ", and lines that no memory was left for" : "");
    if (style->notice != NULL) {
        put_line(to, style, "%s", style->notice);
    }
    put_line(to, style, "%7s %5s %7s %10s %10s  %s", "PID", "TID", "CPU %", "SWITCH/s", "MSG/s",
             "PROCESS");
    for (unsigned i = 0; i < frame->nrows && shown < most; i++) {
        const struct top_row *row = &frame->rows[i];

        if (!is_idle(frame, row)) {
            put_line(to, style, "%7" PRId32 " %5" PRId32 " %7.1f %10.1f %10.1f  %s", row->pid,
                     row->tid, top_percent_of(&sums, row->cpu_ns), per_second(&sums, row->runs),
                     per_second(&sums, row->sent), row->name);
            shown++;
        }
    }
}

void top_show_json(FILE *to, const struct top_frame *frame, const struct top_style *style)
{
    fprintf(to, "{\"at_ns\":%" PRIu64 ",\"span_ns\":%" PRIu64 ",\"cpus\":%u,\"idle_ns\":[",
            frame->at_ns, top_frame_span(frame), frame->ncpu);
    for (unsigned cpu = 0; cpu < frame->ncpu; cpu++) {
        fprintf(to, "%s%" PRIu64, cpu > 0 ? "," : "", frame->idle_ns[cpu]);
    }
    fprintf(to, "],\"interrupts\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"left_out\":%u,\"threads\":[",
            frame->interrupts, style->drops, frame->left_out);
    unsigned shown = 0;
    for (unsigned i = 0; i < frame->nrows && (style->rows == 0 || shown < style->rows); i++) {
        const struct top_row *row = &frame->rows[i];

        if (is_idle(frame, row)) {
            continue;
        }
        fprintf(to,
                "%s{\"pid\":%" PRId32 ",\"tid\":%" PRId32 ",\"cpu_ns\":%" PRIu64
                ",\"switches\":%" PRIu64 ",\"messages\":%" PRIu64 ",\"process\":",
                shown++ > 0 ? "," : "", row->pid, row->tid, row->cpu_ns, row->runs, row->sent);
        json_put(to, row->name);
        putc('}', to);
    }
    fprintf(to, "]}\n");
}
