/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The times that the account may claim: when each CPU is covered (host/reader/cover.c), the common
 * clock that counts while all of them are, and the epochs between its stops (stat.h). Proof:
 * test/host/stat/known_test.c.
 */
#include <stdlib.h>

#include "host/stat/stat.h"

/* Losses of these classes make what threads, messages and interrupts did unknown. */
#define COVER_CLASSES (1u << TRACE_CLASS_PR_TH | 1u << TRACE_CLASS_COMM | 1u << TRACE_CLASS_INT)

static bool turns_add(struct stat *stat, const struct turn *turn)
{
    if ((stat->nturns & (stat->nturns + 1)) == 0) { /* 0, 1, 3, 7 ...: full */
        struct turn *turns = realloc(stat->turns, (2 * stat->nturns + 1) * sizeof(*turns));

        if (turns == NULL) {
            return false;
        }
        stat->turns = turns;
    }
    stat->turns[stat->nturns++] = *turn;
    return true;
}

/* By time; at one time what begins comes first, so that CPUs that take over from each other leave
 * no hole. */
static int stat_cover_turn_order(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;

    if (x->time != y->time) {
        return x->time < y->time ? -1 : 1;
    }
    if (x->covered != y->covered) {
        return x->covered ? -1 : 1;
    }
    return (int)x->cpu - (int)y->cpu;
}

static bool cpu_cover(struct stat *stat, unsigned cpu)
{
    struct kev_cover cover = {.classes = COVER_CLASSES, .seams = stat->filter.pauses};
    struct kev_span *spans, whole = {0, UINT64_MAX};
    long n = kev_covered(stat->kev, cpu, &cover, &spans);
    bool good = true;

    if (n < 0 && kev_info(stat->kev)->kymo) {
        return false; /* no memory */
    }
    if (n < 0) { /* another kernel's: nothing says what is missing */
        n = 1;
    }
    for (long i = 0; good && i < n; i++) {
        const struct kev_span *span = spans == NULL ? &whole : &spans[i];

        good = turns_add(stat, &(struct turn){span->from, (uint8_t)cpu, true}) &&
               turns_add(stat, &(struct turn){span->to, (uint8_t)cpu, false});
    }
    free(spans);
    return good;
}

bool stat_cover(struct stat *stat)
{
    const struct kev_info *info = kev_info(stat->kev);
    bool all = info->board[0] != '\0' || !info->kymo; /* else the CPUs are unknown */

    for (unsigned cpu = 0; cpu < info->ncpu && cpu < KEV_CPUS; cpu++) {
        if (all || info->cpu[cpu].buffers > 0) {
            stat->cpus_all++;
            if (!stat->filter.gate && !cpu_cover(stat, cpu)) {
                return false;
            }
        }
    }
    stat->cpus_uncovered = stat->cpus_all;
    if (stat->nturns > 0) {
        qsort(stat->turns, stat->nturns, sizeof(*stat->turns), stat_cover_turn_order);
    }
    return true;
}

uint64_t stat_common(const struct stat *stat, uint64_t now)
{
    bool goes = stat->cpus_uncovered == 0 && now > stat->common_at;

    return stat->common + (goes ? now - stat->common_at : 0);
}

bool stat_known_since(const struct stat *stat, uint32_t epoch)
{
    return stat->cpus_uncovered == 0 && epoch == stat->epoch;
}

bool stat_is_idle(const struct stat *stat, int32_t pid, int32_t tid)
{
    return pid == STAT_IDLE_PID && tid >= 1 && tid <= (int32_t)kev_info(stat->kev)->ncpu &&
           tid <= KEV_CPUS;
}

static void stat_cover_epoch_begin(struct stat *stat, uint64_t now, bool goes)
{
    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        if (stat->cpus[cpu].current != NULL) {
            cpu_account(stat, cpu, now);
        }
    }
    stat->common = stat_common(stat, now);
    stat->common_at = now;
    if (stat->epoch + 1 >= stat->epochs_room) {
        stat->epochs = stat_grow(stat->epochs, &stat->epochs_room, sizeof(*stat->epochs));
    }
    stat->epochs[++stat->epoch] = stat->common;
    if (stat->watch != NULL) {
        stat->watch->epoch(stat->watch->arg, stat->common, now, goes);
    }
}

static void stat_cover_turn_make(struct stat *stat, const struct turn *turn)
{
    struct cpu *cpu = &stat->cpus[turn->cpu];
    uint64_t now = turn->time > stat->first ? turn->time : stat->first;

    if (cpu->covered == turn->covered) {
        return;
    }
    cpu_forget(stat, turn->cpu, now);
    cpu->covered = turn->covered;
    cpu->depth = 0;
    if (turn->covered ? stat->cpus_uncovered == 1 : stat->cpus_uncovered == 0) {
        stat_cover_epoch_begin(stat, now, turn->covered);
    }
    stat->cpus_uncovered += turn->covered ? -1 : 1;
    if (turn->covered) {
        cpu_told(stat, turn->cpu, now);
    }
    cpu->told = NULL;
}

/* An interval that begins at this time has begun, one that ends then has not: the event belongs to
 * both. */
void stat_cover_until(struct stat *stat, uint64_t now)
{
    while (stat->turn < stat->nturns) {
        const struct turn *turn = &stat->turns[stat->turn];

        if (turn->covered ? turn->time > now : turn->time >= now) {
            break;
        }
        stat_cover_turn_make(stat, turn);
        stat->turn++;
    }
}

void stat_cover_stop(struct stat *stat, uint64_t now)
{
    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        stat_cover_turn_make(stat, &(struct turn){now, (uint8_t)cpu, false});
    }
    stat->nturns = stat->turn;
}

void stat_cover_end(struct stat *stat)
{
    stat_cover_until(stat, stat->last);
    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        cpu_account(stat, cpu, stat->last);
    }
    stat->common = stat_common(stat, stat->last);
    stat->common_at = stat->last;
}

uint64_t stat_cpu_covered(const struct cpu *cpu)
{
    return cpu->busy + cpu->idle + cpu->unknown;
}

uint64_t stat_thread_covered(const struct stat *stat, const struct thread *thread)
{
    uint64_t time = 0;

    if (stat_is_idle(stat, thread->pid, thread->tid)) {
        return stat->cpus[thread->tid - 1].busy + stat->cpus[thread->tid - 1].idle;
    }
    for (unsigned i = 0; i < STATE_MAX; i++) {
        time += thread->time[i];
    }
    return time;
}

uint64_t stat_thread_running(const struct stat *stat, const struct thread *thread)
{
    return stat_is_idle(stat, thread->pid, thread->tid) ? stat->cpus[thread->tid - 1].idle
                                                        : thread->time[STATE_RUNNING];
}
