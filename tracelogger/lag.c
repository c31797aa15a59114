/* SPDX-License-Identifier: BSD-2-Clause */
/* See lag.h. */
#include "tracelogger/lag.h"

#include <stdio.h>

#include "abi/sys/neutrino.h"
#include "lib/include/kymo.h"
#include "tracelogger/report.h"

#define AFTER_BUFFER_AND_TIME 2
#define NS_PER_S UINT64_C(1000000000)
#define PAUSE_MOST 64 /* seconds between two messages; from 1, doubled each time */

static struct {
    uint64_t seen;  /* lost for lack of buffers, by the DROPPED slots so far */
    uint64_t told;  /* reported by the last message */
    uint64_t since; /* when `seen` became more than that, cycles */
    uint64_t next;  /* earliest time of the next message */
    unsigned pause;
} lag = {.pause = 1};

void lag_note(const struct kymo_trace_buffer *taken, const struct trace_slot *slots)
{
    uint64_t before = lag.seen;

    for (uint32_t i = AFTER_BUFFER_AND_TIME; i < taken->slots; i++) {
        if (TRACE_GET_CLASS(slots[i].header) != TRACE_CLASS_CONTROL) {
            break;
        }
        uint32_t reason = slots[i].d1 >> 8;

        if (TRACE_GET_EVENT(slots[i].header) == TRACE_CONTROL_DROPPED &&
            (reason == KYMO_DROP_OVERWRITTEN || reason == KYMO_DROP_NOBUFFER)) {
            lag.seen += slots[i].d2;
        }
    }
    if (before <= lag.told && lag.seen > lag.told) {
        lag.since = ClockCycles();
    }
}

/* Formats "CPU 0: 500, CPU 1: 214", truncated if there are very many; returns their sum. */
static uint64_t each_cpu(char *text, size_t size)
{
    uint64_t sum = 0;
    size_t used = 0;

    for (uint32_t cpu = 0; cpu < kymo_cpus(); cpu++) {
        uint64_t lost = report_lost(cpu);

        if (lost && used < size) {
            used += (size_t)snprintf(text + used, size - used, "%sCPU %u: %llu", used ? ", " : "",
                                     (unsigned)cpu, (unsigned long long)lost);
        }
        sum += lost;
    }
    return sum;
}

static void lag_print(const struct capture *capture)
{
    static char cpus[200];
    uint64_t needed = report_needed(capture);

    lag.told = each_cpu(cpus, sizeof(cpus));
    printf("tracelogger: not keeping up: %llu events lost so far (%s); ",
           (unsigned long long)lag.told, cpus);
    if (needed <= KERNEL_BUFFERS_MOST) {
        printf("-k %u would have been enough\n", (unsigned)needed);
    } else {
        printf("it needs more CPU time: give it a higher priority\n");
    }
    fflush(stdout);
}

uint64_t lag_tell(const struct capture *capture)
{
    uint64_t second = kymo_cycles_per_sec();

    if (lag.seen <= lag.told) {
        return 0;
    }
    /* Not too soon after the previous message; while buffers wait, a second late. */
    uint64_t now = ClockCycles(), at = capture->more ? lag.since + second : lag.since;
    at = at > lag.next ? at : lag.next;
    if (now < at) {
        return (at - now) / second * NS_PER_S + (at - now) % second * NS_PER_S / second + 1;
    }
    lag_print(capture);
    lag.next = now + lag.pause * second;
    lag.pause = lag.pause < PAUSE_MOST ? 2 * lag.pause : PAUSE_MOST;
    return 0;
}
