/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The account as text: aligned columns, plain ASCII, the same bytes for the same capture.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "host/escape.h"
#include "host/fold.h"
#include "host/memory_stream.h"
#include "host/stat/stat.h"
#include "lib/panic/text.h"

double stat_seconds(const struct stat *stat, uint64_t cycles)
{
    return (double)cycles / (double)kev_info(stat->kev)->cycles_per_sec;
}

double stat_percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0.0 : 100.0 * (double)part / (double)whole;
}

const char *text_time(const struct stat *stat, uint64_t cycles, char text[24])
{
    double ns = stat_seconds(stat, cycles) * 1e9;

    if (ns < 1e3) {
        snprintf(text, 24, "%.0f ns", ns);
    } else if (ns < 1e6) {
        snprintf(text, 24, "%.*f us", ns < 1e4 ? 2 : ns < 1e5 ? 1 : 0, ns / 1e3);
    } else if (ns < 1e9) {
        snprintf(text, 24, "%.*f ms", ns < 1e7 ? 2 : ns < 1e8 ? 1 : 0, ns / 1e6);
    } else {
        snprintf(text, 24, "%.*f s", ns < 1e12 ? 2 : 0, ns / 1e9);
    }
    return text;
}

void text_title(FILE *to, const struct stat_style *style, const char *format, ...)
{
    va_list args;

    fprintf(to, "\n%s", style->bold ? "\033[1m" : "");
    va_start(args, format);
    vfprintf(to, format, args);
    va_end(args);
    fprintf(to, "%s\n", style->bold ? "\033[0m" : "");
}

/* A file's name: its UTF-8 stays, what a terminal would obey does not. */
static void put_path(FILE *to, const char *path)
{
    size_t length = strlen(path);
    char *text = kymo_memory(malloc(ESCAPE_MOST(length)));

    fwrite(text, 1, escape_whole(path, length, text), to);
    free(text);
}

/* A string of the capture, safe for a terminal. */
static void put_safe(FILE *to, const char *text)
{
    put_path(to, text);
}

const char *stat_doubt(const struct stat *stat)
{
    const struct kev_info *info = kev_info(stat->kev);
    const struct kev_damage *damage = kev_damage(stat->kev);
    uint64_t missing = 0;

    for (unsigned i = 0; i < KEV_CPUS; i++) {
        missing += info->cpu[i].missing;
    }
    if (stat->cut) {
        return "the file is cut short";
    }
    if (damage->places + damage->slots + damage->events + damage->sequences + damage->sums > 0) {
        return "parts of the file are damaged";
    }
    if (stat->missing || info->nmissing > 0) {
        return "buffers are missing, or not those that were written";
    }
    if (kev_cut_doubt(stat->kev) != NULL) {
        return "the capture that it was cut out of is cut short or damaged";
    }
    if (missing > 0 && stat->lost + stat->recycled == 0) {
        return "buffers are missing";
    }
    /* Recovering passes over an end that comes too early: nothing was skipped for it. */
    return damage->first[0] != '\0' ? "the file is cut short" : NULL;
}

uint64_t stat_overwritten(const struct stat *stat)
{
    const struct kev_info *info = kev_info(stat->kev);
    uint64_t buffers = 0;

    for (unsigned i = 0; info->kymo && i < KEV_CPUS; i++) {
        buffers += info->cpu[i].buffers > 0 && info->cpu[i].first_sequence > 0
                       ? info->cpu[i].first_sequence - 1
                       : 0;
    }
    return buffers;
}

/* Returns the rate of all CPUs together, each over its covered time. */
static double event_rate(const struct stat *stat)
{
    double rate = 0;

    for (unsigned i = 0; i < KEV_CPUS; i++) {
        double seconds = stat_seconds(stat, stat_cpu_covered(&stat->cpus[i]));

        rate += seconds > 0 ? (double)stat->cpus[i].events_covered / seconds : 0;
    }
    return rate;
}

static const char *stat_text_attribute(const struct kev_info *info, const char *key)
{
    for (unsigned i = 0; i < info->nattrs; i++) {
        if (strcmp(info->attrs[i].key, key) == 0) {
            return info->attrs[i].value;
        }
    }
    return NULL;
}

bool stat_date(const struct stat *stat, const char *key, struct tm *date)
{
    const char *text = stat_text_attribute(kev_info(stat->kev), key);
    const char *end = text == NULL ? NULL : strptime(text, "%a %b %d %H:%M:%S %Y", date);

    return end != NULL && *end == '\0' && date->tm_year >= 100;
}

