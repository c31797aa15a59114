/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As many processes, threads and timers as a board of 256 MB is to have: PROCESSES children, each
 * with THREADS threads and TIMERS timers, a channel, a connection and a name. Each child lets its
 * timers expire, counts their pulses, and sends one message to the first process, which replies
 * when all are there. So all of them wait in one queue, and are found by their names. At the end
 * the accounts are as before.
 *
 * `t_many child N` is a child.
 */
#include "test/board/programs/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/include/kymo.h"

#define PROCESSES 1000u
#define THREADS 4u /* of a child, the main one included */
#define TIMERS 4u
#define STACK 2048

struct report {
    uint32_t number, expired;
};

/* ---- a child ----------------------------------------------------------------------- */

static int nobodys; /* a channel to which nobody sends */

static void *waits(void *unused)
{
    for (;;) {
        MsgReceive(nobodys, NULL, 0, NULL);
    }
    return unused;
}

/* Each returns whether it has all. */
static bool child_threads(void)
{
    static char stacks[THREADS][STACK] __attribute__((aligned(64)));
    unsigned n = 1;

    nobodys = ChannelCreate(0);
    for (; n < THREADS; n++) {
        const struct _thread_attr attr = {.stackaddr = stacks[n], .stacksize = STACK};
        if (ThreadCreate(0, waits, NULL, &attr) < 0) {
            break;
        }
    }
    return n == THREADS;
}

/* The later ones expire the earlier. */
static bool child_timers(const struct link *own)
{
    unsigned n = 0;

    for (; n < TIMERS; n++) {
        const struct _itimer set = {.nsec = (TIMERS - n) * MS};
        struct sigevent event;
        SIGEV_PULSE_INIT(&event, own->coid, 10 + (int)n, 1, (int)n);
        int id = TimerCreate(CLOCK_MONOTONIC, &event);
        if (id < 0 || TimerSettime(id, 0, &set, NULL) != 0) {
            break;
        }
    }
    return n == TIMERS;
}

static unsigned child_pulses(const struct link *own)
{
    unsigned seen = 0;

    for (unsigned n = 0; n < TIMERS; n++) {
        struct _pulse pulse;
        if (MsgReceivePulse(own->chid, &pulse, sizeof(pulse), NULL) == 0 && pulse.code == 1) {
            seen |= 1u << pulse.value.sival_int;
        }
    }
    return seen == (1u << TIMERS) - 1 ? TIMERS : 0;
}

static int child(unsigned number)
{
    struct link own = make_link(0);
    struct kymo_name parent;
    char name[KYMO_NAME_MAX];

    snprintf(name, sizeof(name), "many/%u", number);
    if (NameAttach(name, own.chid) < 0 || !child_threads() || !child_timers(&own)) {
        return 1;
    }
    const struct report report = {number, child_pulses(&own)};
    if (NameLookup("many", &parent) != 0) {
        return 2;
    }
    int coid = ConnectAttach(0, parent.pid, parent.chid, _NTO_SIDE_CHANNEL, 0);
    return coid >= 0 && MsgSend(coid, &report, sizeof(report), NULL, 0) == 0 ? 0 : 3;
}

/* ---- the first process ------------------------------------------------------------- */

static int pids[PROCESSES];
static int rcvids[PROCESSES];
static int chid;

static struct kymo_quota system_quota(void)
{
    struct kymo_quota quota = {.group = 0};

    for (unsigned level = 1; quota.group >= 0; level++) {
        if (ProcLimits(0, level, &quota) < 0) {
            break;
        }
    }
    EXPECT_EQ(quota.group, -1);
    return quota;
}

static bool spawn_all(void)
{
    const struct kymo_spawn_attr small = {.stack_size = 8192, .heap_size = 4096};

    for (unsigned i = 0; i < PROCESSES; i++) {
        char number[12];
        char *argv[] = {"t_many", "child", number, NULL};
        snprintf(number, sizeof(number), "%u", i);
        pids[i] = kymo_spawn("t_many", argv, &small);
        if (pids[i] < 0) {
            check_fail(__FILE__, __LINE__, "process %u: errno %d", i, errno);
            return false;
        }
    }
    return true;
}

