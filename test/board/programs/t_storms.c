/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One trace site, two listeners: the event log and D are put on it and taken off it in a storm,
 * while on each CPU a thread runs through it as fast as it can. The log, while D comes and goes: on
 * each CPU what was made is what is in its buffers and what DROPPED accounts for. D, while the log
 * starts and stops: every probe firing is counted. Both at once: the kernel lives, nothing is
 * counted twice; and in the end the kernel's text is as before. `t_storms [CALLS]`, of each thread.
 */
#include "test/board/programs/dcalls.h"
#include "test/board/programs/each_cpu.h"

#include <stdlib.h>

#define BUFFERS 6 /* per CPU */
#define NOP_ENTER TRACE_HEADER(0, 0, TRACE_CLASS_KER_CALL, 0)

static unsigned calls = 20000;

static void makes_calls(unsigned cpu)
{
    const uintptr_t args[6] = {0};

    for (unsigned i = 0; i < calls; i++) {
        raw_call(0, args);
    }
    (void)cpu;
}

/* ---- the log ----------------------------------------------------------------------- */

static uint64_t recorded[CPUS_MOST], dropped[CPUS_MOST];

/* Only the way in of nop is recorded. */
static void open_log(void)
{
    memset(recorded, 0, sizeof(recorded));
    memset(dropped, 0, sizeof(dropped));
    buffers_open(BUFFERS);
    EXPECT_EQ(command(_NTO_TRACE_SETLINEARMODE), 0);
    EXPECT_EQ(command(_NTO_TRACE_DELALLCLASSES), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDEVENT, _NTO_TRACE_KERCALLENTER, 0), 0);
}

static void scan(const struct kymo_trace_buffer *b, const struct trace_slot *slot)
{
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
    each_cpu_start(makes_calls);
    while (each_cpu_works() || times < 5) {
        d_comes_and_goes();
        if (++times % 4 == 0) {
            buffers_take(scan);
        }
    }
    each_cpu_join();
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    buffers_take(scan);
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
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
    buffers_take(scan);
}

static void t_d(void)
{
    uint32_t handle = d_create("storms_d.dif");

    open_log();
    d_do(handle, KYMO_D_GO);
    each_cpu_start(makes_calls);
    while (each_cpu_works()) {
        log_comes_and_goes();
        d_faults(handle, NULL); /* or it is silent for too long */
    }
    each_cpu_join();
    d_do(handle, KYMO_D_STOP);
    EXPECT_EQ(d_count_of(handle, 1), (uint64_t)calls * cpu_count());
    d_do(handle, KYMO_D_DESTROY);
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        EXPECT(told_of(cpu) <= calls);
    }
    EXPECT_EQ(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* Each has a thread that puts it on and off. */
static void *d_storms(void *arg)
{
    while (each_cpu_works()) {
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
    each_cpu_start(makes_calls);
    int tid = start_thread(d_storms, NULL, 0);
    while (each_cpu_works()) {
        log_comes_and_goes();
    }
    join(tid);
    each_cpu_join();
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
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
