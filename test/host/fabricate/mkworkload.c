/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A made-up workload for fabricated captures: on each CPU a client and a server that talk, idle
 * time, a timer interrupt, user events, memory, names.
 */
#include <stdio.h>

#include "abi/sys/states.h"
#include "test/host/fabricate/mkcapture.h"

#define PR_TH TRACE_CLASS_PR_TH
#define COMM TRACE_CLASS_COMM

static void event2(struct mk *mk, unsigned cpu, unsigned class, unsigned event, uint32_t a,
                   uint32_t b)
{
    uint32_t words[2] = {a, b};

    mk_event(mk, cpu, 1 + mk_random(mk) % 20, class, event, words, 2);
}

static void names(struct mk *mk, unsigned cpu)
{
    uint32_t client[2] = {1, 10 + 2 * cpu}, server[2] = {1, 11 + 2 * cpu}, thread[2];
    char text[64];

    snprintf(text, sizeof(text), "client%u", cpu);
    mk_string(mk, cpu, 5, PR_TH, 192, client, 2, text);
    snprintf(text, sizeof(text), "server-with-a-long-name-%u", cpu);
    mk_string(mk, cpu, 5, PR_TH, 192, server, 2, text);
    event2(mk, cpu, PR_TH, 24, client[1], 1);
    thread[0] = client[1];
    thread[1] = 1;
    mk_string(mk, cpu, 5, PR_TH, 320, thread, 2, "main");
}

/* A message there and back: 9 events. */
static void round_trip(struct mk *mk, unsigned cpu)
{
    uint32_t client = 10 + 2 * cpu, server = 11 + 2 * cpu, rcvid = 100 + cpu;
    uint32_t wide[6] = {3, 0xffffffe0u, 0xffffffe0u, 0x11, 0x22, 0x33};

    mk_event(mk, cpu, 3, TRACE_CLASS_KER_CALL, 11, wide, 6);
    event2(mk, cpu, COMM, 0, rcvid, server);
    event2(mk, cpu, PR_TH, STATE_REPLY, client, 1);
    event2(mk, cpu, COMM, 2, rcvid, server);
    event2(mk, cpu, PR_TH, STATE_RUNNING, server, 1);
    event2(mk, cpu, COMM, mk_random(mk) % 8 == 0 ? 11 : 10, 1, client);
    event2(mk, cpu, PR_TH, STATE_RECEIVE, server, 1);
    event2(mk, cpu, PR_TH, STATE_RUNNING, client, 1);
    event2(mk, cpu, TRACE_CLASS_KER_CALL, 11 + 128, mk_random(mk) % 4 == 0 ? UINT32_MAX : 0, 22);
}

static void interrupt(struct mk *mk, unsigned cpu)
{
    uint32_t entry[3] = {27, 0x80001234u, 0xffffff80u};

    mk_event(mk, cpu, 7, TRACE_CLASS_INT, 1 | TRACE_EVENT_64, entry, 3);
    event2(mk, cpu, TRACE_CLASS_INT, 2, 27, mk_random(mk) & 1);
}

static void other(struct mk *mk, unsigned cpu)
{
    uint32_t words[32];
    unsigned n = 1 + mk_random(mk) % 32;

    for (unsigned i = 0; i < 32; i++) {
        words[i] = mk_random(mk);
    }
    switch (mk_random(mk) % 4) {
    case 0:
        mk_event(mk, cpu, 2, TRACE_CLASS_USER, mk_random(mk) & 1023, words, n);
        break;
    case 1:
        mk_string(mk, cpu, 2, TRACE_CLASS_USER, 1, words, 0, "hello, \"world\"\n");
        break;
    case 2:
        mk_event(mk, cpu, 2, TRACE_CLASS_SYSTEM, 7, words, 5);
        break;
    default:
        event2(mk, cpu, PR_TH, STATE_RUNNING, 1, cpu + 1);
        mk->cpu[cpu].now += mk_random(mk) % 2000;
        event2(mk, cpu, PR_TH, STATE_RUNNING, 10 + 2 * cpu, 1);
        break;
    }
}

/* A buffer is overwritten, or some events find no room. */
static void lose(struct mk *mk, unsigned cpu)
{
    if (mk->refused && mk_random(mk) % 2 == 0) { /* by the medium: counted at once */
        mk_lose_buffer(mk, cpu);
        mk_tails(
            mk, cpu,
            (const struct mk_loss[]){{1, TRACE_CLASS_KER_CALL, 2}, {7, TRACE_CLASS_KER_CALL, 40}},
            2);
        return;
    }
    if (mk_random(mk) % 3 == 0) {
        mk_flush(mk, cpu);
        mk_dropped(mk, cpu, 2, mk_random(mk) % 2 == 0 ? PR_TH : TRACE_CLASS_USER, 3);
        return;
    }
    mk_lose_buffer(mk, cpu);
    mk_dropped(mk, cpu, 1, TRACE_CLASS_KER_CALL, 70);
    mk_dropped(mk, cpu, 1, PR_TH, 30);
}

void mk_workload(struct mk *mk, unsigned events)
{
    for (unsigned cpu = 0; cpu < mk->ncpu; cpu++) {
        names(mk, cpu);
    }
    for (unsigned n = 0; n < events; n += 10) {
        unsigned cpu = mk_random(mk) % mk->ncpu;

        if (mk->lossy && mk_random(mk) % 20 == 0) {
            lose(mk, cpu);
        }

        switch (mk_random(mk) % 4) {
        case 0:
            interrupt(mk, cpu);
            break;
        case 1:
            other(mk, cpu);
            break;
        default:
            round_trip(mk, cpu);
            break;
        }
    }
    mk_flush_all(mk);
}