static void receive_all(void)
{
    for (unsigned n = 0; n < PROCESSES; n++) {
        struct report report = {PROCESSES, 0};
        int rcvid = MsgReceive(chid, &report, sizeof(report), NULL);
        EXPECT(rcvid > 0 && report.number < PROCESSES && rcvids[report.number] == 0);
        EXPECT_EQ(report.expired, TIMERS);
        rcvids[report.number % PROCESSES] = rcvid;
    }
}

static void expect_all_there(const struct kymo_quota *before)
{
    const struct kymo_quota now = system_quota();
    struct kymo_proc_info info;
    unsigned found = 0, threads = 0, timers = 0;

    for (int at = 1; ProcInfo(at, &info) > 0; at = info.pid + 1) {
        if (strcmp(info.name, "t_many") == 0 && info.pid != self_pid()) {
            found++;
            threads += info.nthreads;
            timers += info.ntimers;
        }
    }
    EXPECT_EQ(found, PROCESSES);
    EXPECT_EQ(threads, PROCESSES * THREADS);
    EXPECT_EQ(timers, PROCESSES * TIMERS);
    EXPECT_EQ(now.used[KYMO_LIMIT_PROCESSES] - before->used[KYMO_LIMIT_PROCESSES], PROCESSES);
    EXPECT_EQ(now.used[KYMO_LIMIT_THREADS] - before->used[KYMO_LIMIT_THREADS], threads);
    EXPECT_EQ(now.used[KYMO_LIMIT_TIMERS] - before->used[KYMO_LIMIT_TIMERS], timers);
    EXPECT_EQ(now.used[KYMO_LIMIT_NAMES] - before->used[KYMO_LIMIT_NAMES], PROCESSES);
    say("many: %u processes, %u threads, %u timers", found, threads, timers);
}

static void expect_names(void)
{
    for (unsigned i = 0; i < PROCESSES; i++) {
        struct kymo_name found = {0, 0};
        char name[KYMO_NAME_MAX];
        snprintf(name, sizeof(name), "many/%u", i);
        EXPECT_EQ(NameLookup(name, &found), 0);
        EXPECT_EQ(found.pid, pids[i]);
    }
}

static void end_all(void)
{
    for (unsigned n = 0; n < PROCESSES; n++) {
        unsigned i = n * 7 % PROCESSES; /* in another order */
        EXPECT_EQ(MsgReply(rcvids[i], 0, NULL, 0), 0);
    }
    for (unsigned n = 0; n < PROCESSES; n++) {
        int status = -1;
        EXPECT(ProcWait(0, &status, 0) > 0);
        EXPECT_EQ(status, 0);
    }
}

static void t_all_at_once(void)
{
    chid = ChannelCreate(0);
    EXPECT(NameAttach("many", chid) > 0);
    const struct kymo_quota before = system_quota();

    for (unsigned round = 0; round < 2; round++) { /* again: all slots are used anew */
        memset(rcvids, 0, sizeof(rcvids));
        if (!spawn_all()) {
            return; /* the others end with the channel */
        }
        receive_all();
        expect_all_there(&before);
        expect_names();
        end_all();
        const struct kymo_quota after = system_quota();
        for (unsigned i = 0; i < KYMO_LIMITS; i++) {
            EXPECT_EQ(after.used[i], before.used[i]);
        }
    }
}

static const struct check table[] = {{"all at once", t_all_at_once}};

int main(int argc, char *argv[])
{
    if (argc > 2 && strcmp(argv[1], "child") == 0) {
        return child((unsigned)atoi(argv[2]));
    }
    return check_run("many", table, COUNT(table));
}
