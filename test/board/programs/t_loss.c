/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QUERYLOSS of each CPU, from each CPU, while all of them record and lose. A thread on each CPU
 * inserts numbered events and counts them itself, until the main thread, which goes from CPU to
 * CPU, has asked on each. Each answer is of one moment: what it says was made is what that CPU had
 * inserted by then, and its sums agree. At the end the numbers that are missing in what each CPU
 * recorded are its losses, no more and no fewer. `t_loss [EVENTS]`, of each thread at least.
 *
 * Then a recording is ended by the end of the trace's hook while every CPU loses: another process,
 * `t_loss hook PID CHID`, is killed or detaches it. With `logger` for `hook` that process has the
 * buffers, too. The account is as exact, and the next recording has all of its events.
 */
#include "test/board/programs/each_cpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/include/kymo.h"

#define BUFFERS 4 /* per CPU */
#define CODE 5
#define INSERTS_AT_ONCE 64 /* then the others of this CPU have their turn */
#define TAKINGS 2          /* of buffers, in the test that takes some */
/* Times `events`: so many a thread inserts at most, whatever has not been asked then. */
#define INSERTS_MOST 100
#define FEW 100 /* events of a recording that loses none */

static unsigned events = 10000;
static volatile bool asked_enough;

/* Of each CPU; a line of its own. */
static struct account {
    volatile uint32_t inserted; /* by its thread: the last number whose insertion has come back */
    uint32_t recorded, last;    /* in taken buffers */
    uint64_t dropped;           /* by the DROPPED slots in them */
    uint64_t made, lost;        /* the last answer's */
} __attribute__((aligned(64))) accounts[CPUS_MOST];

/* ---- the threads that insert ------------------------------------------------------- */

static void inserts(unsigned cpu)
{
    struct account *a = &accounts[cpu];

    for (uint32_t n = 1; n <= events || (!asked_enough && n <= events * INSERTS_MOST); n++) {
        TraceEvent((int)_NTO_TRACE_INSERTSUSEREVENT, CODE, n, ~n);
        a->inserted = n;
        if (n % INSERTS_AT_ONCE == 0) {
            SchedYield();
        }
    }
}

static bool all_insert(void)
{
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        if (accounts[cpu].inserted == 0) {
            return false;
        }
    }
    return true;
}

/* ---- what is recorded -------------------------------------------------------------- */

