/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The account as one JSON object for programs. Times in nanoseconds. Keys are stable: new ones may
 * come, none goes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/json_text.h"
#include "host/record.h"
#include "host/stat/stat.h"

static uint64_t stat_json_put_ns(const struct stat *stat, uint64_t cycles)
{
    uint64_t hz = kev_info(stat->kev)->cycles_per_sec;

    return (uint64_t)((unsigned __int128)cycles * 1000000000u / hz);
}

/* Since the capture's first event. */
static uint64_t at_ns(const struct stat *stat, uint64_t time)
{
    return stat_json_put_ns(stat, time > stat->first ? time - stat->first : 0);
}

static void key_string(FILE *to, const char *key, const char *text)
{
    fprintf(to, "\"%s\":", key);
    json_put(to, text == NULL ? "" : text);
}

static void stat_json_put_date(FILE *to, const struct stat *stat, const char *key,
                               const char *attribute)
{
    struct tm when = {0};
    char text[32] = "";

    fprintf(to, "\"%s\":", key);
    if (!stat_date(stat, attribute, &when)) {
        fputs("null,", to);
        return;
    }
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &when);
    fprintf(to, "\"%s%s\",", text, kev_info(stat->kev)->kymo ? "Z" : "");
}

/* Prints when it was recorded, and of which image; null or "": unknown. */
static void stat_json_show_origin(FILE *to, const struct stat *stat)
{
    const struct kev_info *info = kev_info(stat->kev);

    stat_json_put_date(to, stat, "date", "DATE");
    stat_json_put_date(to, stat, "boot_date", "BOOT_DATE");
    key_string(to, "image", info->image);
    fputs(",\"build_id\":\"", to);
    for (unsigned i = 0; i < info->build_id_len; i++) {
        fprintf(to, "%02x", info->build_id[i]);
    }
    fputs("\",\n", to);
}

static void stat_json_show_head(FILE *to, struct stat *stat)
{
    const struct kev_info *info = kev_info(stat->kev);

    fputc('{', to);
    key_string(to, "file", info->path);
    fputc(',', to);
    key_string(to, "board", info->board);
    fputc(',', to);
    key_string(to, "cpu_name", info->cpu_name);
    fputc(',', to);
    key_string(to, "release", info->release);
    fputs(",\n", to);
    stat_json_show_origin(to, stat);
    fprintf(to,
            "\"kymo\":%s,\"ncpu\":%u,\"cycles_per_sec\":%" PRIu64 ",\"clock_known\":%s,"
            "\"first_cycles\":%" PRIu64 ",\"last_cycles\":%" PRIu64 ",\"duration_ns\":%" PRIu64
            ",\"covered_ns\":%" PRIu64 ",\"overwritten_buffers\":%" PRIu64 ",\"events\":%" PRIu64
            ",\"lost\":%" PRIu64 ",\"buffers\":%" PRIu64 ",\"injected\":%" PRIu64
            ",\"not_counted\":%" PRIu64 ",\"complete\":%s,\n",
            info->kymo ? "true" : "false", info->ncpu, info->cycles_per_sec,
            info->clock_known ? "true" : "false", stat->first, stat->last,
            stat_json_put_ns(stat, stat->last - stat->first), stat_json_put_ns(stat, stat->common),
            stat_overwritten(stat), stat->events, stat->lost, info->buffers, stat->injected,
            stat->overflow, stat_doubt(stat) == NULL ? "true" : "false");
}

/* The filters: as they were at START. */
static void show_recorded(FILE *to, struct stat *stat)
{
    const struct kev_info *info = kev_info(stat->kev);
    const struct stat_filter *filter = &stat->filter;
    const char *comma = "";

    fputs("\"recorded\":{\"filters\":[", to);
    for (unsigned i = 0; i < info->nattrs; i++) {
        if (strncmp(info->attrs[i].key, "FILTER_", 7) == 0) {
            fputs(comma, to);
            json_put(to, info->attrs[i].value);
            comma = ",";
        }
    }
    fprintf(to, "],\"stated\":%s,\"gate\":%s,\"applications\":%s,\"changed_at_ns\":",
            filter->stated ? "true" : "false", filter->gate ? "true" : "false",
            filter->applications ? "true" : "false");
    if (filter->changed) {
        fprintf(to, "%" PRIu64, at_ns(stat, filter->changed_at));
    } else {
        fputs("null", to);
    }
    fputs("},\n", to);
}

