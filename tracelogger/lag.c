/* SPDX-License-Identifier: BSD-2-Clause */
/* See lag.h. */
#include "tracelogger/lag.h"

#include <stdio.h>

#include "kernel/abi/sys/neutrino.h"
#include "lib/include/kymo.h"
#include "tracelogger/report.h"

#define AFTER_BUFFER_AND_TIME 2
#define PAUSE_MOST 64 /* seconds between two messages; from 1, doubled each time */

static struct {
    uint64_t lost[CPUS_MAX];
    uint64_t total, told;
    uint64_t since; /* when it became more than `told`, cycles */
    uint64_t next;  /* no message before */
    unsigned pause;
} lag = {.pause = 1};

static bool is_for_want_of_buffers(uint32_t reason_class)
{
    uint32_t reason = reason_class >> 8;

    return reason == KYMO_DROP_OVERWRITTEN || reason == KYMO_DROP_NOBUFFER;
}

void lag_note(const struct kymo_trace_buffer *taken, const struct trace_slot *slots)
{
    uint64_t before = lag.total;

    for (uint32_t i = AFTER_BUFFER_AND_TIME; i < taken->slots; i++) {
        if (TRACE_GET_CLASS(slots[i].header) != TRACE_CLASS_CONTROL) {
            break;
        }
        if (TRACE_GET_EVENT(slots[i].header) == TRACE_CONTROL_DROPPED &&
            is_for_want_of_buffers(slots[i].d1)) {
            lag.lost[taken->cpu] += slots[i].d2;
            lag.total += slots[i].d2;
        }
    }
    if (before == lag.told && lag.total > before) {
        lag.since = ClockCycles();
    }
}

static size_t append(char *text, size_t size, size_t used, const char *part)
{
    int more = used < size ? snprintf(text + used, size - used, "%s", part) : 0;

    return used + (size_t)more;
}

/* " (CPU 0: 500, CPU 1: 214)", cut if there are very many. */
static void each_cpu(char *text, size_t size)
{
    size_t used = 0;

    for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
        char part[48];

        snprintf(part, sizeof(part), "%sCPU %u: %llu", used ? ", " : " (", cpu,
                 (unsigned long long)lag.lost[cpu]);
        used = lag.lost[cpu] ? append(text, size - 2, used, part) : used;
    }
    append(text, size, used < size - 2 ? used : size - 2, ")");
}

static void tell(const struct capture *capture)
{
    static char cpus[200];
    uint64_t needed = report_needed(capture);

    each_cpu(cpus, sizeof(cpus));
    if (needed <= KERNEL_BUFFERS_MOST) {
        printf("tracelogger: not keeping up: %llu events lost so far%s; -k %u would have been "
               "enough\n",
               (unsigned long long)lag.total, cpus, (unsigned)needed);
    } else {
        printf("tracelogger: not keeping up: %llu events lost so far%s; it needs more CPU time\n",
               (unsigned long long)lag.total, cpus);
    }
    fflush(stdout);
}

void lag_tell(const struct capture *capture)
{
    uint64_t second = kymo_cycles_per_sec();

    if (lag.total == lag.told) {
        return;
    }
    uint64_t now = ClockCycles();
    if (now < lag.next || (capture->more && now - lag.since < second)) {
        return;
    }
    tell(capture);
    lag.told = lag.total;
    lag.next = now + lag.pause * second;
    lag.pause = lag.pause < PAUSE_MOST ? 2 * lag.pause : PAUSE_MOST;
}
