/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracelogger is killed at each of its kernel calls: `t_slain STEP SINK [OPTION...]` at every
 * STEP-th, its capture being SINKn.kev. It is slain.d that kills it. Each time the kernel's account
 * is exact, another logger can start at once, and memory and what processes own are as before. A
 * line `SLAIN SINKn.kev given=G left=L` tells test/board how many buffers it had given back, which
 * are in the capture therefore, and how many it left. Under icount every run is the same.
 *
 * `t_slain STEP/SIGNAL SINK [OPTION...]`: it gets that signal, which is to end the recording, at
 * each of its first SIGNALLED calls and beyond them at every 16th. A line `SIGNALLED SINKn.kev
 * status=S` tells how it ended: by the signal, and then there is no capture, or with status 0.
 * `STEP/SIGNALr`: the signal comes when the call returns, before the program goes on.
 */
#include "test/board/programs/dcalls.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/dispatch.h>

#include "lib/include/kymo.h"
#include "lib/capture/protocol.h"
#include "trace/slot.h"

#define MARK 0x510 /* slain.d's */
#define WORDS 12
#define SENDS 150       /* messages to make events of */
#define CALLS_MOST 5000 /* of a logger */
#define KILL 9
#define SIGNALLED 80 /* calls by which START is over */
#define FURTHER 16
#define AT_RETURN 10000 /* slain.d's */

static const char *sink;
static char *words[WORDS];
static char name[32];
static unsigned step, word_count;
static int signal_sent = KILL;
static bool at_return;
static uint32_t handle; /* of slain.d */
static uint64_t memory, objects;

static void kill_at(unsigned n)
{
    const uintptr_t args[6] = {MARK, n, (uintptr_t)signal_sent};

    raw_call(0, args);
}

static int start_logger(const char *file)
{
    struct kymo_spawn_attr attr = {.priority = 40,
                                   .heap_size = 32768,
                                   .ability = ABILITY_TRACE | ABILITY_INTERRUPT | ABILITY_HOST |
                                              ABILITY_DEVICE};

    words[word_count] = "-f";
    words[word_count + 1] = (char *)file;
    /* Another sink has no use for what is only for a disk. */
    bool disk = strncmp(file, "block:", 6) == 0, reclaim = strcmp(words[1], "--reclaim") == 0;
    if (reclaim && !disk) {
        words[1] = "-v";
    }
    int pid = kymo_spawn("tracelogger", words, &attr);
    words[1] = reclaim ? "--reclaim" : words[1];
    return pid;
}

/* It has gone, or records. */
static void wait_started(int pid)
{
    struct kymo_proc_info info;
    struct kymo_name found;

    while (NameLookup(TRACELOGGER_NAME, &found) < 0 && ProcInfo(pid, &info) == pid &&
           info.nthreads > 0) {
        sleep_ms(1);
    }
}

static void stop_logger(void)
{
    struct tracelogger_msg msg = {TRACELOGGER_STOP, 0};
    int coid = name_open(TRACELOGGER_LOCK, 0);

    if (coid >= 0) {
        MsgSend(coid, &msg, sizeof(msg), NULL, 0);
        name_close(coid);
    }
}

/* A whole life of one, if it isn't killed; its status. */
static int live(const char *file)
{
    int status = -1, pid = start_logger(file);

    EXPECT(pid > 0);
    wait_started(pid);
    d_talk(SENDS);
    stop_logger();
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    return status;
}

/* The capture of a logger that is not killed: a machine with a disk may have no files. */
static const char *again(void)
{
    return strncmp(sink, "block:", 6) == 0 ? "block:again.kev" : "again.kev";
}

/* ---- what it leaves ---------------------------------------------------------------- */

static const struct trace_slot *block;

static uint64_t events_in(const struct kymo_trace_buffer *b)
{
    const struct trace_slot *slot = block + (size_t)b->index * TRACE_BUFFER_SLOTS;
    uint64_t events = 0;

    for (uint32_t i = 0; i < b->slots; i++) {
        uint32_t header = slot[i].header, structure = TRACE_GET_STRUCT(header);

        events += TRACE_GET_CLASS(header) != TRACE_CLASS_CONTROL &&
                  (structure == TRACE_STRUCT_S || structure == TRACE_STRUCT_CB);
    }
    return events;
}

/* Takes what is READY; the events, of each CPU. */
static unsigned take_left(uint64_t *events)
{
    struct kymo_trace_buffer b;
    unsigned left = 0;

    while (TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b) == 0) {
        events[b.cpu % 8] += events_in(&b);
        left++;
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, b.index), 0);
    }
    EXPECT_EQ(errno, EAGAIN);
    return left;
}

/* What was made is what it took, what is there, and what is said to be lost. */
static void account(unsigned cpu, uint64_t left, uint64_t sequences)
{
    struct kymo_trace_loss l = {0};
    uint64_t lost = 0, reasons = 0;

    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYLOSS, cpu, &l), 0);
    for (unsigned i = 0; i < KYMO_TRACE_CLASSES; i++) {
        lost += l.lost[i];
    }
    for (unsigned i = 0; i < KYMO_TRACE_REASONS; i++) {
        reasons += l.lost_reason[i];
    }
    EXPECT_EQ(lost, reasons);
    EXPECT(l.made >= lost + l.recycled + left);
    /* If it took nothing, nothing else is missing. */
    if (sequences == 0) {
        EXPECT_EQ(l.made, lost + l.recycled + left);
    }
}