static void start_log(void)
{
    memset(accounts, 0, sizeof(accounts));
    asked_enough = false;
    EXPECT_EQ(command(_NTO_TRACE_DELALLCLASSES), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
}

static void open_log(unsigned mode, unsigned policy)
{
    buffers_open(BUFFERS);
    EXPECT_EQ(command(mode), 0);
    EXPECT_EQ(command(policy), 0);
    start_log();
}

static void scan(const struct kymo_trace_buffer *b, const struct trace_slot *slot)
{
    struct account *a = &accounts[b->cpu % CPUS_MOST];

    for (uint32_t i = 0; i < b->slots; i++) {
        unsigned class = TRACE_GET_CLASS(slot[i].header), event = TRACE_GET_EVENT(slot[i].header);
        EXPECT_EQ(TRACE_GET_CPU(slot[i].header), b->cpu);
        if (class == TRACE_CLASS_USER) {
            EXPECT_EQ(slot[i].d2, ~slot[i].d1);
            EXPECT(slot[i].d1 > a->last && slot[i].d1 <= a->inserted + 1);
            a->last = slot[i].d1;
            a->recorded++;
        } else if (class == TRACE_CLASS_CONTROL && event == TRACE_CONTROL_DROPPED &&
                   (slot[i].d1 & 0xff) == TRACE_CLASS_USER) {
            a->dropped += slot[i].d2;
        }
    }
}

/* ---- what QUERYLOSS says ----------------------------------------------------------- */

static uint64_t pending_of(const struct kymo_trace_loss *l, unsigned class)
{
    uint64_t n = 0;

    for (unsigned reason = 0; reason < KYMO_TRACE_REASONS; reason++) {
        n += l->pending[reason][class];
    }
    return n;
}

/* All sums agree: what is lost by class, by reason, and what of it is pending. */
static void check_sums(const struct kymo_trace_loss *l)
{
    uint64_t classes = 0, reasons = 0;

    for (unsigned class = 0; class < KYMO_TRACE_CLASSES; class ++) {
        classes += l->lost[class];
        EXPECT(pending_of(l, class) <= l->lost[class]);
    }
    for (unsigned reason = 0; reason < KYMO_TRACE_REASONS; reason++) {
        uint64_t pending = 0;
        for (unsigned class = 0; class < KYMO_TRACE_CLASSES; class ++) {
            pending += l->pending[reason][class];
        }
        reasons += l->lost_reason[reason];
        EXPECT(pending <= l->lost_reason[reason]);
    }
    EXPECT_EQ(classes, reasons);
    EXPECT(classes <= l->made);
}

/* Returns the events of class USER that were made: a buffer without events that is overwritten
 * counts as one of CONTROL. */
static uint64_t users_made(const struct kymo_trace_loss *l)
{
    return l->made - l->lost[TRACE_CLASS_CONTROL];
}

static void ask(unsigned cpu)
{
    struct kymo_trace_loss l = {0};
    struct account *a = &accounts[cpu];
    uint32_t before = a->inserted;

    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYLOSS, cpu, &l), 0);
    uint32_t after = a->inserted;
    check_sums(&l);
    /* An event is made before its insertion comes back. */
    EXPECT(users_made(&l) >= before && users_made(&l) <= (uint64_t)after + 1);
    EXPECT(users_made(&l) >= a->made && l.lost[TRACE_CLASS_USER] >= a->lost);
    a->made = users_made(&l);
    a->lost = l.lost[TRACE_CLASS_USER];
}

static void go_to(unsigned cpu)
{
    EXPECT(ThreadCtl(_NTO_TCTL_RUNMASK, (void *)(uintptr_t)(1u << cpu)) != -1);
}

static void set_priority(int priority)
{
    const struct sched_param param = {.sched_priority = priority};

    EXPECT_EQ(pthread_setschedparam(pthread_self(), SCHED_RR, &param), 0);
}

static uint64_t lost_so_far(void)
{
    uint64_t lost = 0;

    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        lost += accounts[cpu].lost;
    }
    return lost;
}

/* Asks about each CPU from each, at least once while all insert; returns how often. takes: takes
 * the buffers, too, whenever more has been lost since it took them last. */
static unsigned ask_all(bool takes)
{
    unsigned rounds = 0, takings = 0, from = 0;
    const uint32_t everywhere = kymo_cpu_mask();
    uint64_t taken_at = 0;
    int priority = own_priority();

    set_priority(priority + 1);
    while (each_cpu_works()) {
        unsigned here = cpu_in_turn(rounds++);
        from |= all_insert() ? 1u << here : 0;
        go_to(here);
        for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
            ask(cpu);
        }
        if (takes && lost_so_far() > taken_at) {
            taken_at = lost_so_far();
            takings++;
            buffers_take(scan);
        }
        asked_enough = from == everywhere && (!takes || takings >= TAKINGS);
        sleep_ms(1); /* this CPU's thread inserts, too */
    }
    go_to(0);
    set_priority(priority);
    EXPECT_EQ(from, everywhere);
    EXPECT(!takes || takings >= TAKINGS);
    return rounds;
}

/* When nothing runs, and all has been taken. recycled: of a ring, what newer events have
 * overwritten. Returns how many events were made. */
static uint64_t check_account(unsigned cpu, bool rings)
{
    struct kymo_trace_loss l = {0};
    const struct account *a = &accounts[cpu];

    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYLOSS, cpu, &l), 0);
    check_sums(&l);
    EXPECT(rings || l.recycled == 0);
    EXPECT_EQ(l.lost[TRACE_CLASS_USER] + l.recycled, users_made(&l) - a->recorded);
    EXPECT_EQ(a->dropped + pending_of(&l, TRACE_CLASS_USER), l.lost[TRACE_CLASS_USER]);
    return users_made(&l);
}

