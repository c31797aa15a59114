/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceEvent() from a program's side: every command's effect and errors, the buffers as they are
 * mapped, the policies, and exact accounts: what was made is in the buffers or was counted lost.
 * Runs alone: no tracelogger. Threads stay on CPU 0, so that one ring has it all.
 */
#include "test/boot/programs/check.h"
#include "trace/slot.h"

#include <stdio.h>

#define PER_CPU 4
#define TRACE_PROCESS_NAME 192 /* PROCCREATE_NAME */

static const struct trace_slot *block; /* the mapped buffers */
static size_t block_len;

static int command(unsigned cmd)
{
    return TraceEvent((int)cmd);
}

static void open_buffers(void)
{
    uint64_t paddr = 0;
    struct kymo_map map = {.flags = KYMO_MAP_TRACE | KYMO_PROT_READ};

    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, PER_CPU, &paddr), 0);
    EXPECT(paddr != 0);
    EXPECT_EQ(MemMap(&map), 0);
    block = (const struct trace_slot *)(uintptr_t)map.vaddr;
    block_len = (size_t)map.len;
    EXPECT(block_len >= (size_t)cpu_count() * PER_CPU * TRACE_BUFFER_BYTES);
    EXPECT_EQ(command(_NTO_TRACE_SETLINEARMODE), 0);
    EXPECT_EQ(command(_NTO_TRACE_OVERWRITEBUFFER), 0);
    EXPECT_EQ(command(_NTO_TRACE_DELALLCLASSES), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
}

static void close_buffers(void)
{
    EXPECT_EQ(command(_NTO_TRACE_DEALLOCBUFFER), 0);
    EXPECT_ERR(command(_NTO_TRACE_START), ECANCELED);
}

static void insert(uint32_t from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTSUSEREVENT, 5, from + i, ~(from + i)), 0);
    }
}

/* What is found in the buffers that can be taken. */
struct found {
    unsigned buffers, users, dropped; /* dropped: user events that DROPPED slots account for */
    uint32_t first, last;             /* numbers of the first and last user event */
    unsigned processes;               /* names of processes: of the state dump */
    bool gaps, waitctx;               /* waitctx: some thread went into that state */
};

static void scan(const struct kymo_trace_buffer *b, struct found *f)
{
    const struct trace_slot *slot = block + (size_t)b->index * TRACE_BUFFER_SLOTS;

    EXPECT_EQ(slot[0].header & ~TRACE_CPU_MASK,
              TRACE_HEADER(0, 0, TRACE_CLASS_CONTROL, TRACE_CONTROL_BUFFER));
    EXPECT_EQ(slot[0].d1, b->sequence);
    EXPECT_EQ(slot[0].d2, b->slots);
    EXPECT_EQ(slot[1].header & ~TRACE_CPU_MASK,
              TRACE_HEADER(0, 0, TRACE_CLASS_CONTROL, TRACE_CONTROL_TIME));
    for (uint32_t i = 2; i < b->slots; i++) {
        f->waitctx |= (slot[i].header & (TRACE_CLASS_MASK | TRACE_EVENT_MASK)) ==
                      TRACE_HEADER(0, 0, TRACE_CLASS_PR_TH, STATE_WAITCTX);
        f->processes += (slot[i].header & ~TRACE_CPU_MASK) ==
                        TRACE_HEADER(0, TRACE_STRUCT_CB, TRACE_CLASS_PR_TH, TRACE_PROCESS_NAME);
        EXPECT_EQ(TRACE_GET_CPU(slot[i].header), b->cpu);
        EXPECT((int32_t)(slot[i].time - slot[i - 1].time) >= 0);
        if (TRACE_GET_CLASS(slot[i].header) == TRACE_CLASS_USER) {
            EXPECT_EQ(slot[i].d2, ~slot[i].d1);
            f->gaps |= f->users != 0 && slot[i].d1 != f->last + 1;
            f->first = f->users++ == 0 ? slot[i].d1 : f->first;
            f->last = slot[i].d1;
        } else if (TRACE_GET_CLASS(slot[i].header) == TRACE_CLASS_CONTROL &&
                   TRACE_GET_EVENT(slot[i].header) == TRACE_CONTROL_DROPPED &&
                   (slot[i].d1 & 0xff) == TRACE_CLASS_USER) {
            f->dropped += slot[i].d2;
        }
    }
}

static struct found take_all(void)
{
    struct kymo_trace_buffer b;
    struct found f = {0};

    while (TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b) == 0) {
        f.buffers++;
        scan(&b, &f);
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, b.index), 0);
        EXPECT_ERR(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, b.index), EINVAL);
    }
    EXPECT_EQ(errno, EAGAIN);
    return f;
}

