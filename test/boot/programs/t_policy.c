/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What becomes of events when buffers run out: every policy with an exact account (what was made is
 * in the buffers or was counted lost), BUSY buffers, and a state dump that must wait for buffers.
 */
#include "test/boot/programs/tracing.h"

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
    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)2);
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

/* The names of threads that live and end on CPU 0 don't replace what CPU 1 has recorded before. */
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

static const struct check table[] = {
    {"overwrite", t_overwrite},
    {"skip", t_skip},
    {"fill", t_fill},
    {"ring", t_ring},
    {"ring of an idle CPU", t_ring_of_idle},
    {"busy buffers are safe", t_busy},
    {"dump waits", t_dump_waits},
    {"dump spans buffers", t_dump_spans},
};

int main(void)
{
    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)1);
    SchedYield();
    return check_run("policy", table, COUNT(table));
}