/* After STOP. */
static void check_end(unsigned cpu, bool rings)
{
    EXPECT_EQ(check_account(cpu, rings), accounts[cpu].inserted);
}

static void run(unsigned mode, unsigned policy, bool takes, const char *what)
{
    bool rings = mode == _NTO_TRACE_SETRINGMODE;
    uint64_t inserted = 0, missing = 0;

    open_log(mode, policy);
    each_cpu_start(inserts);
    unsigned rounds = ask_all(takes);
    each_cpu_join();
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    buffers_take(scan);
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        check_end(cpu, rings);
        inserted += accounts[cpu].inserted;
        missing += accounts[cpu].inserted - accounts[cpu].recorded;
    }
    EXPECT(missing > 0);
    say("loss: %s: asked %u times, %lu of %lu events missing", what, rounds, (unsigned long)missing,
        (unsigned long)inserted);
    EXPECT_EQ(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

static void t_overwrites(void)
{
    run(_NTO_TRACE_SETLINEARMODE, _NTO_TRACE_OVERWRITEBUFFER, false, "overwrite");
}

static void t_skips(void)
{
    run(_NTO_TRACE_SETLINEARMODE, _NTO_TRACE_SKIPBUFFER, false, "skip");
}

static void t_taken(void)
{
    run(_NTO_TRACE_SETLINEARMODE, _NTO_TRACE_OVERWRITEBUFFER, true, "taken now and then");
}

static void t_ring(void)
{
    run(_NTO_TRACE_SETRINGMODE, _NTO_TRACE_OVERWRITEBUFFER, false, "ring");
}

/* ---- the end of the trace's hook --------------------------------------------------- */

enum hook_end { HOOK_KILLED, HOOK_DETACHED, LOGGER_KILLED };

static struct link to_judge; /* over which the other process says how far it is */

/* The other process: has the hook, and the buffers if it is `logger`; detaches it when the judge
 * answers. */
static int other_main(char **argv)
{
    const bool logger = strcmp(argv[1], "logger") == 0;
    struct link own = make_link(0);
    struct sigevent event;
    uint64_t paddr;

    SIGEV_PULSE_INIT(&event, own.coid, SIGEV_PULSE_PRIO_INHERIT, 1, 0);
    int id = InterruptAttachEvent(_NTO_HOOK_TRACE, &event, 0);
    int coid = ConnectAttach(0, atoi(argv[2]), atoi(argv[3]), _NTO_SIDE_CHANNEL, 0);

    if (id < 0 || (logger && (TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, BUFFERS, &paddr) < 0 ||
                              command(_NTO_TRACE_SETLINEARMODE) < 0))) {
        return 1;
    }
    MsgSend(coid, NULL, 0, NULL, 0);
    InterruptDetach(id);
    MsgSend(coid, NULL, 0, NULL, 0);
    return 0;
}

static int wait_for_other(void)
{
    const uint64_t ns = 10000 * MS;

    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_RECEIVE, NULL, &ns, NULL);
    int rcvid = MsgReceive(to_judge.chid, NULL, 0, NULL);
    EXPECT(rcvid > 0);
    return rcvid;
}

/* All buffers of each CPU are full: it loses. */
static bool all_lose(void)
{
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        struct kymo_trace_loss l = {0};
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYLOSS, cpu, &l), 0);
        if (l.lost[TRACE_CLASS_USER] == 0) {
            return false;
        }
    }
    return true;
}

static void end_hook(enum hook_end how, int pid, int rcvid)
{
    if (how == HOOK_DETACHED) {
        EXPECT_EQ(MsgReply(rcvid, 0, NULL, 0), 0);
        wait_for_other(); /* it has detached it */
    }
    EXPECT_EQ(SignalKill(0, pid, 0, KYMO_SIGKILL, 0, 0), 0);
    EXPECT_EQ(ProcWait(pid, NULL, 0), pid);
}

static bool log_runs(void)
{
    struct kymo_trace_owner owner = {.running = true};

    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYOWNER, &owner), 0);
    return owner.running;
}

