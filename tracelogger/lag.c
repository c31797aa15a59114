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

static bool is_for_want_of_buffers(uint32_t reason_class)
{
    uint32_t reason = reason_class >> 8;

    return reason == KYMO_DROP_OVERWRITTEN || reason == KYMO_DROP_NOBUFFER;
}

void lag_note(const struct kymo_trace_buffer *taken, const struct trace_slot *slots)
{
    uint64_t before = lag.seen;

    for (uint32_t i = AFTER_BUFFER_AND_TIME; i < taken->slots; i++) {
        if (TRACE_GET_CLASS(slots[i].header) != TRACE_CLASS_CONTROL) {
            break;
        }
        if (TRACE_GET_EVENT(slots[i].header) == TRACE_CONTROL_DROPPED &&
            is_for_want_of_buffers(slots[i].d1)) {
            lag.seen += slots[i].d2;
        }
    }
    if (before <= lag.told && lag.seen > lag.told) {
        lag.since = ClockCycles();
    }
}

static size_t append(char *text, size_t size, size_t used, const char *part)
{
    int more = used < size ? snprintf(text + used, size - used, "%s", part) : 0;

    return used + (size_t)more;
}

/* Formats "CPU 0: 500, CPU 1: 214", truncated if there are very many; returns their sum. */
static uint64_t each_cpu(char *text, size_t size)
{
    uint64_t sum = 0;
    size_t used = 0;

    for (uint32_t cpu = 0; cpu < kymo_cpus(); cpu++) {
        uint64_t lost = report_lost(cpu);
        char part[48];

        snprintf(part, sizeof(part), "%sCPU %u: %llu", used ? ", " : "", (unsigned)cpu,
                 (unsigned long long)lost);
        used = lost ? append(text, size, used, part) : used;
        sum += lost;
    }
    return sum;
}

static void tell(const struct capture *capture)
{
    static char cpus[200];
    uint64_t needed = report_needed(capture);

    lag.told = each_cpu(cpus, sizeof(cpus));
    printf("tracelogger: not keeping up: %llu events lost so far (%s); ",
           (unsigned long long)lag.told, cpus);
    if (needed <= KERNEL_BUFFERS_MOST) {
        printf("-k %u would have been enough\n", (unsigned)needed);
    } else {
        printf("it needs more CPU time\n");
    }
    fflush(stdout);
}

/* Returns when to print: not too soon after the last time; while buffers wait, a second late. */
static uint64_t due(const struct capture *capture, uint64_t second)
{
    uint64_t at = capture->more ? lag.since + second : lag.since;

    return at > lag.next ? at : lag.next;
}

uint64_t lag_tell(const struct capture *capture)
{
    uint64_t second = kymo_cycles_per_sec();

    if (lag.seen <= lag.told) {
        return 0;
    }
    uint64_t now = ClockCycles(), at = due(capture, second);
    if (now < at) {
        return (at - now) / second * NS_PER_S + (at - now) % second * NS_PER_S / second + 1;
    }
    tell(capture);
    lag.next = now + lag.pause * second;
    lag.pause = lag.pause < PAUSE_MOST ? 2 * lag.pause : PAUSE_MOST;
    return 0;
}