static void show_classes(FILE *to, struct stat *stat)
{
    const char *comma = "";

    fputs("\"classes\":{", to);
    for (unsigned class = 0; class < KEV_CLASSES; class ++) {
        if (stat->by_class[class] > 0) {
            fputs(comma, to);
            json_put(to, kev_class_name(class));
            fprintf(to, ":%" PRIu64, stat->by_class[class]);
            comma = ",";
        }
    }
    fputs("},\n", to);
}

/* By class and number. A kernel call's number is the call's, its class says entry or return. */
static void stat_json_show_events(FILE *to, struct stat *stat)
{
    const char *comma = "\n";

    fputs("\"event_counts\":[", to);
    for (unsigned i = 0; i < KEV_CLASSES * (TRACE_EVENT_MASK + 1); i++) {
        struct kev_event event = {.class = (uint8_t)(i / (TRACE_EVENT_MASK + 1)),
                                  .number = (uint16_t)(i % (TRACE_EVENT_MASK + 1))};
        uint64_t count = stat->by_event[event.class][event.number];
        struct record record;

        if (count > 0) {
            record_name(&record, stat->kev, &event);
            fprintf(to, "%s{", comma);
            key_string(to, "class", record.class);
            fputs(",\"event\":", to);
            json_put(to, record.event);
            fprintf(to, ",\"number\":%u,\"count\":%" PRIu64 "}", record.number, count);
            comma = ",\n";
        }
    }
    fputs("],\n", to);
}

static void stat_json_show_cpus(FILE *to, struct stat *stat)
{
    const struct kev_info *info = kev_info(stat->kev);

    fputs("\"cpus\":[", to);
    for (unsigned i = 0; i < info->ncpu && i < KEV_CPUS; i++) {
        const struct cpu *cpu = &stat->cpus[i];
        const struct kev_cpu_info *from = &info->cpu[i];

        fprintf(to,
                "%s{\"cpu\":%u,\"covered_ns\":%" PRIu64 ",\"busy_ns\":%" PRIu64
                ",\"idle_ns\":%" PRIu64 ",\"unknown_ns\":%" PRIu64 ",\"interrupt_ns\":%" PRIu64
                ",\"events\":%" PRIu64 ",\"buffers\":%" PRIu64
                ",\"first_sequence\":%u,\"last_sequence\":%u,\"gaps\":%" PRIu64
                ",\"missing_buffers\":%" PRIu64 "}",
                i == 0 ? "\n" : ",\n", i, stat_json_put_ns(stat, stat_cpu_covered(cpu)),
                stat_json_put_ns(stat, cpu->busy), stat_json_put_ns(stat, cpu->idle),
                stat_json_put_ns(stat, cpu->unknown), stat_json_put_ns(stat, cpu->irq_time),
                cpu->events, from->buffers, from->first_sequence, from->last_sequence, from->gaps,
                from->missing);
    }
    fputs("],\n", to);
}

/* Buffers that are not there: they were in the capture, or no DROPPED accounts for them. */
static void show_missing(FILE *to, struct stat *stat)
{
    const struct kev_info *info = kev_info(stat->kev);

    fputs("\"missing\":[", to);
    for (unsigned i = 0; i < info->nmissing; i++) {
        fprintf(to,
                "%s{\"cpu\":%u,\"first\":%" PRIu32 ",\"last\":%" PRIu32 ",\"buffers\":%" PRIu32
                ",\"written\":%s}",
                i == 0 ? "\n" : ",\n", info->missing[i].cpu, info->missing[i].first,
                info->missing[i].last, info->missing[i].buffers,
                info->missing[i].written ? "true" : "false");
    }
    fprintf(to, "],\n\"missing_bytes\":%" PRIu64 ",\n\"recycled\":%" PRIu64 ",\n",
            info->missing_bytes, stat->recycled);
}

