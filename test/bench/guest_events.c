/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an ordinary program pays while it is recorded: `bench_events`. Each case prints its name,
 * how many events its rounds have made, as QUERYLOSS counts them, and how many rounds there were:
 * so test/bench/bench knows which marks are whose.
 *
 * The round trips go to the server `plain` of guest_msg.c: 8 bytes each way, as msg_rt_8.
 */
#include <errno.h>
#include <kymo.h>
#include <kymo_log.h>
#include <kymo_probe.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>
#include <sys/trace.h>

#include "abi/sys/neutrino.h"
#include "test/bench/mark.h"

enum { INTERVAL_CASES = 0, ROUNDS = 40, BUFFERS = 16, FEW = 2, CODE = 7, SND_PULSE = 1 };

static int coid, pulse_chid, pulse_coid;

static int failed(const char *what)
{
    printf("bench_events: %s: %s\n", what, strerror(errno));
    return 1;
}

/* ---- one round --------------------------------------------------------------------- */

static int round_trip(void)
{
    uint32_t out[2] = {sizeof(out)}, in[2];

    OPEN(INTERVAL_CASES);
    long status = MsgSend(coid, out, sizeof(out), in, sizeof(in));
    CLOSE(INTERVAL_CASES);
    return status == 0 ? 0 : failed("MsgSend");
}

static int user_event(void)
{
    OPEN(INTERVAL_CASES);
    int error = trace_logi(CODE, 1, 2);
    CLOSE(INTERVAL_CASES);
    return error == 0 ? 0 : failed("trace_logi");
}

static int user_text(void)
{
    OPEN(INTERVAL_CASES);
    int error = trace_logs(CODE, "twenty characters it");
    CLOSE(INTERVAL_CASES);
    return error == 0 ? 0 : failed("trace_logs");
}

static int log_text(void)
{
    volatile int degrees = 5, place = 7;

    OPEN(INTERVAL_CASES);
    KYMO_LOG(KYMO_LOG_INFO, "temperature %d of %d", degrees, place);
    CLOSE(INTERVAL_CASES);
    return 0;
}

static int static_probe(void)
{
    volatile int degrees = 5, place = 7;

    OPEN(INTERVAL_CASES);
    KYMO_PROBE(bench, passed, degrees, place);
    CLOSE(INTERVAL_CASES);
    return 0;
}

/* Two of the library's static probes, mutex-acquire and mutex-release. */
static int mutex(void)
{
    static pthread_mutex_t free_mutex = PTHREAD_MUTEX_INITIALIZER;

    OPEN(INTERVAL_CASES);
    int error = pthread_mutex_lock(&free_mutex) | pthread_mutex_unlock(&free_mutex);
    CLOSE(INTERVAL_CASES);
    return error == 0 ? 0 : failed("mutex");
}

/* A pulse to a channel of this process is received at once: that part is not counted. */
static int pulse(void)
{
    struct _pulse got;

    OPEN(INTERVAL_CASES);
    int error = MsgSendPulse(pulse_coid, -1, 1, 0);
    CLOSE(INTERVAL_CASES);
    if (error != 0 || MsgReceivePulse(pulse_chid, &got, sizeof(got), NULL) != 0) {
        return failed("pulse");
    }
    return 0;
}

/* ---- what is recorded -------------------------------------------------------------- */

static int command(int result)
{
    return result < 0 ? failed("TraceEvent") : 0;
}

static int none(void)
{
    return 0;
}

static int calls(void)
{
    return command(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_KERCALL));
}

static int threads(void)
{
    return command(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_THREAD));
}

static int wide(void)
{
    return command(TraceEvent((int)_NTO_TRACE_SETALLCLASSESWIDE));
}

static int threads_wide(void)
{
    return wide() || threads();
}

static int all(void)
{
    return command(TraceEvent((int)_NTO_TRACE_ADDALLCLASSES));
}

static int all_wide(void)
{
    return wide() || all();
}

static int user(void)
{
    return command(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER));
}

static int library(void)
{
    return command(TraceEvent((int)_NTO_TRACE_ADDCLASS, KYMO_TRACE_SYSTEM_PROBES));
}

static int sent_pulses(void)
{
    return command(TraceEvent((int)_NTO_TRACE_ADDEVENT, _NTO_TRACE_COMM, SND_PULSE));
}

/* All buffers are full, and stay so: each further event is lost. */
static int lost(void)
{
    return command(TraceEvent((int)_NTO_TRACE_SKIPBUFFER)) || sent_pulses();
}

