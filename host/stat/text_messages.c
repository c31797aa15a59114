/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of messages and pulses between processes, and of servers' work for clients. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/life.h"
#include "host/stat/stat.h"

#define NAME_COLUMNS 20
#define THREAD_COLUMNS 24

/* Name and pid in NAME_COLUMNS: the name gives way. */
static void show_process(FILE *to, const struct process *process)
{
    char name[NAME_COLUMNS + 1], number[16];
    int room;

    if (process == NULL) {
        fprintf(to, "%-*s", NAME_COLUMNS, "?");
        return;
    }
    room = NAME_COLUMNS - snprintf(number, sizeof(number), " (%d)", process->pid);
    snprintf(name, sizeof(name), "%.*s%s", room, process_name(process), number);
    fprintf(to, "%-*s", NAME_COLUMNS, name);
}

static void show_pair(FILE *to, struct stat *stat, const struct pair *pair,
                      const struct stat_style *style)
{
    static const unsigned percents[] = {50, 90, 99};
    char time[24];

    fputs("  ", to);
    show_process(to, pair->from);
    fputs(" -> ", to);
    show_process(to, pair->to);
    fprintf(to, " %9" PRIu64 " %7" PRIu64, pair->sent, pair->errors);
    if (pair->latency.count == 0) {
        fputs("         -\n", to);
        return;
    }
    fputs(text_fold(style), to);
    for (unsigned i = 0; i < 3; i++) {
        fprintf(to, " %9s", text_time(stat, hist_percentile(&pair->latency, percents[i]), time));
    }
    fprintf(to, " %9s %12.6f\n", text_time(stat, pair->latency.max, time),
            stat_seconds(stat, pair->latency.max_at - stat->first));
}

static void stat_messages_show_rest(FILE *to, uint32_t n)
{
    if (n > 0) {
        fprintf(to, "  %u more (--all shows them)\n", n);
    }
}

static void show_pairs(FILE *to, struct stat *stat, const struct stat_style *style)
{
    uint32_t n, rows;
    struct pair **pairs = pairs_by_count(stat, &n);

    if (pairs != NULL && n > 0) {
        text_title(to, style, "Messages, from send to reply");
        fprintf(to, "  %-*s    %-*s %9s %7s%s %9s %9s %9s %9s %12s\n", NAME_COLUMNS, "sender",
                NAME_COLUMNS, "receiver", "sent", "errors", text_fold(style), "p50", "p90", "p99",
                "max", "at s");
        rows = style->all || n <= STAT_ROWS ? n : STAT_ROWS;
        for (uint32_t i = 0; i < rows; i++) {
            show_pair(to, stat, pairs[i], style);
        }
        stat_messages_show_rest(to, n - rows);
    }
    free(pairs);
}

/* Name, pid and thread; thread: NULL if it is not known, and not shown. */
static void stat_messages_show_thread(FILE *to, const struct process *process,
                                      const struct thread *thread)
{
    char number[LIFE_TEXT + 16], tid[LIFE_TEXT];
    int32_t pid = process == NULL ? thread == NULL ? 0 : thread->pid : process->pid;
    int room = thread != NULL ? snprintf(number, sizeof(number), " (%d/%s)", pid,
                                         life_tid_text(thread->tid, thread->life, tid))
                              : snprintf(number, sizeof(number), " (%d)", pid);

    const char *name = process_name(process);

    room = room < THREAD_COLUMNS ? THREAD_COLUMNS - room : 0;
    fprintf(to, "%.*s%-*s", room, name, THREAD_COLUMNS - (int)strnlen(name, (size_t)room), number);
}

static void stat_messages_show_slowest(FILE *to, struct stat *stat, const struct stat_style *style)
{
    if (stat->nslowest == 0) {
        return;
    }
    text_title(to, style, "Slowest messages");
    fprintf(to, "  %-*s    %-*s%s %12s %9s %9s %9s\n", THREAD_COLUMNS, "client", THREAD_COLUMNS,
            "server", text_fold(style), "sent at s", "received", "replied", "in all");
    for (unsigned i = 0; i < stat->nslowest; i++) {
        const struct slow *slow = &stat->slowest[i];
        char received[24] = "-", replied[24] = "-", all[24];

        if (slow->received > 0) {
            text_time(stat, slow->received - slow->sent, received);
        }
        if (slow->received > 0 && !slow->aborted) {
            text_time(stat, slow->ended - slow->received, replied);
        }
        fputs("  ", to);
        stat_messages_show_thread(to, slow->client->process, slow->client);
        fputs(" -> ", to);
        stat_messages_show_thread(to, slow->to, slow->server);
        fprintf(to, "%s %12.6f %9s %9s %9s%s\n", text_fold(style),
                stat_seconds(stat, slow->sent - stat->first), received, replied,
                text_time(stat, slow->ended - slow->sent, all),
                slow->error     ? " error"
                : slow->aborted ? " no reply"
                                : "");
    }
}

static void stat_messages_show_served(FILE *to, struct stat *stat, const struct stat_style *style)
{
    uint32_t n, rows;
    struct served **served = served_by_time(stat, &n);

    if (served != NULL && n > 0) {
        text_title(to, style, "Servers' CPU time, by the threads that caused it");
        fprintf(to, "  %-*s    %-*s %9s %12s\n", THREAD_COLUMNS, "client", NAME_COLUMNS, "server",
                "cpu time", "of server's");
        rows = style->all || n <= STAT_ROWS ? n : STAT_ROWS;
        for (uint32_t i = 0; i < rows; i++) {
            const struct thread *client = served[i]->client;
            const struct process *server = served[i]->server;
            char time[24];

            fputs("  ", to);
            stat_messages_show_thread(to, client->process, client);
            fputs(" -> ", to);
            show_process(to, server);
            fprintf(to, " %9s %10.2f %%\n", text_time(stat, served[i]->time, time),
                    stat_percent(served[i]->time, server == NULL ? 0 : server->running));
        }
        stat_messages_show_rest(to, n - rows);
    }
    free(served);
}

static void stat_messages_show_pulses(FILE *to, struct stat *stat, const struct stat_style *style)
{
    uint32_t n, rows;
    const struct process **pulses = pulses_by_pid(stat, &n);

    if (pulses != NULL && n > 0) {
        text_title(to, style, "Pulses");
        fprintf(to, "  %-*s %9s %9s %9s %9s\n", NAME_COLUMNS, "receiver", "threads", "events",
                "system", "received");
        rows = style->all || n <= STAT_ROWS ? n : STAT_ROWS;
        for (uint32_t i = 0; i < rows; i++) {
            const uint64_t *count = pulses[i]->pulses;

            fputs("  ", to);
            show_process(to, pulses[i]);
            fprintf(to, " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 "\n", count[1],
                    count[4], count[5] + count[6] + count[7] + count[8], count[3]);
        }
        stat_messages_show_rest(to, n - rows);
    }
    free(pulses);
}

void text_messages(FILE *to, struct stat *stat, const struct stat_style *style)
{
    show_pairs(to, stat, style);
    stat_messages_show_slowest(to, stat, style);
    stat_messages_show_served(to, stat, style);
    stat_messages_show_pulses(to, stat, style);
}