/* The life only if the ids have been used again, as in kymo why. */
static void stat_json_put_ids(FILE *to, const char *pid, const char *tid, const char *life,
                              const struct thread *thread)
{
    fprintf(to, "\"%s\":%d,\"%s\":%d", pid, thread->pid, tid, thread->tid);
    if (thread->life > 1) {
        fprintf(to, ",\"%s\":%" PRIu32, life, thread->life);
    }
}

static void stat_json_show_thread(FILE *to, struct stat *stat, const struct thread *thread)
{
    bool idle = stat_is_idle(stat, thread->pid, thread->tid);
    const char *comma = "";

    fputc('{', to);
    stat_json_put_ids(to, "pid", "tid", "life", thread);
    fputc(',', to);
    key_string(to, "process", process_name(thread->process));
    fputc(',', to);
    key_string(to, "name", thread->name);
    fprintf(to,
            ",\"runs\":%" PRIu64 ",\"migrations\":%" PRIu64 ",\"idle\":%s,\"covered_ns\":%" PRIu64
            ",\"imposed_ns\":%" PRIu64 ",\"states_ns\":{",
            thread->runs, thread->migrations, idle ? "true" : "false",
            stat_json_put_ns(stat, stat_thread_covered(stat, thread)),
            stat_json_put_ns(stat, thread->imposed));
    for (unsigned i = 0; i < STATE_MAX; i++) {
        const char *name = kev_state_name(stat->kev, i);
        uint64_t time = i == STATE_RUNNING ? stat_thread_running(stat, thread) : thread->time[i];

        if (time > 0 && name != NULL && (!idle || i == STATE_RUNNING)) {
            fputs(comma, to);
            json_put(to, strncmp(name, "TH", 2) == 0 ? name + 2 : name);
            fprintf(to, ":%" PRIu64, stat_json_put_ns(stat, time));
            comma = ",";
        }
    }
    fputs("}}", to);
}

static void show_threads(FILE *to, struct stat *stat)
{
    uint32_t n;
    struct thread **threads = threads_by_time(stat, &n);

    fputs("\"threads\":[", to);
    for (uint32_t i = 0; threads != NULL && i < n; i++) {
        fputs(i == 0 ? "\n" : ",\n", to);
        stat_json_show_thread(to, stat, threads[i]);
    }
    fputs("],\n", to);
    free(threads);
}

/* [[from, to, count], ...] */
static void show_steps(FILE *to, const struct stat *stat, const struct hist *hist)
{
    struct hist_step steps[HIST_STEPS_MOST];
    unsigned n = hist_steps(hist, steps);

    fputs(",\"steps_ns\":[", to);
    for (unsigned i = 0; i < n; i++) {
        fprintf(to, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", i == 0 ? "" : ",",
                stat_json_put_ns(stat, steps[i].from), stat_json_put_ns(stat, steps[i].to),
                steps[i].count);
    }
    fputc(']', to);
}

static void show_hist(FILE *to, const struct stat *stat, const char *key, const struct hist *hist)
{
    fprintf(to, ",\"%s\":{\"count\":%" PRIu64, key, hist->count);
    if (hist->count > 0) {
        fprintf(to,
                ",\"min_ns\":%" PRIu64 ",\"mean_ns\":%" PRIu64 ",\"p50_ns\":%" PRIu64
                ",\"p90_ns\":%" PRIu64 ",\"p99_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64
                ",\"max_at_ns\":%" PRIu64,
                stat_json_put_ns(stat, hist->min), stat_json_put_ns(stat, hist->sum / hist->count),
                stat_json_put_ns(stat, hist_percentile(hist, 50)),
                stat_json_put_ns(stat, hist_percentile(hist, 90)),
                stat_json_put_ns(stat, hist_percentile(hist, 99)),
                stat_json_put_ns(stat, hist->max), at_ns(stat, hist->max_at));
        show_steps(to, stat, hist);
    }
    fputc('}', to);
}

