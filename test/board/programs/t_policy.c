/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What becomes of events when buffers run out: every policy with an exact account (what was made is
 * in the buffers or was counted lost), BUSY buffers, and a state dump that must wait for buffers.
 */
#include "test/board/programs/tracing.h"

#define MANY 9000 /* more than PER_CPU buffers hold */
#define FEW 40    /* fewer than any buffer's high-water mark */

static void account(const struct found *f, uint64_t made)
{
    struct kymo_trace_loss l = loss();
    uint64_t pending = 0, by_reason = 0;

    for (unsigned r = 0; r < KYMO_TRACE_REASONS; r++) {
        pending += l.pending[r][TRACE_CLASS_USER];
        by_reason += l.lost_reason[r];
    }
    EXPECT_EQ(l.made, made);
    EXPECT_EQ(by_reason, l.lost[TRACE_CLASS_USER]);
    EXPECT_EQ(f->users + l.lost[TRACE_CLASS_USER], made);
    EXPECT_EQ(f->dropped + pending, l.lost[TRACE_CLASS_USER]);
}

static void overrun(unsigned policy, bool newest)
{
    struct found f;

    open_buffers();
    EXPECT_EQ(command(policy), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    insert(0, MANY); /* nobody takes */
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    f = take_all();
    EXPECT(f.users >= TRACE_HIGH_WATER - 15 && f.users < MANY);
    EXPECT(!f.gaps);
    EXPECT_EQ(newest ? f.last : f.first, newest ? MANY - 1 : 0);
    account(&f, MANY);
    EXPECT(newest || loss().lost_reason[KYMO_DROP_NOBUFFER] > 0);
    EXPECT(!newest || loss().lost_reason[KYMO_DROP_OVERWRITTEN] > 0);
    close_buffers();
}

static void t_overwrite(void)
{
    overrun(_NTO_TRACE_OVERWRITEBUFFER, true);
}
static void t_skip(void)
{
    overrun(_NTO_TRACE_SKIPBUFFER, false);
}

static void t_fill(void)
{
    struct found f;

    open_buffers();
    EXPECT_EQ(command(KYMO_TRACE_SETFILLMODE), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    insert(0, MANY);
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    f = take_all();
    EXPECT(f.users > PER_CPU * (TRACE_BUFFER_SLOTS - 10)); /* all the space */
    EXPECT_EQ(f.first, 0);
    EXPECT(!f.gaps);
    EXPECT_EQ(loss().lost_reason[KYMO_DROP_FILLED], MANY - f.users);
    account(&f, MANY);
    close_buffers();
}

static void t_ring(void)
{
    struct kymo_trace_buffer b;
    struct found f;

    open_buffers();
    EXPECT_EQ(command(_NTO_TRACE_SETRINGMODE), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    insert(0, MANY);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b), EBUSY); /* it runs */
    EXPECT_ERR(command(_NTO_TRACE_FLUSHBUFFER), ECANCELED);
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    f = take_all();
    EXPECT_EQ(f.last, MANY - 1);
    EXPECT(f.users >= (PER_CPU - 1) * (TRACE_HIGH_WATER - 15));
    EXPECT(!f.gaps);
    close_buffers();
}

/* A BUSY buffer is never written: its contents stay while everything else is used again. */
static void t_busy(void)
{
    struct kymo_trace_buffer b = {0};
    struct found f = {0};

    open_buffers();
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    insert(0, FEW);
    EXPECT_EQ(command(_NTO_TRACE_FLUSHBUFFER), 0);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b), 0);
    insert(FEW, MANY);
    scan(&b, &f);
    EXPECT_EQ(f.users, FEW);
    EXPECT_EQ(f.last, FEW - 1);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, b.index), 0);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, 9999), EINVAL);
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    take_all();
    close_buffers();
}

/* START's state dump waits for a FREE buffer: here until another thread takes what is READY. */
static void *start_with_dump(void *unused)
{
    (void)unused;
    EXPECT_EQ(command(_NTO_TRACE_START), 0);
    return NULL;
}

static void t_dump_waits(void)
{
    struct found before, after;
    int tid;

    open_buffers();
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    insert(0, MANY);
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    /* Only this state: any other event would have opened a buffer, with room for the dump. */
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDEVENT, _NTO_TRACE_THREAD, 1u << STATE_WAITCTX), 0);
    tid = start_thread(start_with_dump, NULL, 0);
    wait_state(self_pid(), tid, STATE_WAITCTX);
    before = take_all();
    join(tid);
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    after = take_all();
    EXPECT(before.waitctx || after.waitctx);
    if (before.waitctx || after.waitctx) {
        say("FIRED %d %d", TRACE_CLASS_PR_TH, STATE_WAITCTX);
    }
    close_buffers();
}

/* With a mark of 16 the dump needs several buffers, taken while it goes on: it has
 * all processes. */
