/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of threads: CPU time, and the shares of the states it was in, the largest first.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/life.h"
#include "host/stat/stat.h"

#define NAME_COLUMNS 24
#define STATES_SHOWN 4
#define STATES_FOLDED 3 /* shown on a row's second line */

static void show_name(FILE *to, struct stat *stat, const struct thread *thread)
{
    char name[160];

    if (stat_is_idle(stat, thread->pid, thread->tid) && kev_info(stat->kev)->kymo) {
        snprintf(name, sizeof(name), "(idle, CPU %d)", thread->tid - 1);
    } else if (thread->name[0] != '\0') {
        snprintf(name, sizeof(name), "%s/%s", process_name(thread->process), thread->name);
    } else {
        snprintf(name, sizeof(name), "%s", process_name(thread->process));
    }
    fprintf(to, " %-*.*s", NAME_COLUMNS, NAME_COLUMNS, name);
}

static void show_state(FILE *to, struct stat *stat, unsigned state, double percent)
{
    const char *name = kev_state_name(stat->kev, state);

    if (name != NULL && strncmp(name, "TH", 2) == 0) {
        name += 2;
    }
    fprintf(to, " %s %.1f %%", name == NULL ? "?" : name, percent);
}

/* The blocked states by share. */
static void show_states(FILE *to, struct stat *stat, const struct thread *thread, uint64_t whole,
                        unsigned most_shown)
{
    bool shown[STATE_MAX] = {[STATE_DEAD] = true, [STATE_RUNNING] = true, [STATE_READY] = true};

    for (unsigned n = 0; n < most_shown; n++) {
        unsigned most = STATE_RUNNING;

        for (unsigned i = 0; i < STATE_MAX; i++) {
            if (!shown[i] && thread->time[i] > (most == STATE_RUNNING ? 0 : thread->time[most])) {
                most = i;
            }
        }
        if (most == STATE_RUNNING || stat_percent(thread->time[most], whole) < 0.05) {
            break;
        }
        shown[most] = true;
        fputs(n == 0 ? " " : "", to);
        show_state(to, stat, most, stat_percent(thread->time[most], whole));
    }
}

static void stat_threads_show_one(FILE *to, struct stat *stat, const struct thread *thread,
                                  const struct stat_style *style)
{
    uint64_t whole = stat_thread_covered(stat, thread);
    uint64_t running = stat_thread_running(stat, thread);
    bool idle = stat_is_idle(stat, thread->pid, thread->tid);
    char tid[LIFE_TEXT], time[24], share[24] = "-", ready[24] = "-", migrated[24] = "-";

    if (whole > 0) {
        snprintf(share, sizeof(share), "%.2f %%", stat_percent(running, whole));
    }
    if (whole > 0 && !idle) {
        snprintf(ready, sizeof(ready), "%.2f %%", stat_percent(thread->time[STATE_READY], whole));
    }
    if (whole > 0) {
        snprintf(migrated, sizeof(migrated), "%" PRIu64, thread->migrations);
    }
    fprintf(to, "  %8d %3s", thread->pid, life_tid_text(thread->tid, thread->life, tid));
    show_name(to, stat, thread);
    fprintf(to, " %9s %6.1f %% %8s %8s%s %8" PRIu64 " %8s",
            whole > 0 ? text_time(stat, running, time) : "-",
            stat_percent(whole, stat->last - stat->first), share, ready, text_fold(style),
            thread->runs, migrated);
    if (!idle) {
        show_states(to, stat, thread, whole,
                    text_fold(style)[0] == '\0' ? STATES_SHOWN : STATES_FOLDED);
    }
    fputc('\n', to);
}

/* The rest of the table in one row. */
static void stat_threads_show_rest(FILE *to, struct stat *stat, struct thread **threads, uint32_t n)
{
    uint64_t time = 0;
    char text[24];

    for (uint32_t i = 0; i < n; i++) {
        time += stat_thread_running(stat, threads[i]);
    }
    fprintf(to, "  %u more, together %s (--all shows them)\n", n, text_time(stat, time, text));
}

/* Returns how many rows come before the CPUs' idle threads, which stand last. */
static uint32_t idle_start(const struct stat *stat, struct thread **threads, uint32_t n)
{
    while (n > 0 && stat_is_idle(stat, threads[n - 1]->pid, threads[n - 1]->tid)) {
        n--;
    }
    return n;
}

void text_threads(FILE *to, struct stat *stat, const struct stat_style *style)
{
    uint32_t n, idle, rows;
    struct thread **threads = threads_by_time(stat, &n);

    if (threads == NULL || n == 0) {
        free(threads);
        return;
    }
    text_title(to, style, "Threads by CPU time, shares of the time that each is covered");
    fprintf(to, "  %8s %3s %-*s %9s %8s %8s %8s%s %8s %8s  %s\n", "pid", "tid", NAME_COLUMNS,
            "name", "cpu time", "covered", "running", "ready", text_fold(style), "runs", "migrated",
            "blocked");
    idle = idle_start(stat, threads, n);
    rows = style->all || idle <= STAT_ROWS ? idle : STAT_ROWS;
    for (uint32_t i = 0; i < n; i++) {
        if (i == rows && rows < idle) {
            stat_threads_show_rest(to, stat, threads + rows, idle - rows);
            i = idle;
        }
        if (i < n) {
            stat_threads_show_one(to, stat, threads[i], style);
        }
    }
    free(threads);
}