/* Prints when it was recorded, and of which image; an unknown date as "unknown". */
static void stat_text_show_origin(FILE *to, const struct stat *stat)
{
    const struct kev_info *info = kev_info(stat->kev);
    struct tm date = {0};
    char text[32] = "at an unknown time";

    if (stat_date(stat, "DATE", &date)) {
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &date);
    }
    fprintf(to, "  recorded %s%s", text, info->kymo && date.tm_year >= 100 ? " UTC" : "");
    if (info->image[0] != '\0') {
        fputs(", image ", to);
        put_safe(to, info->image);
    }
    for (unsigned i = 0; i < info->build_id_len; i++) {
        fprintf(to, "%s%02x", i == 0 ? ", build id " : "", info->build_id[i]);
    }
    fputc('\n', to);
}

/* For a capture left behind by a reset: docs/guide/flight.md. A reason longer than an entry
 * continues in PANIC_REASON_2. */
static void show_crash(FILE *to, const struct kev_info *info)
{
    const char *boot = stat_text_attribute(info, "RETAINED"),
               *kind = stat_text_attribute(info, "PANIC");
    const char *reason = stat_text_attribute(info, "PANIC_REASON"),
               *more = stat_text_attribute(info, "PANIC_REASON_2");

    if (boot == NULL) {
        return;
    }
    fputs("  retained of ", to);
    put_safe(to, boot);
    fputs(", which ended with ", to);
    if (kind != NULL && strcmp(kind, PANIC_DAMAGED) == 0) {
        fputs(PANIC_DAMAGED_REASON "\n", to);
        return;
    }
    if (kind == NULL || reason == NULL) {
        fputs("a reset without a panic\n", to);
        return;
    }
    if (strncmp(reason, kind, strlen(kind)) != 0) {
        put_safe(to, kind);
        fputs(": ", to);
    }
    put_safe(to, reason);
    put_safe(to, more ? more : "");
    fputc('\n', to);
}

/* The filters as they were at START, and what that means for the figures. */
static void show_filters(FILE *to, const struct stat *stat)
{
    const struct kev_info *info = kev_info(stat->kev);
    const char *between = "  recorded: ";

    for (unsigned i = 0; i < info->nattrs; i++) {
        if (strncmp(info->attrs[i].key, "FILTER_", 7) == 0) {
            fputs(between, to);
            put_safe(to, info->attrs[i].value);
            between = ", ";
        }
    }
    fputs(stat->filter.stated ? "; as at the start\n" : between[0] == ',' ? "\n" : "", to);
    if (stat->filter.changed) {
        fprintf(to, "  filters were changed at %.6f s: nothing is covered from there on\n",
                stat_seconds(stat, stat->filter.changed_at - stat->first));
    }
    if (filter_doubt(stat) != NULL) {
        fprintf(to, "  %s\n", filter_doubt(stat));
    }
}

/* Prints the time that the figures cover, if it isn't all. */
static void show_coverage(FILE *to, const struct stat *stat)
{
    uint64_t span = stat->last - stat->first;

    if (stat->filter.gate) {
        return;
    }
    if (!kev_info(stat->kev)->kymo) {
        fputs("  another kernel's capture: events that are missing go unnoticed\n", to);
    } else if (stat->common < span) {
        fprintf(to, "  all CPUs are covered for %.6f s of it: threads and messages are over that\n",
                stat_seconds(stat, stat->common));
    }
}