static void t_dump_spans(void)
{
    struct kymo_thread_info info;
    struct kymo_proc_info proc;
    unsigned buffers = 0, found = 0, there = 0;
    struct found f;
    int tid;

    open_buffers();
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_PROCESS), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_THREAD), 0);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_SETHIGHWATER, 16), 0);
    tid = start_thread(start_with_dump, NULL, 0);
    for (int i = 0;
         i < 1000 && ThreadInfo(self_pid(), tid, &info) == tid && info.state != STATE_DEAD; i++) {
        f = take_all();
        buffers += f.buffers;
        found += f.processes;
        sleep_ms(1);
    }
    join(tid);
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    f = take_all();
    for (int pid = 1; (pid = ProcInfo(pid, &proc)) > 0; pid++) {
        there++;
    }
    EXPECT(buffers + f.buffers > 1);
    EXPECT_EQ(found + f.processes, there);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_SETHIGHWATER, TRACE_HIGH_WATER), 0);
    close_buffers();
}

#define NAMES 3000 /* more than a ring has room for */

static void *insert_elsewhere(void *unused)
{
    (void)unused;
    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)(uintptr_t)(1u << cpu_after(0)));
    SchedYield();
    insert(0, FEW);
    return NULL;
}

static void *take_a_name(void *unused)
{
    struct _thread_name name = {.new_name_len = 12, .name_buf = "of a request"};

    (void)unused;
    EXPECT_EQ(ThreadCtl(_NTO_TCTL_NAME, &name), 0);
    return NULL;
}

/* The names of threads that live and end on CPU 0 don't replace what another CPU has recorded
 * before. */
static void t_ring_of_idle(void)
{
    struct found f;

    if (cpu_count() == 1) {
        return;
    }
    open_buffers();
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_PROCESS), 0);
    EXPECT_EQ(command(_NTO_TRACE_SETRINGMODE), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    join(start_thread(insert_elsewhere, NULL, 0));
    for (unsigned i = 0; i < NAMES; i++) {
        join(start_thread(take_a_name, NULL, 0));
    }
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    f = take_all();
    EXPECT_EQ(f.users, FEW);
    EXPECT_EQ(f.first, 0);
    close_buffers();
}

#define STOPS 400      /* at most */
#define STOP_STEP 2000 /* nanoseconds that a STOP's thread has more than that of the one before */

static void *stop_with_dump(void *unused)
{
    (void)unused;
    command(_NTO_TRACE_STOP);
    return NULL;
}

/* A ring that began with START. Its names are wanted from now on only: the dump at its end has
 * all that there are. */
static void begin_ring(void)
{
    EXPECT_EQ(command(_NTO_TRACE_SETRINGMODE), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DELCLASS, _NTO_TRACE_PROCESS), 0);
    EXPECT_EQ(command(_NTO_TRACE_START), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_PROCESS), 0);
    insert(0, FEW);
}

/* What all CPUs have made since ALLOCBUFFER and not lost, or, being a ring, overwritten. */
static uint64_t kept(void)
{
    uint64_t n = 0;

    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        struct kymo_trace_loss l = {0};
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYLOSS, cpu, &l), 0);
        n += l.made - l.recycled;
        for (unsigned reason = 0; reason < KYMO_TRACE_REASONS; reason++) {
            n -= l.lost_reason[reason];
        }
    }
    return n;
}

/* The thread of a STOP is ended amid the dump, so the ring still runs. The next STOP dumps all. */
static void t_stop_is_ended(void)
{
    struct kymo_trace_owner ring = {.running = true};
    struct kymo_proc_info proc;
    unsigned there = 0, amid = 0, stops = 0, events = 0;

    for (int pid = 1; (pid = ProcInfo(pid, &proc)) > 0; pid++) {
        there++;
    }
    open_buffers();
    for (; ring.running && stops < STOPS; stops++) {
        const uint64_t ns = (uint64_t)stops * STOP_STEP;
        begin_ring();
        int tid = start_thread(stop_with_dump, NULL, own_priority() - 1);
        TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);
        ThreadDestroy(tid, 0, NULL); /* ESRCH: it has ended */
        join(tid);
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYOWNER, &ring), 0);
        EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
        struct found f = take_all();
        EXPECT_EQ(f.users, FEW);
        amid += f.processes > there;
        EXPECT(f.processes >= there);
        events += f.events;
        EXPECT_EQ(kept(), events);
    }
    say("policy: %u STOPs, %u ended amid their dump", stops, amid);
    /* One CPU is emulated by counting instructions: only there does the time say where it is. */
    EXPECT(cpu_count() > 1 || (amid > 0 && !ring.running));
    close_buffers();
}

static const struct check table[] = {
    {"overwrite", t_overwrite},
    {"skip", t_skip},
    {"fill", t_fill},
    {"ring", t_ring},
    {"ring of an idle CPU", t_ring_of_idle},
    {"busy buffers are safe", t_busy},
    {"dump waits", t_dump_waits},
    {"dump spans buffers", t_dump_spans},
    {"a STOP is ended", t_stop_is_ended},
};

int main(void)
{
    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)1);
    SchedYield();
    return check_run("policy", table, COUNT(table));
}
