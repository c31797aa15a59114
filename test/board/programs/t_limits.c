/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceEvent()'s limits to a process or thread. Four workers, two in this process and two in
 * another, all do the same: kernel calls, pulses to themselves, looking up a name. Whose an event
 * is, is told as a reader tells it, by the CPU's last THRUNNING. Without a limit each worker has
 * its number of each; with one, those that it names have exactly the same, and nobody else has any.
 * It needs the log for itself, and leaves alone whose it is. `t_limits work PID CHID` is the other
 * process.
 */
#include "test/board/programs/check.h"
#include "trace/slot.h"

#include <stdio.h>
#include <stdlib.h>

#define BUFFERS (12 * 1024 / TRACE_BUFFER_SLOTS) /* per CPU */
#define CPUS_MOST 8
#define CALLS 150
#define PULSES 25
#define LOOKUPS 12
#define WORKERS 4 /* 0, 1: in this process; 2, 3: in the other */

static const struct trace_slot *block;
static struct link to;

struct who {
    uint32_t pid, tid;
};
static struct who workers[WORKERS];

/* What a thread had recorded. */
enum what { ENTER, EXIT, PULSE_SENT, PULSE_RECEIVED, LOOKUP, WHATS };
static const unsigned numbers[WHATS] = {CALLS, CALLS, PULSES, PULSES, LOOKUPS};
static struct {
    unsigned of[WORKERS][WHATS];
    unsigned calls_of_others, comm_of_others, lookups_of_others; /* of nobody among the workers */
    unsigned states[WORKERS], states_of_others;
    unsigned texts; /* MAPNAME of the state dump, which is of the process it tells of */
    uint32_t text_pid;
    unsigned events; /* all but CONTROL */
} seen;

/* ---- the workers ------------------------------------------------------------------- */

static int server_pid, server_chid; /* 0: this process's own */

static void work(void)
{
    struct link own = make_link(0);
    const uintptr_t args[6] = {0};
    struct kymo_name name;
    struct _pulse pulse;

    for (unsigned i = 0; i < CALLS; i++) {
        raw_call(0, args);
    }
    for (unsigned i = 0; i < PULSES; i++) {
        EXPECT_EQ(MsgSendPulse(own.coid, -1, 5, (int)i), 0);
        EXPECT_EQ(MsgReceivePulse(own.chid, &pulse, sizeof(pulse), NULL), 0);
    }
    for (unsigned i = 0; i < LOOKUPS; i++) {
        EXPECT_ERR(NameLookup("nobody has it", &name), ENOENT);
    }
    drop_link(&own);
}

/* Tells the server that it is there, waits for the answer, works, tells that it is done. */
static void *worker(void *arg)
{
    int coid = ConnectAttach(0, server_pid, server_chid, _NTO_SIDE_CHANNEL, 0);
    char c = 0;

    EXPECT(coid >= 0);
    EXPECT_EQ(MsgSend(coid, &c, 1, &c, 1), 0);
    work();
    EXPECT_EQ(MsgSend(coid, &c, 1, &c, 1), 0);
    EXPECT_EQ(ConnectDetach(coid), 0);
    return arg;
}

static int other_process(char **argv)
{
    server_pid = atoi(argv[2]);
    server_chid = atoi(argv[3]);
    int tid = start_thread(worker, NULL, 0);
    worker(NULL);
    join(tid);
    return check_failure()[0] != '\0';
}

/* ---- looking ----------------------------------------------------------------------- */

static unsigned worker_of(struct who who)
{
    unsigned i = 0;

    while (i < WORKERS && (workers[i].pid != who.pid || workers[i].tid != who.tid)) {
        i++;
    }
    return i;
}