static void show_messages(FILE *to, struct stat *stat)
{
    uint32_t n;
    struct pair **pairs = pairs_by_count(stat, &n);

    fputs("\"messages\":[", to);
    for (uint32_t i = 0; pairs != NULL && i < n; i++) {
        fprintf(to, "%s{\"from\":%d,\"to\":%d,", i == 0 ? "\n" : ",\n",
                pairs[i]->from == NULL ? 0 : pairs[i]->from->pid, pairs[i]->to->pid);
        key_string(to, "from_name", process_name(pairs[i]->from));
        fputc(',', to);
        key_string(to, "to_name", process_name(pairs[i]->to));
        fprintf(to, ",\"sent\":%" PRIu64 ",\"replied\":%" PRIu64 ",\"errors\":%" PRIu64,
                pairs[i]->sent, pairs[i]->replied, pairs[i]->errors);
        show_hist(to, stat, "latency", &pairs[i]->latency);
        show_hist(to, stat, "wait", &pairs[i]->wait);
        fputc('}', to);
    }
    fputs("],\n", to);
    free(pairs);
}

static void stat_json_put_time(FILE *to, const struct stat *stat, const char *key, bool known,
                               uint64_t time)
{
    fprintf(to, ",\"%s\":", key);
    if (known) {
        fprintf(to, "%" PRIu64, at_ns(stat, time));
    } else {
        fputs("null", to);
    }
}

static void stat_json_show_slow(FILE *to, const struct stat *stat, const struct slow *slow)
{
    fputc('{', to);
    stat_json_put_ids(to, "pid", "tid", "life", slow->client);
    if (slow->server != NULL) {
        fputc(',', to);
        stat_json_put_ids(to, "server_pid", "server_tid", "server_life", slow->server);
    } else {
        fprintf(to, ",\"server_pid\":%d,\"server_tid\":null", slow->to->pid);
    }
    stat_json_put_time(to, stat, "sent_at_ns", true, slow->sent);
    stat_json_put_time(to, stat, "received_at_ns", slow->received > 0, slow->received);
    stat_json_put_time(to, stat, "replied_at_ns", !slow->aborted, slow->ended);
    fprintf(to, ",\"latency_ns\":%" PRIu64 ",\"error\":%s%s}",
            stat_json_put_ns(stat, slow->ended - slow->sent), slow->error ? "true" : "false",
            slow->aborted ? ",\"aborted\":true" : "");
}

static void stat_json_show_slowest(FILE *to, struct stat *stat)
{
    fputs("\"slowest_messages\":[", to);
    for (unsigned i = 0; i < stat->nslowest; i++) {
        fputs(i == 0 ? "\n" : ",\n", to);
        stat_json_show_slow(to, stat, &stat->slowest[i]);
    }
    fputs("],\n", to);
}

static void stat_json_show_served(FILE *to, struct stat *stat)
{
    uint32_t n;
    struct served **served = served_by_time(stat, &n);

    fputs("\"imposed\":[", to);
    for (uint32_t i = 0; served != NULL && i < n; i++) {
        const struct process *server = served[i]->server;

        fputs(i == 0 ? "\n{" : ",\n{", to);
        stat_json_put_ids(to, "pid", "tid", "life", served[i]->client);
        fprintf(to, ",\"server_pid\":%d,\"time_ns\":%" PRIu64 ",\"server_running_ns\":%" PRIu64 "}",
                server == NULL ? 0 : server->pid, stat_json_put_ns(stat, served[i]->time),
                stat_json_put_ns(stat, server == NULL ? 0 : server->running));
    }
    fputs("],\n", to);
    free(served);
}

static void stat_json_show_pulses(FILE *to, struct stat *stat)
{
    uint32_t n;
    const struct process **pulses = pulses_by_pid(stat, &n);

    fputs("\"pulses\":[", to);
    for (uint32_t i = 0; pulses != NULL && i < n; i++) {
        const uint64_t *count = pulses[i]->pulses;

        fprintf(to,
                "%s{\"to\":%d,\"sent\":%" PRIu64 ",\"events\":%" PRIu64 ",\"disconnects\":%" PRIu64
                ",\"deaths\":%" PRIu64 ",\"unblocks\":%" PRIu64 ",\"received\":%" PRIu64 "}",
                i == 0 ? "\n" : ",\n", pulses[i]->pid, count[1], count[4], count[5], count[6],
                count[7] + count[8], count[3]);
    }
    fputs("],\n", to);
    free(pulses);
}

