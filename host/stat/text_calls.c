/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of interrupts, kernel calls and losses.
 */
#include <inttypes.h>

#include "host/stat/stat.h"

double irq_rate(const struct stat *stat, const struct irq *irq)
{
    double rate = 0;

    for (unsigned i = 0; i < KEV_CPUS; i++) {
        uint64_t covered = stat_cpu_covered(&stat->cpus[i]);

        rate += covered > 0 ? (double)irq->counted[i] / stat_seconds(stat, covered) : 0;
    }
    return rate;
}

double irq_percent(const struct stat *stat, const struct irq *irq)
{
    double percent = 0;

    for (unsigned i = 0; i < KEV_CPUS; i++) {
        percent += stat_percent(irq->taken[i], stat_cpu_covered(&stat->cpus[i]));
    }
    return percent;
}

static void show_irq(FILE *to, struct stat *stat, unsigned line, const struct stat_style *style)
{
    const struct irq *irq = &stat->irqs[line];
    const char *name = kev_irq_name(stat->kev, line);
    char mean[24], max[24];

    fprintf(to, "  %5u %-16s %9" PRIu64 " %9.1f", line, name == NULL ? "" : name, irq->count,
            irq_rate(stat, irq));
    if (irq->timed == 0) {
        fprintf(to, " %9s\n", "-");
        return;
    }
    fprintf(to, " %9s %9s%s %12.6f %9.3f %%\n", text_time(stat, irq->time / irq->timed, mean),
            text_time(stat, irq->max, max), text_fold(style),
            stat_seconds(stat, irq->max_at - stat->first), irq_percent(stat, irq));
}

static void stat_text_show_irqs(FILE *to, struct stat *stat, const struct stat_style *style)
{
    bool title = false;

    for (unsigned line = 0; line < STAT_IRQS; line++) {
        if (stat->irqs[line].count + stat->irqs[line].handlers == 0) {
            continue;
        }
        if (!title) {
            text_title(to, style, "Interrupts, time in their first part");
            fprintf(to, "  %5s %-16s %9s %9s %9s %9s%s %12s %11s\n", "line", "name", "count",
                    "per s", "mean", "max", text_fold(style), "at s", "of the time");
            title = true;
        }
        show_irq(to, stat, line, style);
    }
}

static void stat_text_show_calls(FILE *to, struct stat *stat, const struct stat_style *style)
{
    unsigned order[STAT_CALLS];
    unsigned n = calls_by_count(stat, order);

    if (n == 0) {
        return;
    }
    text_title(to, style, "Kernel calls");
    fprintf(to, "  %-22s %10s %10s %10s %12s\n", "name", "entered", "returned", "errors",
            "interrupted");
    for (unsigned i = 0; i < n; i++) {
        const struct call *call = &stat->calls[order[i]];
        const char *name = kev_call_name(stat->kev, order[i]);
        char number[16];

        snprintf(number, sizeof(number), "call %u", order[i]);
        fprintf(to, "  %-22s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %12" PRIu64 "\n",
                name == NULL ? number : name, call->enter, call->exit, call->errors,
                call->interrupted);
    }
}

/* Only of captures that name their errors: other kernels number them differently. */
static void stat_text_show_errors(FILE *to, struct stat *stat, const struct stat_style *style)
{
    unsigned order[STAT_CALLS];
    unsigned n = calls_by_count(stat, order);
    bool title = false;

    for (unsigned i = 0; i < n * STAT_ERRORS; i++) {
        unsigned call = order[i / STAT_ERRORS], error = i % STAT_ERRORS;
        const char *call_name = kev_call_name(stat->kev, call);
        const char *error_name = kev_error_name(stat->kev, error);

        if (stat->calls[call].by_error[error] == 0 || error_name == NULL) {
            continue;
        }
        if (!title) {
            text_title(to, style, "Errors of kernel calls");
            fprintf(to, "  %-22s %-14s %5s %10s\n", "name", "error", "errno", "count");
            title = true;
        }
        fprintf(to, "  %-22s %-14s %5u %10" PRIu64 "\n", call_name == NULL ? "" : call_name,
                error_name, error, stat->calls[call].by_error[error]);
    }
}

void text_calls(FILE *to, struct stat *stat, const struct stat_style *style)
{
    stat_text_show_irqs(to, stat, style);
    stat_text_show_calls(to, stat, style);
    stat_text_show_errors(to, stat, style);
}

static const char *const stat_text_reason_names[KYMO_DROP_REASONS] = {[0] = "other",
#define R(number, name, text, doc) [number] = text,
                                                                      KYMO_DROP_REASON_LIST(R)
#undef R
};

static void show_cpu_losses(FILE *to, struct stat *stat, unsigned cpu)
{
    for (unsigned reason = 0; reason < KYMO_TRACE_REASONS; reason++) {
        for (unsigned class = 0; class < KEV_CLASSES; class ++) {
            uint64_t lost = stat->cpus[cpu].lost[reason][class];

            if (lost > 0) {
                fprintf(to, "  %3u %-10s %-14s %12" PRIu64 "\n", cpu, kev_class_name(class),
                        stat_text_reason_names[reason] == NULL ? "other"
                                                               : stat_text_reason_names[reason],
                        lost);
            }
        }
    }
}

void text_losses(FILE *to, struct stat *stat, const struct stat_style *style)
{
    const struct kev_info *info = kev_info(stat->kev);
    const char *doubt = stat_doubt(stat);

    text_title(to, style, "Losses");
    if (doubt != NULL) {
        fprintf(to, "  %s: there may be more\n", doubt);
    }
    if (stat_overwritten(stat) > 0) {
        fprintf(to,
                "  the ring overwrote %" PRIu64 " buffers before the first ones that are here\n",
                stat_overwritten(stat));
    }
    if (stat->recycled > 0) {
        fprintf(to, "  the ring recycled %" PRIu64 " events between its runs\n", stat->recycled);
    }
    if (stat->lost == 0) {
        fprintf(to, "  no event was %s%s\n", doubt == NULL ? "lost" : "counted as lost",
                stat_overwritten(stat) > 0 ? " after those" : "");
    } else {
        fprintf(to, "  %3s %-10s %-14s %12s\n", "cpu", "class", "reason", "events");
        for (unsigned i = 0; i < KEV_CPUS; i++) {
            show_cpu_losses(to, stat, i);
        }
    }
    for (unsigned i = 0; i < KEV_CPUS; i++) {
        if (info->cpu[i].missing > 0) {
            fprintf(to,
                    "  CPU %u: %" PRIu64 " buffers are missing in %" PRIu64
                    " places of the sequence %u to %u\n",
                    i, info->cpu[i].missing, info->cpu[i].gaps, info->cpu[i].first_sequence,
                    info->cpu[i].last_sequence);
        }
    }
}
