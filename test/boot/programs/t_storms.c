/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One trace site, two listeners: the event log and D are put on it and taken off it in a storm,
 * while on each CPU a thread runs through it as fast as it can. The log, while D comes and goes: on
 * each CPU what was made is what is in its buffers and what DROPPED accounts for. D, while the log
 * starts and stops: every probe firing is counted. Both at once: the kernel lives, nothing is
 * counted twice; and in the end the kernel's text is as before. `t_storms [CALLS]`, of each thread.
 */
#include "test/boot/programs/dcalls.h"
#include "trace/slot.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/include/kymo.h"

#define BUFFERS 6 /* per CPU */
#define CPUS_MOST 8
#define NOP_ENTER TRACE_HEADER(0, 0, TRACE_CLASS_KER_CALL, 0)

static unsigned calls = 20000;
static volatile unsigned running; /* threads that are not done */

static void *makes_calls(void *arg)
{
    const uintptr_t args[6] = {0};

    for (unsigned i = 0; i < calls; i++) {
        raw_call(0, args);
    }
    __atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
    return arg;
}

static pthread_t threads[CPUS_MOST];
static void start_calls(void)
{
    running = cpu_count();
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
        pthread_attr_t attr;
        pthread_attr_init(&attr);
        if (cpu_count() > 1) {
            pthread_attr_setrunmask_np(&attr, UINT32_C(1) << cpu);
        }
        EXPECT_EQ(pthread_create(&threads[cpu], &attr, makes_calls, NULL), 0);
    }
}

static bool calls_go_on(void)
{
    return __atomic_load_n(&running, __ATOMIC_ACQUIRE) > 0;
}

static void join_calls(void)
{
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
        EXPECT_EQ(pthread_join(threads[cpu], NULL), 0);
    }
}

/* ---- the log ----------------------------------------------------------------------- */

static const struct trace_slot *block;
static uint64_t recorded[CPUS_MOST], dropped[CPUS_MOST];

static int command(unsigned cmd)
{
    return TraceEvent((int)cmd);
}

/* Only the way in of nop is recorded. */
static void open_log(void)
{
    uint64_t paddr = 0;
    struct kymo_map map = {.flags = KYMO_MAP_TRACE | KYMO_PROT_READ};

    memset(recorded, 0, sizeof(recorded));
    memset(dropped, 0, sizeof(dropped));
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, BUFFERS, &paddr), 0);
    EXPECT_EQ(MemMap(&map), 0);
    block = (const struct trace_slot *)(uintptr_t)map.vaddr;
    EXPECT_EQ(command(_NTO_TRACE_SETLINEARMODE), 0);
    EXPECT_EQ(command(_NTO_TRACE_DELALLCLASSES), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDEVENT, _NTO_TRACE_KERCALLENTER, 0), 0);
}

static void scan(const struct kymo_trace_buffer *b)
{
    const struct trace_slot *slot = block + (size_t)b->index * TRACE_BUFFER_SLOTS;

    for (uint32_t i = 0; i < b->slots; i++) {
        unsigned class = TRACE_GET_CLASS(slot[i].header), event = TRACE_GET_EVENT(slot[i].header);
        EXPECT_EQ(TRACE_GET_CPU(slot[i].header), b->cpu);
        if ((slot[i].header & ~TRACE_CPU_MASK) == NOP_ENTER) {
            recorded[b->cpu % CPUS_MOST]++;
        } else if (class == TRACE_CLASS_CONTROL && event == TRACE_CONTROL_DROPPED) {
            EXPECT_EQ(slot[i].d1 & 0xff, TRACE_CLASS_KER_CALL);
            dropped[b->cpu % CPUS_MOST] += slot[i].d2;
        } else {
            EXPECT_EQ(class, TRACE_CLASS_CONTROL);
        }
    }
}

static void take_all(void)
{
    struct kymo_trace_buffer b;

    while (TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b) == 0) {
        scan(&b);
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, b.index), 0);
    }
    EXPECT_EQ(errno, EAGAIN);
}

static uint64_t pending(unsigned cpu)
{
    struct kymo_trace_loss l = {0};
    uint64_t n = 0;

    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYLOSS, cpu, &l), 0);
    for (unsigned reason = 0; reason < KYMO_TRACE_REASONS; reason++) {
        n += l.pending[reason][TRACE_CLASS_KER_CALL];
    }
    return n;
}

static uint64_t told_of(unsigned cpu)
{
    return recorded[cpu] + dropped[cpu] + pending(cpu);
}

/* ---- storms ------------------------------------------------------------------------ */

static void d_comes_and_goes(void)
{
    uint32_t handle = d_create("storms_d.dif");

    d_do(handle, KYMO_D_GO);
    SchedYield();
    d_do(handle, KYMO_D_DESTROY);
}

static void t_log(void)
{
    unsigned times = 0;
    uint64_t lost = 0;

    open_log();
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    start_calls();
    while (calls_go_on() || times < 5) {
        d_comes_and_goes();
        if (++times % 4 == 0) {
            take_all();
        }
    }
    join_calls();
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    take_all();
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
        EXPECT_EQ(told_of(cpu), calls);
        lost += dropped[cpu];
    }
    say("storms: D on and off %u times; %lu events lost and told", times, (unsigned long)lost);
    EXPECT_EQ(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

static void log_comes_and_goes(void)
{
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    SchedYield();
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    take_all();
}

static void t_d(void)
{
    uint32_t handle = d_create("storms_d.dif");

    open_log();
    d_do(handle, KYMO_D_GO);
    start_calls();
    while (calls_go_on()) {
        log_comes_and_goes();
        d_faults(handle, NULL); /* or it is silent for too long */
    }
    join_calls();
    d_do(handle, KYMO_D_STOP);
    EXPECT_EQ(d_count_of(handle, 1), (uint64_t)calls * cpu_count());
    d_do(handle, KYMO_D_DESTROY);
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
        EXPECT(told_of(cpu) <= calls);
    }
    EXPECT_EQ(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* Each has a thread that puts it on and off. */
static void *d_storms(void *arg)
{
    while (calls_go_on()) {
        uint32_t handle = d_create("storms_d.dif");
        d_do(handle, KYMO_D_GO);
        d_do(handle, KYMO_D_STOP);
        EXPECT(d_count_of(handle, 1) <= (uint64_t)calls * cpu_count());
        d_do(handle, KYMO_D_DESTROY);
    }
    return arg;
}

static void t_both(void)
{
    open_log();
    start_calls();
    int tid = start_thread(d_storms, NULL, 0);
    while (calls_go_on()) {
        log_comes_and_goes();
    }
    join(tid);
    join_calls();
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
        EXPECT(told_of(cpu) <= calls);
    }
    EXPECT_EQ(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

static void t_as_before(void)
{
    struct world before = d_world();

    t_log();
    t_d();
    t_both();
    /* The log's first buffers stay allocated until somebody else's: not so here. */
    d_world_is(&before);
}

static const struct check table[] = {
    {"the log while D comes and goes", t_log},
    {"D while the log comes and goes", t_d},
    {"both come and go", t_both},
    {"all is as before", t_as_before},
};

int main(int argc, char **argv)
{
    calls = argc > 1 ? (unsigned)atoi(argv[1]) : calls;
    return check_run("storms", table, COUNT(table));
}