static struct kymo_trace_loss loss(void)
{
    struct kymo_trace_loss l = {0};

    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYLOSS, 0, &l), 0);
    return l;
}

/* ---- commands -------------------------------------------------------------------------------- */

static void t_no_buffers(void)
{
    struct kymo_trace_buffer b;
    uint64_t paddr;

    EXPECT_ERR(command(_NTO_TRACE_START), ECANCELED);
    EXPECT_ERR(command(_NTO_TRACE_STARTNOSTATE), ECANCELED);
    EXPECT_ERR(command(_NTO_TRACE_SETRINGMODE), ECANCELED);
    EXPECT_ERR(command(_NTO_TRACE_SETLINEARMODE), ECANCELED);
    EXPECT_ERR(command(_NTO_TRACE_FLUSHBUFFER), EFAULT);
    EXPECT_ERR(command(_NTO_TRACE_QUERYEVENTS), EFAULT);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b), -1);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, 1025, &paddr), EINVAL);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, 0, &paddr), EINVAL);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, 4, (void *)3), EFAULT);
    EXPECT_EQ(command(_NTO_TRACE_QUERYSUPPORT), 1);
    EXPECT(command(_NTO_TRACE_QUERYVERSION) > 0);
}

/* Maps memory in pieces of 128 MB down to 8 MB, until no such piece is left. */
static unsigned take_memory(struct kymo_map *pieces, unsigned most)
{
    unsigned n = 0;

    for (size_t len = 128u << 20; len >= 8u << 20; len /= 2) {
        pieces[n] = (struct kymo_map){.len = len, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
        while (n + 1 < most && MemMap(&pieces[n]) == 0) {
            pieces[n + 1] = (struct kymo_map){.len = len, .flags = pieces[n].flags};
            n++;
        }
    }
    return n;
}

/* With most of the memory taken, 16 MB of buffers for each CPU can't be contiguous. */
static void t_no_memory(void)
{
    struct kymo_map pieces[7];
    unsigned n = take_memory(pieces, COUNT(pieces));
    uint64_t paddr;

    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, 1024, &paddr), ENOMEM);
    EXPECT_ERR(command(_NTO_TRACE_START), ECANCELED);
    while (n > 0) {
        n--;
        EXPECT_EQ(MemUnmap((void *)(uintptr_t)pieces[n].vaddr, (size_t)pieces[n].len), 0);
    }
}

static void t_unknown(void)
{
    EXPECT_ERR(command(_NTO_TRACE_CMD(5, 7)), ENOTSUP);  /* ADDEVENTHANDLER */
    EXPECT_ERR(command(_NTO_TRACE_CMD(5, 9)), ENOTSUP);  /* INSERTEVENT */
    EXPECT_ERR(command(_NTO_TRACE_CMD(3, 22)), ENOTSUP); /* SETCLASSPID */
    EXPECT_ERR(command(_NTO_TRACE_CMD(1, 0)), ENOTSUP);
    EXPECT_ERR(command(_NTO_TRACE_CMD(1, 0xfff)), ENOTSUP);
    EXPECT_ERR(command(_NTO_TRACE_CMD(1, 0x1fff)), ENOTSUP);
    EXPECT_ERR(command(0xffffffffu), ENOTSUP);
}

static void t_classes(void)
{
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_ADDCLASS, 99), ENOTSUP);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_DELCLASS, 0xffffffffu), ENOTSUP);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_ADDEVENT, _NTO_TRACE_THREAD, 1u << 30), ENOTSUP);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_SETCLASSWIDE, 99), ENOTSUP);
    for (unsigned c = _NTO_TRACE_CONTROL; c <= _NTO_TRACE_INT_HANDLER_EXIT; c++) {
        if (c != _NTO_TRACE_VTHREAD) {
            EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, c), 0);
            EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DELCLASS, c), 0);
        }
    }
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDEVENT, _NTO_TRACE_KERCALLENTER, 11), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DELEVENT, _NTO_TRACE_KERCALLENTER, 11), 0);
    EXPECT_EQ(command(_NTO_TRACE_SETALLCLASSESWIDE), 0);
    EXPECT_EQ(command(_NTO_TRACE_SETALLCLASSESFAST), 0);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_SETHIGHWATER, 15), EINVAL);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_SETHIGHWATER, 1025), EINVAL);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_SETHIGHWATER, TRACE_HIGH_WATER), 0);
}