static int what_of(uint32_t header)
{
    switch (header & (TRACE_CLASS_MASK | TRACE_EVENT_MASK)) {
    case TRACE_HEADER(0, 0, TRACE_CLASS_KER_CALL, TRACE_KERCALL_ENTER):
        return ENTER;
    case TRACE_HEADER(0, 0, TRACE_CLASS_KER_CALL, TRACE_KERCALL_EXIT):
        return EXIT;
    case TRACE_HEADER(0, 0, TRACE_CLASS_COMM, 1):
        return PULSE_SENT;
    case TRACE_HEADER(0, 0, TRACE_CLASS_COMM, 3):
        return PULSE_RECEIVED;
    case TRACE_HEADER(0, 0, TRACE_CLASS_SYSTEM, 2):
        return LOOKUP;
    default:
        return WHATS;
    }
}

static void count(const struct trace_slot *slot, struct who running)
{
    if ((slot->header & ~(TRACE_CPU_MASK | TRACE_STATE_DUMP)) ==
        TRACE_HEADER(0, TRACE_STRUCT_CB, TRACE_CLASS_SYSTEM, 8)) {
        seen.texts++;
        seen.text_pid = slot->d1;
        return;
    }
    unsigned class = TRACE_GET_CLASS(slot->header);
    unsigned i = worker_of(class == TRACE_CLASS_PR_TH ? (struct who){slot->d1, slot->d2} : running);

    if (class == TRACE_CLASS_PR_TH && TRACE_GET_EVENT(slot->header) < 64) {
        (i < WORKERS ? &seen.states[i] : &seen.states_of_others)[0]++;
    } else if (i < WORKERS && what_of(slot->header) < WHATS) {
        seen.of[i][what_of(slot->header)]++;
    } else if (i == WORKERS) {
        seen.calls_of_others += trace_class_is_call(class);
        seen.comm_of_others += class == TRACE_CLASS_COMM;
        seen.lookups_of_others += what_of(slot->header) == LOOKUP;
    }
}

static void look(const struct kymo_trace_buffer *b, struct who *running)
{
    const struct trace_slot *slot = block + (size_t)b->index * TRACE_BUFFER_SLOTS;

    for (uint32_t i = 0; i < b->slots; i++, slot++) {
        uint32_t structure = TRACE_GET_STRUCT(slot->header);

        if (TRACE_GET_CLASS(slot->header) == TRACE_CLASS_CONTROL) {
            EXPECT(TRACE_GET_EVENT(slot->header) != TRACE_CONTROL_DROPPED);
        } else if (structure == TRACE_STRUCT_S || structure == TRACE_STRUCT_CB) {
            seen.events++;
            if ((slot->header & (TRACE_CLASS_MASK | TRACE_EVENT_MASK)) ==
                TRACE_HEADER(0, 0, TRACE_CLASS_PR_TH, STATE_RUNNING)) {
                *running = (struct who){slot->d1, slot->d2};
            }
            count(slot, *running);
        }
    }
}

/* After STOP: all that there is, each CPU's in its order; as much as was made. */
static void look_at_all(void)
{
    struct who running[CPUS_MOST] = {{0, 0}};
    struct kymo_trace_buffer b;
    uint64_t made = 0;

    memset(&seen, 0, sizeof(seen));
    while (TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b) == 0) {
        look(&b, &running[b.cpu % CPUS_MOST]);
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, b.index), 0);
    }
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        struct kymo_trace_loss loss = {0};

        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYLOSS, cpu, &loss), 0);
        made += loss.made;
    }
    EXPECT_EQ(made, seen.events);
}

/* ---- a capture --------------------------------------------------------------------- */

/* False: it is somebody else's, who is left alone. */
static bool open_log(void)
{
    static const unsigned classes[] = {_NTO_TRACE_KERCALL, _NTO_TRACE_THREAD, _NTO_TRACE_SYSTEM,
                                       _NTO_TRACE_COMM};
    struct kymo_map map = {.flags = KYMO_MAP_TRACE | KYMO_PROT_READ};
    uint64_t paddr;

    if (TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, BUFFERS, &paddr) != 0) {
        check_fail(__FILE__, __LINE__, "ALLOCBUFFER: errno %d", errno);
        return false;
    }
    EXPECT_EQ(MemMap(&map), 0);
    block = (const struct trace_slot *)(uintptr_t)map.vaddr;
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_SETLINEARMODE), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DELALLCLASSES), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_SETALLCLASSESFAST), 0);
    for (unsigned i = 0; i < COUNT(classes); i++) {
        EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, classes[i]), 0);
    }
    return true;
}

