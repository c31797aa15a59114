/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QUERYLOSS of each CPU, from each CPU, while all of them record and lose. A thread on each CPU
 * inserts numbered events and counts them itself, until the main thread, which goes from CPU to
 * CPU, has asked on each. Each answer is of one moment: what it says was made is what that CPU had
 * inserted by then, and its sums agree. At the end the numbers that are missing in what each CPU
 * recorded are its losses, no more and no fewer. `t_loss [EVENTS]`, of each thread at least.
 */
#include "test/boot/programs/each_cpu.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/include/kymo.h"

#define BUFFERS 4 /* per CPU */
#define CODE 5
#define INSERTS_AT_ONCE 64 /* then the others of this CPU have their turn */
#define TAKINGS 2          /* of buffers, in the test that takes some */
/* Times `events`: so many a thread inserts at most, whatever has not been asked then. */
#define INSERTS_MOST 100

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
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
        if (accounts[cpu].inserted == 0) {
            return false;
        }
    }
    return true;
}

/* ---- what is recorded -------------------------------------------------------------- */

static void open_log(unsigned mode, unsigned policy)
{
    memset(accounts, 0, sizeof(accounts));
    asked_enough = false;
    buffers_open(BUFFERS);
    EXPECT_EQ(command(mode), 0);
    EXPECT_EQ(command(policy), 0);
    EXPECT_EQ(command(_NTO_TRACE_DELALLCLASSES), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
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
    if (cpu_count() > 1) {
        EXPECT(ThreadCtl(_NTO_TCTL_RUNMASK, (void *)(uintptr_t)(1u << cpu)) != -1);
    }
}

static void set_priority(int priority)
{
    const struct sched_param param = {.sched_priority = priority};

    EXPECT_EQ(pthread_setschedparam(pthread_self(), SCHED_RR, &param), 0);
}

static uint64_t lost_so_far(void)
{
    uint64_t lost = 0;

    for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
        lost += accounts[cpu].lost;
    }
    return lost;
}

/* Asks about each CPU from each, at least once while all insert; returns how often. takes: takes
 * the buffers, too, whenever more has been lost since it took them last. */
static unsigned ask_all(bool takes)
{
    unsigned rounds = 0, takings = 0, from = 0;
    const unsigned everywhere = (1u << cpu_count()) - 1;
    uint64_t taken_at = 0;
    int priority = own_priority();

    set_priority(priority + 1);
    while (each_cpu_works()) {
        unsigned here = rounds++ % cpu_count();
        from |= all_insert() ? 1u << here : 0;
        go_to(here);
        for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
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

/* After STOP, when all has been taken. recycled: of a ring, what newer events have overwritten. */
static void check_end(unsigned cpu, bool rings)
{
    struct kymo_trace_loss l = {0};
    const struct account *a = &accounts[cpu];

    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYLOSS, cpu, &l), 0);
    check_sums(&l);
    EXPECT_EQ(users_made(&l), a->inserted);
    EXPECT(rings || l.recycled == 0);
    EXPECT_EQ(l.lost[TRACE_CLASS_USER] + l.recycled, a->inserted - a->recorded);
    EXPECT_EQ(a->dropped + pending_of(&l, TRACE_CLASS_USER), l.lost[TRACE_CLASS_USER]);
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
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
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

static const struct check table[] = {
    {"buffers give way", t_overwrites},
    {"events are skipped", t_skips},
    {"some buffers are taken", t_taken},
    {"a ring", t_ring},
};

int main(int argc, char **argv)
{
    events = argc > 1 ? (unsigned)atoi(argv[1]) : events;
    return check_run("loss", table, COUNT(table));
}