static void t_users(void)
{
    static uint32_t words[65];
    char longest[300];

    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTSUSEREVENT, 1024, 0, 0), EINVAL);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTCUSEREVENT, 1024, words, 1), EINVAL);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTCUSEREVENT, 1, words, 65), EINVAL);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTCUSEREVENT, 1, words, 0x40000001), EINVAL);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTCUSEREVENT, 1, (void *)4, 4), EFAULT);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTUSRSTREVENT, 1, (void *)4), EFAULT);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTUSRSTREVENT, 1, longest), EINVAL);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTCUSEREVENT, 1, words, 64), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTUSRSTREVENT, 1, "text"), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTSUSEREVENT, 1023, 1, 2), 0);
}

static void t_flush(void)
{
    uint64_t paddr;
    struct found f;

    open_buffers();
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, PER_CPU, &paddr), EEXIST);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0); /* it runs already */
    EXPECT_ERR(command(_NTO_TRACE_SETRINGMODE), ECANCELED);
    insert(0, 10);
    EXPECT(command(_NTO_TRACE_QUERYEVENTS) >= 10);
    EXPECT_EQ(command(_NTO_TRACE_FLUSHBUFFER), 0);
    f = take_all();
    EXPECT_EQ(f.users, 10);
    EXPECT_EQ(f.first, 0);
    EXPECT_EQ(f.last, 9);
    EXPECT(!f.gaps);
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    insert(10, 5); /* not made: nothing runs */
    f = take_all();
    EXPECT_EQ(f.users, 0);
    EXPECT_EQ(loss().made, 10);
    close_buffers();
}

/* ---- policies -------------------------------------------------------------------------------- */

#define MANY 9000 /* more than PER_CPU buffers hold */

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
    EXPECT(f.users > 700 && f.users < MANY);
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
    EXPECT(f.users >= (PER_CPU - 1) * 700);
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
    insert(0, 100);
    EXPECT_EQ(command(_NTO_TRACE_FLUSHBUFFER), 0);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b), 0);
    insert(100, MANY);
    scan(&b, &f);
    EXPECT_EQ(f.users, 100);
    EXPECT_EQ(f.last, 99);
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

/* With a mark of 16 the dump needs several buffers, taken while it goes on: it has all processes.
 */
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

static void t_hook(void)
{
    struct link to = make_link(0);
    struct sigevent event = {0};
    struct _pulse pulse;
    uint64_t ns = 1000 * MS;
    int id;

    SIGEV_PULSE_INIT(&event, to.coid, 30, 1, 0);
    open_buffers();
    id = InterruptAttachEvent((int)_NTO_HOOK_TRACE, &event, 0);
    EXPECT(id >= 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    insert(0, TRACE_HIGH_WATER);
    TimerTimeout(CLOCK_MONOTONIC_KYMO, _NTO_TIMEOUT_RECEIVE, NULL, &ns, NULL);
    EXPECT_EQ(MsgReceivePulse(to.chid, &pulse, sizeof(pulse), NULL), 0);
    EXPECT_EQ(pulse.value.sival_int & 0x7ff, 1); /* sequence; index in the bits above */
    EXPECT((unsigned)pulse.value.sival_int >> 13 < PER_CPU);
    EXPECT(take_all().users >= TRACE_HIGH_WATER - 8);
    EXPECT_EQ(InterruptDetach(id), 0); /* nobody would take: linear tracing stops */
    insert(0, 3);
    EXPECT_EQ(command(_NTO_TRACE_FLUSHBUFFER) == 0 || errno == ECANCELED, 1);
    take_all();
    close_buffers();
    drop_link(&to);
}

/* A buffer is handed over at the mark that was set, give or take what the call itself records. */
static void t_high_water(void)
{
    struct kymo_trace_buffer b = {0};

    open_buffers();
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_SETHIGHWATER, 100), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    insert(0, 97); /* with BUFFER and TIME: 99 */
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b), EAGAIN);
    insert(97, 3);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b), 0);
    EXPECT(b.slots > 100 && b.slots <= 102);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, b.index), 0);
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_SETHIGHWATER, TRACE_HIGH_WATER), 0);
    take_all();
    close_buffers();
}

static const struct check table[] = {
    {"without buffers", t_no_buffers},
    {"no contiguous memory", t_no_memory},
    {"unknown commands", t_unknown},
    {"classes", t_classes},
    {"user events' errors", t_users},
    {"flush", t_flush},
    {"overwrite", t_overwrite},
    {"skip", t_skip},
    {"fill", t_fill},
    {"ring", t_ring},
    {"busy buffers are safe", t_busy},
    {"dump waits", t_dump_waits},
    {"dump spans buffers", t_dump_spans},
    {"hook", t_hook},
    {"high-water mark", t_high_water},
};

int main(void)
{
    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)1);
    SchedYield();
    return check_run("trace", table, COUNT(table));
}