static void receive_all(int *rcvids, struct who *whose)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        struct _msg_info info;
        char c;

        rcvids[i] = MsgReceive(to.chid, &c, 1, &info);
        EXPECT(rcvids[i] > 0);
        whose[i] = (struct who){(uint32_t)info.pid, (uint32_t)info.tid};
    }
}

static void reply_all(const int *rcvids)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        char c = 0;
        EXPECT_EQ(MsgReply(rcvids[i], 0, &c, 1), 0);
    }
}

/* This process's workers first. */
static void sort_workers(const struct who *whose)
{
    unsigned own = 0, other = 2;

    for (unsigned i = 0; i < WORKERS; i++) {
        workers[whose[i].pid == (uint32_t)self_pid() ? own++ % 2 : 2 + other++ % 2] = whose[i];
    }
}

/* They work, while the log runs, if it is ours. */
static void let_them_work(void (*limit)(void))
{
    int rcvids[WORKERS];
    struct who whose[WORKERS];

    receive_all(rcvids, whose);
    sort_workers(whose);
    bool ours = open_log();
    if (ours) {
        limit();
        EXPECT_EQ(TraceEvent((int)_NTO_TRACE_START), 0);
    }
    reply_all(rcvids);
    receive_all(rcvids, whose);
    if (ours) {
        EXPECT_EQ(TraceEvent((int)_NTO_TRACE_STOP), 0);
    }
    reply_all(rcvids);
    if (ours) {
        look_at_all();
        EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER), 0);
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_CLRALLTHREADS), 0);
    }
}

/* The four work while the log runs, limited by `limit`; then seen is what it has of them. Without
 * the other process nobody would ever answer. */
static void capture(void (*limit)(void))
{
    int status = -1;
    char pid[12], chid[12];

    to = make_link(0);
    server_chid = to.chid;
    snprintf(pid, sizeof(pid), "%d", self_pid());
    snprintf(chid, sizeof(chid), "%d", to.chid);
    int child = spawn("t_limits", 0, 0, "work", pid, chid);
    EXPECT(child > 0);
    if (child > 0) {
        int tids[2] = {start_thread(worker, NULL, 0), start_thread(worker, NULL, 0)};
        let_them_work(limit);
        join(tids[0]);
        join(tids[1]);
        EXPECT_EQ(ProcWait(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    drop_link(&to);
}

/* Which workers, as bits, have all of their events of a kind; the others have none. */
static void expect_of(enum what what, unsigned who)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        EXPECT_EQ(seen.of[i][what], who >> i & 1 ? numbers[what] : 0);
    }
}

static void expect_all_of(unsigned who)
{
    for (enum what what = ENTER; what < WHATS; what++) {
        expect_of(what, who);
    }
    EXPECT_EQ(seen.calls_of_others, 0);
    EXPECT_EQ(seen.comm_of_others, 0);
    EXPECT_EQ(seen.lookups_of_others, 0);
}

/* ---- the tests --------------------------------------------------------------------- */

static int limit_class(unsigned class, unsigned i, bool thread)
{
    return thread ? TraceEvent((int)_NTO_TRACE_SETCLASSTID, class, workers[i].pid, workers[i].tid)
                  : TraceEvent((int)_NTO_TRACE_SETCLASSPID, class, workers[i].pid);
}

static int limit_event(unsigned class, unsigned event, unsigned i, bool thread)
{
    return thread ? TraceEvent((int)_NTO_TRACE_SETEVENTTID, class, event, workers[i].pid,
                               workers[i].tid)
                  : TraceEvent((int)_NTO_TRACE_SETEVENTPID, class, event, workers[i].pid);
}

static void nothing(void)
{
}

static void t_truth(void)
{
    capture(nothing);
    for (enum what what = ENTER; what < WHATS; what++) {
        expect_of(what, 0xf);
    }
    EXPECT(seen.calls_of_others > 0); /* this thread's */
    EXPECT(seen.texts >= 2);
}

static void to_the_other_process(void)
{
    EXPECT_EQ(limit_class(_NTO_TRACE_KERCALL, 2, false), 0);
    EXPECT_EQ(limit_class(_NTO_TRACE_SYSTEM, 2, false), 0);
    EXPECT_EQ(limit_class(_NTO_TRACE_COMM, 2, false), 0);
}

static void t_process(void)
{
    capture(to_the_other_process);
    expect_all_of(0xc);
    EXPECT_EQ(seen.texts, 1);
    EXPECT_EQ(seen.text_pid, workers[2].pid);
    EXPECT(seen.states_of_others > 0 && seen.states[0] > 0 && seen.states[3] > 0);
}

static void to_a_thread(void)
{
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_SETALLCLASSESWIDE), 0);
    EXPECT_EQ(limit_class(_NTO_TRACE_KERCALL, 1, true), 0);
    EXPECT_EQ(limit_class(_NTO_TRACE_SYSTEM, 1, true), 0);
    EXPECT_EQ(limit_class(_NTO_TRACE_COMM, 1, true), 0);
}