static void stat_text_show_head(FILE *to, struct stat *stat, const struct stat_style *style)
{
    const struct kev_info *info = kev_info(stat->kev);
    const char *doubt = stat_doubt(stat);
    uint64_t span = stat->last - stat->first;
    double seconds = stat_seconds(stat, span);

    (void)style;
    put_path(to, info->path);
    fputs("\n  ", to);
    if (info->kymo) {
        put_safe(to, info->board);
        fputs(", ", to);
        put_safe(to, info->cpu_name);
        fputs(", ", to);
    }
    fprintf(to, "%u CPU%s, trace clock %.6g MHz%s\n", info->ncpu, info->ncpu == 1 ? "" : "s",
            (double)info->cycles_per_sec / 1e6, info->clock_known ? "" : " (assumed)");
    stat_text_show_origin(to, stat);
    fprintf(to, "  %.6f s, %" PRIu64 " events", seconds, stat->events);
    if (event_rate(stat) > 0) {
        fprintf(to, " (%.0f/s)", event_rate(stat));
    }
    fprintf(to, " in %" PRIu64 " buffers, ", info->buffers);
    if (stat->lost > 0) {
        fprintf(to, "%" PRIu64 " lost", stat->lost);
    } else if (stat_overwritten(stat) > 0) {
        fprintf(to, "%" PRIu64 " older buffers overwritten by the ring", stat_overwritten(stat));
    } else {
        fputs("none lost", to);
    }
    fprintf(to, "%s%s\n", doubt == NULL ? "" : ", but ", doubt == NULL ? "" : doubt);
    show_filters(to, stat);
    show_coverage(to, stat);
    show_crash(to, info);
    if (stat->injected > 0) {
        fprintf(to,
                "  besides, %" PRIu64 " events that were added afterwards: names, why it ended\n",
                stat->injected);
    }
    if (stat->overflow > 0) {
        fprintf(to, "  %" PRIu64 " events concern more threads or processes than are counted\n",
                stat->overflow);
    }
}

static uint64_t cpu_lost(const struct cpu *cpu)
{
    uint64_t lost = 0;

    for (unsigned reason = 0; reason < KYMO_TRACE_REASONS; reason++) {
        for (unsigned class = 0; class < KEV_CLASSES; class ++) {
            lost += cpu->lost[reason][class];
        }
    }
    return lost;
}

/* "12.3 %", or "-" if nothing is known. */
static void put_share(FILE *to, int columns, int digits, uint64_t part, uint64_t whole)
{
    if (whole == 0) {
        fprintf(to, " %*s", columns, "-");
    } else {
        fprintf(to, " %*.*f %%", columns - 2, digits, stat_percent(part, whole));
    }
}

const char *text_fold(const struct stat_style *style)
{
    return style->columns > 0 && style->columns < STAT_COLUMNS ? "\n     " : "";
}

static unsigned stat_text_indent(const char *line, size_t n, unsigned columns)
{
    (void)line;
    (void)n;
    (void)columns;
    return STAT_INDENT;
}

/* A part of the text whose lines are words. */
static void stat_text_wrap(FILE *to, struct stat *stat, const struct stat_style *style,
                           void (*show)(FILE *, struct stat *, const struct stat_style *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *part;

    if (style->columns == 0) {
        show(to, stat, style);
        return;
    }
    part = kymo_memory(memory_stream(&text, &size));
    show(part, stat, style);
    if (fclose(part) != 0) {
        kymo_memory(NULL);
    }
    fold_text(to, text, style->columns, stat_text_indent);
    free(text);
}

static void stat_text_show_cpus(FILE *to, struct stat *stat, const struct stat_style *style)
{
    const struct kev_info *info = kev_info(stat->kev);

    text_title(to, style, "CPUs, over the time that each is covered");
    fprintf(to, "  %3s %8s %8s %8s %8s %10s%s %10s %8s %8s %10s\n", "cpu", "covered", "busy",
            "idle", "unknown", "interrupt", text_fold(style), "events", "buffers", "missing",
            "lost");
    for (unsigned i = 0; i < info->ncpu && i < KEV_CPUS; i++) {
        const struct cpu *cpu = &stat->cpus[i];
        uint64_t covered = stat_cpu_covered(cpu);

        fprintf(to, "  %3u", i);
        put_share(to, 8, 1, covered, stat->last - stat->first);
        put_share(to, 8, 1, cpu->busy, cpu->busy + cpu->idle > 0 ? covered : 0);
        put_share(to, 8, 1, cpu->idle, cpu->busy + cpu->idle > 0 ? covered : 0);
        put_share(to, 8, 1, cpu->unknown, covered);
        put_share(to, 10, 2, cpu->irq_time, stat->filter.no_interrupts ? 0 : covered);
        fprintf(to, "%s %10" PRIu64 " %8" PRIu64 " %8" PRIu64 " %10" PRIu64 "\n", text_fold(style),
                cpu->events, info->cpu[i].buffers, info->cpu[i].missing, cpu_lost(cpu));
    }
}

void text_show(FILE *to, struct stat *stat, const struct stat_style *style)
{
    stat_text_wrap(to, stat, style, stat_text_show_head);
    stat_text_show_cpus(to, stat, style);
    text_threads(to, stat, style);
    text_messages(to, stat, style);
    text_calls(to, stat, style);
    text_events(to, stat, style);
    stat_text_wrap(to, stat, style, text_losses);
}