/* A flight recorder: each new buffer is the oldest one. */
static int ring(void)
{
    return command(TraceEvent((int)_NTO_TRACE_SETRINGMODE)) || sent_pulses();
}

/* ---- cases ------------------------------------------------------------------------- */

static struct recorded {
    const char *name;
    int (*filter)(void);
    int (*round)(void);
    unsigned buffers; /* 0: tracing is stopped */
    unsigned before;  /* rounds before those that count */
    unsigned rounds;
    unsigned long events; /* made in these */
} cases[] = {
    {"off", none, round_trip, BUFFERS, 4, ROUNDS, 0},
    {"kercall", calls, round_trip, BUFFERS, 4, ROUNDS, 0},
    {"thread", threads, round_trip, BUFFERS, 4, ROUNDS, 0},
    {"thread_wide", threads_wide, round_trip, BUFFERS, 4, ROUNDS, 0},
    {"all", all, round_trip, BUFFERS, 4, ROUNDS, 0},
    {"all_wide", all_wide, round_trip, BUFFERS, 4, ROUNDS, 0},
    {"user_stopped", user, user_event, 0, 4, ROUNDS, 0},
    {"user", user, user_event, BUFFERS, 4, ROUNDS, 0},
    {"text", user, user_text, BUFFERS, 4, ROUNDS, 0},
    {"log_stopped", user, log_text, 0, 4, ROUNDS, 0},
    {"log", user, log_text, BUFFERS, 4, ROUNDS, 0},
    {"static_off", user, static_probe, 0, 4, ROUNDS, 0},
    {"static", user, static_probe, BUFFERS, 4, ROUNDS, 0},
    {"mutex", user, mutex, BUFFERS, 4, ROUNDS, 0},
    {"mutex_on", library, mutex, BUFFERS, 4, ROUNDS, 0},
    {"pulse", none, pulse, BUFFERS, 4, ROUNDS, 0},
    {"lost", lost, pulse, FEW, FEW * 1024, ROUNDS, 0},
    {"ring", ring, pulse, FEW, FEW * 1024, 2 * 1024, 0},
};

#define CASES (sizeof(cases) / sizeof(*cases))

/* Returns the events that CPU 0, the only one, has made since the buffers were allocated. */
static uint64_t made(void)
{
    static struct kymo_trace_loss loss;

    return TraceEvent((int)KYMO_TRACE_QUERYLOSS, 0, &loss) == 0 ? loss.made : 0;
}

/* The rounds before are between marks, too; the reader leaves them out. */
static int rounds(struct recorded *c)
{
    int status = 0;

    for (unsigned i = 0; i < c->before; i++) {
        status |= c->round();
    }
    uint64_t query = made();
    uint64_t from = made();
    query = from - query;
    for (unsigned i = 0; i < c->rounds; i++) {
        status |= c->round();
    }
    c->events = (unsigned long)(made() - from - query);
    return status;
}

static int run(struct recorded *c)
{
    uint64_t paddr;

    TraceEvent((int)_NTO_TRACE_DELALLCLASSES);
    TraceEvent((int)_NTO_TRACE_SETALLCLASSESFAST);
    if (c->buffers == 0) {
        return c->filter() || rounds(c);
    }
    if (TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, c->buffers, &paddr) < 0) {
        return failed("ALLOCBUFFER");
    }
    int status = c->filter();
    status |= command(TraceEvent((int)_NTO_TRACE_STARTNOSTATE));
    status |= rounds(c);
    TraceEvent((int)_NTO_TRACE_STOP);
    TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER);
    TraceEvent((int)_NTO_TRACE_SETLINEARMODE);
    TraceEvent((int)_NTO_TRACE_OVERWRITEBUFFER);
    return status;
}

int main(void)
{
    int status = 0;

    coid = name_open("plain", 0);
    pulse_chid = ChannelCreate(0);
    pulse_coid = ConnectAttach(0, 0, pulse_chid, _NTO_SIDE_CHANNEL, 0);
    if (coid < 0 || pulse_coid < 0) {
        return failed("name_open");
    }
    for (unsigned i = 0; i < CASES && status == 0; i++) {
        status = run(&cases[i]);
    }
    /* At last: printf() uses floating point, whose state would cost each switch of threads more. */
    for (unsigned i = 0; i < CASES; i++) {
        const struct recorded *c = &cases[i];
        printf("bench_events: %s: %lu events in %u rounds after %u\n", c->name, c->events,
               c->rounds, c->before);
    }
    return status;
}
