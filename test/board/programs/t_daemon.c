/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An application that controls its own recording, with `tracelogger -d1` or against another one.
 * What it writes into the trace says when it should be there: user event 100 + run inside a run,
 * 900 outside of all. test/board/modes.py judges the captures.
 */
#include "test/board/programs/check.h"

#include <signal.h>
#include <stdlib.h>

#define RUNS 3
#define INSIDE 100
#define OUTSIDE 900
#define EVENTS 200

static int command(uint32_t cmd)
{
    return TraceEvent((int)cmd);
}

static void insert(uint32_t code, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTSUSEREVENT, code, i, 0), 0);
    }
}

static void only(uint32_t class)
{
    EXPECT_EQ(command(_NTO_TRACE_DELALLCLASSES), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, class), 0);
}

/* Something of class COMM, and a thread's states. */
static void talk(void)
{
    int chid = ChannelCreate(0);
    int coid = ConnectAttach(0, 0, chid, _NTO_SIDE_CHANNEL, 0);
    struct _pulse pulse;

    EXPECT(coid >= 0);
    EXPECT_EQ(MsgSendPulse(coid, -1, 1, 0), 0);
    EXPECT_EQ(MsgReceive(chid, &pulse, sizeof(pulse), NULL), 0);
    ConnectDetach(coid);
    ChannelDestroy(chid);
    sleep_ms(2);
}

static void run(uint32_t number, uint32_t events)
{
    insert(OUTSIDE, 10);
    EXPECT_EQ(command(_NTO_TRACE_START), 0);
    insert(INSIDE + number, events);
    talk();
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    insert(OUTSIDE, 10);
}

/* Three runs, each with another class beside USER. */
static void t_runs(void)
{
    static const uint32_t classes[RUNS] = {_NTO_TRACE_USER, _NTO_TRACE_COMM, _NTO_TRACE_THREAD};

    for (uint32_t i = 0; i < RUNS; i++) {
        only(classes[i]);
        run(i, EVENTS);
    }
}

/* One run with whatever is on. */
static void t_plain(void)
{
    run(0, EVENTS);
}

/* Two runs that are more than a ring of 2 buffers holds; a pause for the logger after each. */
static void t_ring(void)
{
    only(_NTO_TRACE_USER);
    for (uint32_t i = 0; i < 2; i++) {
        run(i, 5000);
        sleep_ms(200);
    }
}

/* Before there is a logger. */
static void t_filters(void)
{
    only(_NTO_TRACE_USER);
    EXPECT_ERR(command(_NTO_TRACE_START), ECANCELED);
}

static void t_start(void)
{
    EXPECT_EQ(command(_NTO_TRACE_START), 0);
}

/* Ends somebody else's recording. */
static void t_stop(void)
{
    struct kymo_trace_owner owner;

    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYOWNER, &owner), 0);
    EXPECT(owner.running && !owner.gone && strcmp(owner.name, "tracelogger") == 0);
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
}

/* Runs without end, one after the other, until there are no buffers any more: which may be when
 * there is a name that says so. */
static void t_again(void)
{
    uint32_t runs = 0;

    only(_NTO_TRACE_KERCALL);
    while (command(_NTO_TRACE_STARTNOSTATE) == 0) {
        insert(INSIDE, 20);
        EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
        /* Emulated CPUs that take turns would wait for the kernel's lock most of the time. */
        if (++runs % 16 == 0) {
            sleep_ms(1);
        }
        if (runs == 16) {
            EXPECT(NameAttach("again", ChannelCreate(0)) >= 0);
        }
    }
    EXPECT_EQ(errno, ECANCELED);
    EXPECT(runs >= 16);
}

/* Some 700 ms of events on one CPU, a buffer of them every 20 ms. */
static void t_paced(void)
{
    for (uint32_t i = 0; i < 350; i++) {
        insert(INSIDE, 70);
        sleep_ms(2);
    }
}

/* From somebody who may, to who records. */
static void signal_owner(int signal)
{
    struct kymo_trace_owner owner;

    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYOWNER, &owner), 0);
    EXPECT_EQ(SignalKill(0, owner.pid, 0, signal, 0, 0), 0);
}

/* ^C */
static void t_signal(void)
{
    signal_owner(SIGINT);
}

static void t_killed(void)
{
    signal_owner(SIGKILL);
}

/* As a `tracelogger --recover` that takes its time: until the machine is switched off. */
static void t_recovers(void)
{
    int chid = ChannelCreate(0);
    struct _pulse pulse;

    EXPECT(NameAttach("tracelogger/retained", chid) >= 0);
    MsgReceive(chid, &pulse, sizeof(pulse), NULL);
}

int main(int argc, char **argv)
{
    static const struct check table[] = {
        {"runs", t_runs},       {"plain", t_plain}, {"ring", t_ring},
        {"filters", t_filters}, {"start", t_start}, {"stop", t_stop},
        {"signal", t_signal},   {"again", t_again}, {"recovers", t_recovers},
        {"killed", t_killed},   {"paced", t_paced}};

    for (unsigned i = 0; argc == 2 && i < COUNT(table); i++) {
        if (strcmp(argv[1], table[i].name) == 0) {
            return check_run("daemon", &table[i], 1);
        }
    }
    return 2;
}
