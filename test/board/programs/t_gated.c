/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event log's gate while all CPUs make events: set, changed and taken away meanwhile, limited
 * to a thread, its owner killed. Each kernel call that is made is two events, of which each is made
 * or stopped, and each that is made is in a buffer, lost or recycled: the sums are exact. Programs:
 * test/board/gate. `t_gated own` is the owner that is killed. Runs alone: no tracelogger.
 */
#include "test/board/programs/dcalls.h"
#include "test/board/programs/tracing.h"

#define STORM 2000 /* calls of each CPU's thread */
#define SIGNAL_KILL 26
#define NOBODY 0x7f00
#define CPUS_MOST 8

static unsigned going;
static int tids[CPUS_MOST];

static int gate(const char *name)
{
    struct kymo_trace_refusal why = {0};

    return TraceEvent((int)KYMO_TRACE_SETGATE, name, &why);
}

/* The odd ones ask for somebody who isn't there. */
static void kills(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        SignalKill(0, i % 2 ? NOBODY : 0, 0, 0, (int)i, (int)i);
    }
}

static void *storm(void *cpu)
{
    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)(1ul << (uintptr_t)cpu));
    kills(STORM);
    __atomic_fetch_sub(&going, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void start_storm(void)
{
    going = cpu_count();
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        tids[cpu] = start_thread(storm, (void *)(uintptr_t)cpu, 9);
    }
}

static bool storms(void)
{
    return __atomic_load_n(&going, __ATOMIC_ACQUIRE) > 0;
}

static void end_storm(void)
{
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        join(tids[cpu]);
    }
}

/* Both events of this kind of call, and nothing else. */
static void only_kills(void)
{
    EXPECT_EQ(command(_NTO_TRACE_DELALLCLASSES), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDEVENT, _NTO_TRACE_KERCALL, SIGNAL_KILL), 0);
}

/* ---- the account ------------------------------------------------------------------- */

static struct {
    uint64_t made, stopped, lost, recycled, taken;
} sum;

static void count_buffer(const struct kymo_trace_buffer *b)
{
    const struct trace_slot *slot = slots_of(b);

    for (unsigned i = 0; i < b->slots; i++) {
        unsigned structure = TRACE_GET_STRUCT(slot[i].header);
        sum.taken += trace_class_is_call(TRACE_GET_CLASS(slot[i].header)) &&
                     structure != TRACE_STRUCT_CC && structure != TRACE_STRUCT_CE;
    }
}

static void account(bool read)
{
    struct kymo_trace_buffer b;

    memset(&sum, 0, sizeof(sum));
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        struct kymo_trace_stopped stopped = {{0}};
        struct kymo_trace_loss loss = {0};
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYSTOPPED, cpu, &stopped), 0);
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYLOSS, cpu, &loss), 0);
        sum.made += loss.made;
        sum.recycled += loss.recycled;
        for (unsigned class = 0; class < KYMO_TRACE_CLASSES; class ++) {
            sum.stopped += stopped.events[class];
            sum.lost += loss.lost[class];
        }
    }
    while (read && TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b) == 0) {
        count_buffer(&b);
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, b.index), 0);
    }
    if (read) {
        EXPECT_EQ(sum.made, sum.taken + sum.lost + sum.recycled);
    }
}

/* ---- tests ------------------------------------------------------------------------- */

static void changes(unsigned mode)
{
    static const char *const programs[] = {"gated.dif", "either.dif", "variable.dif",
                                           "trigger.dif"};
    unsigned sets = 0;

    open_buffers();
    EXPECT_EQ(command(mode), 0);
    only_kills();
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    start_storm();
    while (storms()) {
        EXPECT_EQ(gate(programs[sets++ % COUNT(programs)]), 0);
        sleep_ms(1);
        EXPECT_EQ(gate(NULL), 0);
    }
    end_storm();
    EXPECT(sets > 2);
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    account(true);
    EXPECT_EQ(sum.made + sum.stopped, 2ull * STORM * cpu_count());
    EXPECT(sum.stopped > 0);
    close_buffers();
}