static void stat_json_show_irqs(FILE *to, struct stat *stat)
{
    const char *comma = "\n";

    fputs("\"interrupts\":[", to);
    for (unsigned line = 0; line < STAT_IRQS; line++) {
        const struct irq *irq = &stat->irqs[line];

        if (irq->count + irq->handlers > 0) {
            fprintf(to, "%s{\"line\":%u,", comma, line);
            key_string(to, "name", kev_irq_name(stat->kev, line));
            fprintf(to,
                    ",\"count\":%" PRIu64 ",\"delivered\":%" PRIu64 ",\"timed\":%" PRIu64
                    ",\"time_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64 ",\"max_at_ns\":%" PRIu64
                    ",\"per_s\":%.3f,\"cpu_percent\":%.4f}",
                    irq->count, irq->handlers, irq->timed, stat_json_put_ns(stat, irq->time),
                    stat_json_put_ns(stat, irq->max), at_ns(stat, irq->max_at), irq_rate(stat, irq),
                    irq_percent(stat, irq));
            comma = ",\n";
        }
    }
    fputs("],\n", to);
}

static void stat_json_show_errors(FILE *to, struct stat *stat, const struct call *call)
{
    const char *comma = "";

    fputs(",\"by_errno\":[", to);
    for (unsigned error = 0; error < STAT_ERRORS; error++) {
        if (call->by_error[error] > 0) {
            const char *name = kev_error_name(stat->kev, error);

            fprintf(to, "%s{\"errno\":%u,", comma, error);
            if (name == NULL) {
                fputs("\"error\":null", to);
            } else {
                key_string(to, "error", name);
            }
            fprintf(to, ",\"count\":%" PRIu64 "}", call->by_error[error]);
            comma = ",";
        }
    }
    fputs("]", to);
}

static void stat_json_show_calls(FILE *to, struct stat *stat)
{
    unsigned order[STAT_CALLS];
    unsigned n = calls_by_count(stat, order);

    fputs("\"kernel_calls\":[", to);
    for (unsigned i = 0; i < n; i++) {
        const struct call *call = &stat->calls[order[i]];

        fprintf(to, "%s{\"number\":%u,", i == 0 ? "\n" : ",\n", order[i]);
        key_string(to, "name", kev_call_name(stat->kev, order[i]));
        fprintf(to,
                ",\"entered\":%" PRIu64 ",\"returned\":%" PRIu64 ",\"errors\":%" PRIu64
                ",\"interrupted\":%" PRIu64,
                call->enter, call->exit, call->errors, call->interrupted);
        stat_json_show_errors(to, stat, call);
        fputs("}", to);
    }
    fputs("],\n", to);
}

static void show_losses(FILE *to, struct stat *stat)
{
    const char *comma = "\n";

    fputs("\"losses\":[", to);
    for (unsigned i = 0; i < KEV_CPUS * KYMO_TRACE_REASONS * KEV_CLASSES; i++) {
        unsigned class = i % KEV_CLASSES;
        unsigned reason = i / KEV_CLASSES % KYMO_TRACE_REASONS;
        unsigned cpu = i / KEV_CLASSES / KYMO_TRACE_REASONS;
        uint64_t lost = stat->cpus[cpu].lost[reason][class];

        if (lost > 0) {
            fprintf(to, "%s{\"cpu\":%u,\"reason\":%u,", comma, cpu, reason);
            key_string(to, "class", kev_class_name(class));
            fprintf(to, ",\"events\":%" PRIu64 "}", lost);
            comma = ",\n";
        }
    }
    fputs("]}\n", to);
}

void json_show(FILE *to, struct stat *stat)
{
    stat_json_show_head(to, stat);
    show_recorded(to, stat);
    show_classes(to, stat);
    stat_json_show_events(to, stat);
    stat_json_show_cpus(to, stat);
    show_missing(to, stat);
    show_threads(to, stat);
    show_messages(to, stat);
    stat_json_show_slowest(to, stat);
    stat_json_show_served(to, stat);
    stat_json_show_pulses(to, stat);
    stat_json_show_irqs(to, stat);
    stat_json_show_calls(to, stat);
    show_losses(to, stat);
}