/* Its buffers are there, unless it had none yet or no more. */
static unsigned what_is_left(uint64_t taken)
{
    struct kymo_map map = {.flags = KYMO_MAP_TRACE | KYMO_PROT_READ};
    uint64_t events[8] = {0};

    if (MemMap(&map) != 0) {
        EXPECT_EQ(errno, ENXIO);
        return 0;
    }
    block = (const struct trace_slot *)(uintptr_t)map.vaddr;
    EXPECT(TraceEvent((int)_NTO_TRACE_STOP) == 0 || errno == ECANCELED);
    unsigned left = take_left(events);
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        account(cpu, events[cpu], taken);
    }
    EXPECT_EQ(MemUnmap((void *)(uintptr_t)map.vaddr, (size_t)map.len), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER), 0);
    return left;
}

/* Its servers hear of its death a moment later. */
static void as_before(void)
{
    for (int i = 0; i < 30000 && (d_memory() != memory || d_objects() != objects); i++) {
        sleep_ms(2);
    }
    EXPECT_EQ(d_memory(), memory);
    EXPECT_EQ(d_objects(), objects);
}

/* ---- lives ------------------------------------------------------------------------- */

static bool killed_at(unsigned n)
{
    d_counts(handle);                     /* each look begins anew */
    EXPECT_EQ(d_faults(handle, NULL), 0); /* or it is taken for silent after ten seconds */
    snprintf(name, sizeof(name), "%s%u.kev", sink, n);
    kill_at(n);
    int status = live(name);
    kill_at(0);
    struct counts now = d_counts(handle);
    EXPECT(now.of[1] > 0);
    if (KYMO_STATUS_SIGNAL(status) == 0) {
        EXPECT_EQ(status, 0);
        return false;
    }
    EXPECT_EQ(KYMO_STATUS_SIGNAL(status), 9);
    unsigned left = 0;
    if (n / step % 2) {
        /* Another one takes over what it has left. */
        EXPECT_EQ(live(again()), 0);
    } else {
        left = what_is_left(now.of[3]);
    }
    as_before();
    say("SLAIN %s given=%u left=%u", name, (unsigned)now.of[2], left);
    return true;
}

/* False: it has ended before its n-th call. */
static bool signalled_at(unsigned n)
{
    d_counts(handle);
    EXPECT_EQ(d_faults(handle, NULL), 0);
    snprintf(name, sizeof(name), "%s%u.kev", sink, n);
    kill_at(at_return ? n + AT_RETURN : n);
    int status = live(name);
    kill_at(0);
    bool before = d_counts(handle).of[1] < n;
    EXPECT(status == 0 || (!before && KYMO_STATUS_SIGNAL(status) == signal_sent));
    if (status != 0) {
        what_is_left(1);
    }
    as_before();
    say("SIGNALLED %s status=%d", name, status);
    return !before;
}

static void begin(void)
{
    handle = d_create("slain.dif");
    d_do(handle, KYMO_D_GO);
    kill_at(0);
    snprintf(name, sizeof(name), "%s0.kev", sink);
    EXPECT_EQ(live(name), 0); /* servers have what they need from now on */
    EXPECT_EQ(live(again()), 0);
    sleep_ms(20);
    memory = d_memory();
    objects = d_objects();
}

static void t_signalled(void)
{
    unsigned n = step;

    begin();
    while (n < CALLS_MOST && check_failure()[0] == '\0' && signalled_at(n)) {
        n += n < SIGNALLED ? step : FURTHER * step;
    }
    EXPECT(n > SIGNALLED && n < CALLS_MOST);
    d_do(handle, KYMO_D_DESTROY);
}

static void t_killed(void)
{
    unsigned n = step;

    begin();
    while (n < CALLS_MOST && check_failure()[0] == '\0' && killed_at(n)) {
        n += step;
    }
    EXPECT(n >= 100 && n < CALLS_MOST);
    say("SLAIN %s: killed at every %uth of %u calls", sink, step, n);
    d_do(handle, KYMO_D_DESTROY);
}

int main(int argc, char **argv)
{
    static const struct check killed = {"killed at each of its calls", t_killed},
                              signalled = {"a signal at each of its calls", t_signalled};
    const char *number = strchr(argv[1], '/');

    step = (unsigned)atoi(argv[1]);
    signal_sent = number ? atoi(number + 1) : KILL;
    at_return = number && number[strlen(number) - 1] == 'r';
    sink = argv[2];
    words[0] = "tracelogger";
    word_count = 1;
    for (int i = 3; i < argc && word_count < WORDS - 3; i++) {
        words[word_count++] = argv[i];
    }
    return check_run("slain", number ? &signalled : &killed, 1);
}