static void t_thread(void)
{
    capture(to_a_thread);
    expect_all_of(0x2);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_SETALLCLASSESFAST), 0);
}

static void by_event(void)
{
    EXPECT_EQ(limit_event(_NTO_TRACE_KERCALLENTER, 0, 0, true), 0);
    EXPECT_EQ(limit_event(_NTO_TRACE_KERCALLEXIT, 0, 2, false), 0);
    EXPECT_EQ(limit_event(_NTO_TRACE_COMM, 1, 3, true), 0);
    EXPECT_EQ(limit_event(_NTO_TRACE_COMM, 3, 0, false), 0);
    EXPECT_EQ(limit_class(_NTO_TRACE_COMM, 0, false), 0); /* both must hold: no SPULSE at all */
}

static void t_events(void)
{
    capture(by_event);
    expect_of(ENTER, 0x1);
    expect_of(EXIT, 0xc);
    expect_of(PULSE_SENT, 0);
    expect_of(PULSE_RECEIVED, 0x3);
    expect_of(LOOKUP, 0xf);
    EXPECT(seen.calls_of_others > 0);
}

/* Of states those that a thread is in, not those that it makes another be in. */
static void to_states_of_a_thread(void)
{
    EXPECT_EQ(limit_class(_NTO_TRACE_THREAD, 3, true), 0);
}

static void t_states(void)
{
    capture(to_states_of_a_thread);
    EXPECT(seen.states[3] > 2); /* READY, RUNNING, REPLY at least */
    EXPECT_EQ(seen.states[0] + seen.states[1] + seen.states[2] + seen.states_of_others, 0);
}

/* One that nobody is. */
static void to_nobody(void)
{
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_SETCLASSPID, _NTO_TRACE_KERCALL, 0x7ffffff0), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_SETCLASSTID, _NTO_TRACE_COMM, workers[0].pid, 99), 0);
    EXPECT_EQ(limit_class(_NTO_TRACE_SYSTEM, 0, true), 0);
    EXPECT_EQ(limit_event(_NTO_TRACE_SYSTEM, 2, 1, true), 0);
}

static void t_nobody(void)
{
    capture(to_nobody);
    expect_all_of(0);
}

static const struct check table[] = {
    {"no limit", t_truth},        {"to a process", t_process}, {"to a thread, wide", t_thread},
    {"event by event", t_events}, {"states", t_states},        {"to nobody", t_nobody},
};

int main(int argc, char **argv)
{
    return argc > 3 ? other_process(argv) : check_run("limits", table, COUNT(table));
}