/* So many events are so many events, on the same buffers or, if they are nobody's, on others. */
static void few_are_recorded(bool same)
{
    if (same) {
        start_log();
    } else {
        open_log(_NTO_TRACE_SETLINEARMODE, _NTO_TRACE_OVERWRITEBUFFER);
    }
    for (uint32_t n = 1; n <= FEW; n++) {
        accounts[0].inserted = n;
        EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTSUSEREVENT, CODE, n, ~n), 0);
    }
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    buffers_take(scan);
    EXPECT_EQ(accounts[0].recorded, FEW);
    EXPECT_EQ(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

static void run_hook(enum hook_end how, unsigned policy, const char *what)
{
    char judge[12], channel[12];
    int priority = own_priority();
    uint64_t inserted = 0, made = 0, recorded = 0;

    to_judge = make_link(0);
    snprintf(judge, sizeof(judge), "%d", self_pid());
    snprintf(channel, sizeof(channel), "%d", to_judge.chid);
    int pid = spawn("t_loss", ABILITY_TRACE, priority + 2, how == LOGGER_KILLED ? "logger" : "hook",
                    judge, channel);
    int rcvid = wait_for_other();
    EXPECT_EQ(command(policy), how == LOGGER_KILLED ? -1 : 0); /* the owner's to say */
    if (how == LOGGER_KILLED) {
        buffers_map();
        start_log();
    } else {
        open_log(_NTO_TRACE_SETLINEARMODE, policy);
    }
    each_cpu_start(inserts);
    set_priority(priority + 1);
    for (unsigned tries = 0; tries < 10000 && !all_lose(); tries++) {
        sleep_ms(1);
    }
    EXPECT(all_lose() && log_runs());
    end_hook(how, pid, rcvid);
    EXPECT(!log_runs());
    asked_enough = true;
    set_priority(priority);
    each_cpu_join();
    buffers_take(scan);
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        uint64_t n = check_account(cpu, false);
        EXPECT(n <= accounts[cpu].inserted && n > accounts[cpu].recorded);
        EXPECT(accounts[cpu].recorded > 0 && accounts[cpu].last <= n);
        EXPECT(policy == _NTO_TRACE_SKIPBUFFER || accounts[cpu].last == n);
        EXPECT(policy != _NTO_TRACE_SKIPBUFFER || accounts[cpu].last == accounts[cpu].recorded);
        inserted += accounts[cpu].inserted;
        made += n;
        recorded += accounts[cpu].recorded;
    }
    say("loss: %s: %lu of %lu events made, %lu of them lost", what, (unsigned long)made,
        (unsigned long)inserted, (unsigned long)(made - recorded));
    few_are_recorded(how != LOGGER_KILLED);
    drop_link(&to_judge);
}

static void t_hook_killed(void)
{
    run_hook(HOOK_KILLED, _NTO_TRACE_OVERWRITEBUFFER, "hook's owner killed");
    run_hook(HOOK_KILLED, _NTO_TRACE_SKIPBUFFER, "hook's owner killed, skip");
}

static void t_hook_detached(void)
{
    run_hook(HOOK_DETACHED, _NTO_TRACE_OVERWRITEBUFFER, "hook detached");
    run_hook(HOOK_DETACHED, _NTO_TRACE_SKIPBUFFER, "hook detached, skip");
}

static void t_logger_killed(void)
{
    EXPECT_EQ(command(_NTO_TRACE_OVERWRITEBUFFER), 0); /* holds when there are buffers */
    run_hook(LOGGER_KILLED, _NTO_TRACE_OVERWRITEBUFFER, "logger killed");
}

static const struct check table[] = {
    {"buffers give way", t_overwrites},
    {"events are skipped", t_skips},
    {"some buffers are taken", t_taken},
    {"a ring", t_ring},
    {"the hook's owner is killed", t_hook_killed},
    {"the hook is detached", t_hook_detached},
    {"the logger is killed", t_logger_killed},
};

int main(int argc, char **argv)
{
    if (argc == 4) {
        return other_main(argv);
    }
    events = argc > 1 ? (unsigned)atoi(argv[1]) : events;
    return check_run("loss", table, COUNT(table));
}