static void t_linear(void)
{
    changes(_NTO_TRACE_SETLINEARMODE);
}

static void t_ring(void)
{
    changes(_NTO_TRACE_SETRINGMODE);
}

/* What the limit keeps out isn't asked about: neither made nor stopped. */
static void t_limited(void)
{
    open_buffers();
    only_kills();
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_SETEVENTTID, _NTO_TRACE_KERCALL, SIGNAL_KILL, self_pid(),
                         self_tid()),
              0);
    EXPECT_EQ(gate("gated.dif"), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    start_storm();
    kills(99);
    end_storm();
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    account(true);
    EXPECT_EQ(sum.made + sum.stopped, 2 * 99);
    EXPECT(sum.made < sum.stopped && sum.made > 0);
    EXPECT_EQ(command(KYMO_TRACE_CLRALLTHREADS), 0);
    close_buffers();
}

/* Of a D consumer's clauses, which count and speculate on the same site, all fire. */
static void t_beside_d(void)
{
    uint32_t handle;

    open_buffers();
    only_kills();
    handle = d_create("counts.dif");
    d_do(handle, KYMO_D_GO);
    EXPECT_EQ(gate("gated.dif"), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    start_storm();
    end_storm();
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    d_do(handle, KYMO_D_STOP);
    account(true);
    EXPECT_EQ(sum.made + sum.stopped, 2ull * STORM * cpu_count());
    EXPECT_EQ(d_count_of(handle, 1), 2ull * STORM * cpu_count());
    d_do(handle, KYMO_D_DESTROY);
    close_buffers();
}

/* A ring goes on without its owner, with its gate; whoever is able stops it. The kill is a call,
 * too. */
static void t_killed(void)
{
    struct kymo_trace_owner owner = {0};
    struct world before = d_world();
    int pid = spawn("t_gated", ABILITY_TRACE | ABILITY_DTRACE_KERNEL, 0, "own", NULL, NULL), status;

    EXPECT(pid > 0);
    for (unsigned i = 0; i < 2000 && !owner.running; i++) {
        sleep_ms(1);
        TraceEvent((int)KYMO_TRACE_QUERYOWNER, &owner);
    }
    EXPECT_EQ(owner.pid, pid);
    start_storm();
    sleep_ms(2);
    EXPECT_EQ(SignalKill(0, pid, 0, KYMO_SIGKILL, 0, 0), 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    end_storm();
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYOWNER, &owner), 0);
    EXPECT(owner.gone && owner.running);
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    account(false);
    EXPECT_EQ(sum.made + sum.stopped, 2ull * STORM * cpu_count() + 2);
    EXPECT(sum.stopped > sum.made && sum.made > 0);
    EXPECT_EQ(command(_NTO_TRACE_DEALLOCBUFFER), 0);
    d_world_is(&before);
    open_buffers(); /* and no gate is left */
    only_kills();
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    kills(99);
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    account(true);
    EXPECT_EQ(sum.made, 2 * 99);
    EXPECT_EQ(sum.stopped, 0);
    close_buffers();
}

static int own(void)
{
    open_buffers();
    only_kills();
    command(_NTO_TRACE_SETRINGMODE);
    if (gate("gated.dif") != 0 || command(_NTO_TRACE_STARTNOSTATE) != 0) {
        return 1;
    }
    sleep_ms(60000);
    return 1;
}

int main(int argc, char **argv)
{
    static const struct check table[] = {{"changed in a storm", t_linear},
                                         {"changed in a ring's storm", t_ring},
                                         {"limited to a thread", t_limited},
                                         {"beside D's clauses", t_beside_d},
                                         {"its owner is killed", t_killed}};

    if (argc == 2 && strcmp(argv[1], "own") == 0) {
        return own();
    }
    return check_run("gated", table, COUNT(table));
}
