/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The times that the account may claim: when each CPU is covered (host/reader/cover.c), which the
 * flow is told, and the common clock that counts while all of them are (stat.h). Proof:
 * test/host/stat/known_test.c.
 */
#include <stdlib.h>
#include <string.h>

#include "host/stat/stat.h"

/* Losses of these classes make what threads, messages and interrupts did unknown. */
#define COVER_CLASSES (1u << TRACE_CLASS_PR_TH | 1u << TRACE_CLASS_COMM | 1u << TRACE_CLASS_INT)

/* ---- of the flow's source ------------------------------------------------------------- */

static int stat_cover_span(void *arg, unsigned cpu, unsigned index, int64_t *from, int64_t *to)
{
    const struct stat *stat = arg;

    if ((long)index >= stat->nspans[cpu]) {
        return 0;
    }
    *from = stat_flow_time(stat->spans[cpu][index].from);
    *to = stat_flow_time(stat->spans[cpu][index].to);
    return 1;
}

static bool cpu_cover(struct stat *stat, unsigned cpu)
{
    struct kev_cover cover = {.classes = COVER_CLASSES, .seams = stat->filter.pauses};
    long n = kev_covered(stat->kev, cpu, &cover, &stat->spans[cpu]);

    if (n < 0 && kev_info(stat->kev)->kymo) {
        return false; /* no memory */
    }
    if (n < 0) { /* another kernel's: nothing says what is missing */
        stat->spans[cpu] = malloc(sizeof(*stat->spans[cpu]));
        if (stat->spans[cpu] == NULL) {
            return false;
        }
        stat->spans[cpu][0] = (struct kev_span){0, UINT64_MAX};
        n = 1;
    }
    stat->nspans[cpu] = n;
    return true;
}

bool stat_cover(struct stat *stat)
{
    const struct kev_info *info = kev_info(stat->kev);
    bool all = info->board[0] != '\0' || !info->kymo; /* else the CPUs are unknown */

    stat->facts.cpus = info->ncpu;
    stat->facts.board = info->board;
    stat->facts.is_kymo = info->kymo;
    stat->source = (struct flow_source){.facts = &stat->facts, .covered = stat_cover_span};
    for (unsigned cpu = 0; cpu < info->ncpu && cpu < KEV_CPUS; cpu++) {
        if (all || info->cpu[cpu].buffers > 0) {
            stat->source.cpus |= (uint64_t)1 << cpu;
            if (!stat->filter.gate && !cpu_cover(stat, cpu)) {
                return false;
            }
        }
    }
    return true;
}

void stat_cover_free(struct stat *stat)
{
    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        free(stat->spans[cpu]);
    }
}

/* ---- the clocks ---------------------------------------------------------------------- */

bool stat_known_since(const struct stat *stat, uint32_t epoch)
{
    return stat->goes && epoch == stat->epoch;
}

bool stat_is_idle(const struct stat *stat, int32_t pid, int32_t tid)
{
    return flow_is_idle(&stat->facts, pid, tid) && tid <= KEV_CPUS;
}

void stat_cover_cpu(void *arg, unsigned on, int64_t ns, bool covered)
{
    struct stat *stat = arg;
    struct cpu *cpu = &stat->cpus[on];

    cpu_account(stat, on, stat_now(stat, ns));
    cpu->covered = covered;
    cpu->depth = 0;
    cpu->handed_to = 0;
}

void stat_cover_all(void *arg, int64_t ns, bool all)
{
    struct stat *stat = arg;
    uint64_t now = stat_now(stat, ns);

    for (unsigned cpu = 0; cpu < stat->ncpus; cpu++) {
        if (stat->cpus[cpu].current != NULL) {
            cpu_account(stat, cpu, now);
        }
    }
    stat->common = stat_common(stat, now);
    stat->common_at = now;
    stat->goes = all;
    stat->epoch++;
    if (stat->watch != NULL) {
        stat->watch->epoch(stat->watch->arg, now, all);
    }
}

uint64_t stat_cpu_covered(const struct cpu *cpu)
{
    return cpu->busy + cpu->idle + cpu->unknown;
}

uint64_t stat_thread_covered(const struct stat *stat, const struct thread *thread)
{
    uint64_t time = 0;

    if (thread->idle) {
        return stat->cpus[thread->tid - 1].busy + stat->cpus[thread->tid - 1].idle;
    }
    for (unsigned i = 0; i < STATE_MAX; i++) {
        time += thread->time[i];
    }
    return time;
}

uint64_t stat_thread_running(const struct stat *stat, const struct thread *thread)
{
    return thread->idle ? stat->cpus[thread->tid - 1].idle : thread->time[STATE_RUNNING];
}
