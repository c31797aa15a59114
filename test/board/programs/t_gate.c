/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event log's gate from a program's side: TraceEvent(KYMO_TRACE_SETGATE) with the programs of
 * test/board/gate. How many events pass and how many are stopped is exact: only the calls that this
 * program counts are on. Runs alone: no tracelogger.
 */
#include "test/board/programs/dcalls.h"
#include "test/board/programs/tracing.h"

#define CALLS 99
#define SIGNAL_KILL 26
#define NOBODY 0x7f00

static struct kymo_trace_refusal why;
/* What was found in the buffers. */
static struct {
    unsigned enter, exit, states, pulses, users, others;
} seen;

static int gate(const char *name)
{
    why = (struct kymo_trace_refusal){0};
    return TraceEvent((int)KYMO_TRACE_SETGATE, name, &why);
}

static uint64_t stopped(unsigned class)
{
    struct kymo_trace_stopped counts;
    uint64_t sum = 0;

    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYSTOPPED, cpu, &counts), 0);
        sum += counts.events[class];
    }
    return sum;
}

static void see(const struct trace_slot *slot)
{
    unsigned class = TRACE_GET_CLASS(slot->header);
    unsigned event = TRACE_GET_EVENT(slot->header) & ~(unsigned)TRACE_EVENT_64;
    unsigned structure = TRACE_GET_STRUCT(slot->header);

    if (structure == TRACE_STRUCT_CC || structure == TRACE_STRUCT_CE) {
        return; /* not its first slot */
    }
    seen.enter += class == TRACE_CLASS_KER_CALL && event == SIGNAL_KILL;
    seen.exit += class == TRACE_CLASS_KER_CALL && event == (SIGNAL_KILL | TRACE_KERCALL_EXIT);
    seen.states += class == TRACE_CLASS_PR_TH && event == STATE_NANOSLEEP;
    seen.pulses += class == TRACE_CLASS_COMM && event == 1;
    seen.users += class == TRACE_CLASS_USER;
    seen.others += class != TRACE_CLASS_CONTROL;
}

static void see_all(void)
{
    struct kymo_trace_buffer b;

    memset(&seen, 0, sizeof(seen));
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    while (TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b) == 0) {
        const struct trace_slot *slots = slots_of(&b);
        for (unsigned i = 0; i < b.slots; i++) {
            see(&slots[i]);
        }
        EXPECT_EQ(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, b.index), 0);
    }
    seen.others -= seen.enter + seen.exit + seen.states + seen.pulses + seen.users;
}

/* This program's kind of call, both its events, and nothing else. */
static void only_kills(void)
{
    EXPECT_EQ(command(_NTO_TRACE_DELALLCLASSES), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDEVENT, _NTO_TRACE_KERCALL, SIGNAL_KILL), 0);
}

/* The odd ones ask for somebody who isn't there. */
static void kills(void)
{
    for (int i = 0; i < CALLS; i++) {
        SignalKill(0, i % 2 ? NOBODY : 0, 0, 0, i, i);
    }
}

static void t_exact(void)
{
    open_buffers();
    only_kills();
    EXPECT_EQ(command(_NTO_TRACE_SETALLCLASSESFAST), 0);
    EXPECT_EQ(gate("third.dif"), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    kills();
    see_all();
    EXPECT_EQ(seen.enter, CALLS / 3);
    EXPECT_EQ(seen.exit, CALLS / 2);
    EXPECT_EQ(seen.others, 0);
    EXPECT_EQ(stopped(TRACE_CLASS_KER_CALL), CALLS - CALLS / 3 + CALLS - CALLS / 2);
    EXPECT_EQ(loss().made, CALLS / 3 + CALLS / 2);
    close_buffers();
}

/* An armed gate goes at once, and can be set while tracing runs. */
static void t_changed(void)
{
    open_buffers();
    only_kills();
    EXPECT_EQ(command(_NTO_TRACE_SETALLCLASSESWIDE), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    kills();
    EXPECT_EQ(gate("sourced.dif"), 0);
    EXPECT_ERR(gate("third.dif"), EEXIST);
    kills();
    EXPECT_EQ(stopped(TRACE_CLASS_KER_CALL), CALLS - 4);
    EXPECT_EQ(gate(NULL), 0);
    kills();
    see_all();
    EXPECT_EQ(seen.enter, 2 * CALLS + 4);
    EXPECT_EQ(seen.exit, 3 * CALLS);
    EXPECT_EQ(stopped(TRACE_CLASS_KER_CALL), CALLS - 4);
    EXPECT_EQ(loss().made, 5 * CALLS + 4);
    close_buffers();
}

static void t_states(void)
{
    struct link link = make_link(0);
    struct _pulse pulse;

    open_buffers();
    EXPECT_EQ(command(_NTO_TRACE_ADDALLCLASSES), 0);
    EXPECT_EQ(gate("states.dif"), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    for (unsigned i = 0; i < 7; i++) {
        sleep_ms(1);
        EXPECT_EQ(MsgSendPulse(link.coid, -1, 9, 0), 0);
        EXPECT_EQ(MsgReceivePulse(link.chid, &pulse, sizeof(pulse), NULL), 0);
        insert(i, 1);
    }
    see_all();
    EXPECT_EQ(seen.states, 7);
    EXPECT(seen.pulses >= 7);
    EXPECT_EQ(seen.users, 7);
    EXPECT_EQ(seen.others, 0);
    EXPECT(stopped(TRACE_CLASS_KER_CALL) > 7 && stopped(TRACE_CLASS_PR_TH) > 7);
    EXPECT_EQ(stopped(TRACE_CLASS_USER), 0);
    close_buffers();
    drop_link(&link);
}

static uint32_t triggered(void)
{
    struct kymo_trace_owner owner = {.triggered = 7};

    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYOWNER, &owner), 0);
    return owner.triggered;
}

/* logstop() in a clause of the gate: once between START and STOP, of an event that passes. */
static void t_trigger(void)
{
    open_buffers();
    only_kills();
    EXPECT_EQ(command(_NTO_TRACE_SETALLCLASSESFAST), 0);
    EXPECT_EQ(gate("trigger.dif"), 0);
    SignalKill(0, 0, 0, 0, 0, 50); /* nothing runs */
    EXPECT_EQ(triggered(), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    SignalKill(0, 0, 0, 0, 0, 49);
    SignalKill(0, 0, 0, 0, 0, 48); /* its predicate fails: it passes, and that is all */
    EXPECT_EQ(triggered(), 0);
    SignalKill(0, 0, 0, 0, 0, 50);
    EXPECT_EQ(triggered(), 1);
    SignalKill(0, 0, 0, 0, 0, 50);
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    EXPECT_EQ(triggered(), 1);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    EXPECT_EQ(triggered(), 0);
    see_all();
    EXPECT_EQ(seen.enter, 3);
    EXPECT_EQ(stopped(TRACE_CLASS_KER_CALL), 5); /* an entry, and four returns */
    close_buffers();
}

/* A variable that a predicate lets go of is to be had again: there is room for few at a time. */
static void t_variables(void)
{
    unsigned rounds = 40;

    open_buffers();
    only_kills();
    EXPECT_EQ(command(_NTO_TRACE_SETALLCLASSESFAST), 0);
    EXPECT_EQ(gate("variable.dif"), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    for (unsigned i = 0; i < rounds; i++) {
        SignalKill(0, 0, 0, 0, 0, (int)i + 1);
        sleep_ms(40);
    }
    see_all();
    EXPECT_EQ(seen.enter, rounds);
    EXPECT_EQ(seen.exit, rounds);
    close_buffers();
}

/* With the option cpu the clauses are another CPU's: this program's events are named by none. */
static void t_other_cpu(void)
{
    open_buffers();
    only_kills();
    if (cpu_count() == 1) {
        EXPECT_ERR(gate("cpu.dif"), EINVAL);
    } else {
        EXPECT_EQ(gate("cpu.dif"), 0);
        EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
        kills();
        see_all();
        EXPECT_EQ(seen.enter + seen.exit, 0);
        EXPECT_EQ(stopped(TRACE_CLASS_KER_CALL), 2 * CALLS);
    }
    close_buffers();
}

static void t_refused(void)
{
    EXPECT_ERR(gate("third.dif"), EFAULT); /* no buffers */
    open_buffers();
    EXPECT_ERR(gate("nowhere.dif"), ENOENT);
    EXPECT_ERR(gate("start"), EINVAL); /* no program */
    EXPECT(why.reason > 0 && why.reason < KYMO_GATE_PROBE);
    EXPECT_ERR(gate("acts.dif"), EINVAL);
    EXPECT_EQ(why.reason, KYMO_GATE_ACTION);
    EXPECT_EQ(why.clause, 1);
    EXPECT_ERR(gate("ticks.dif"), EINVAL);
    EXPECT_EQ(why.reason, KYMO_GATE_PROBE);
    EXPECT_ERR(gate("sched.dif"), EINVAL);
    EXPECT_EQ(why.reason, KYMO_GATE_PROBE);
    EXPECT_ERR(gate("writes.dif"), EINVAL);
    EXPECT_EQ(why.reason, KYMO_GATE_WRITES);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_SETGATE, "third.dif", (void *)3), EFAULT);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_SETGATE, (void *)3, &why), EFAULT);
    EXPECT_EQ(gate(NULL), 0);
    EXPECT_EQ(gate("third.dif"), 0); /* of the ones before nothing is left */
    close_buffers();
    open_buffers();
    EXPECT_EQ(gate("third.dif"), 0); /* it went with the buffers */
    EXPECT_EQ(stopped(TRACE_CLASS_KER_CALL), 0);
    close_buffers();
}

/* Opened and closed again and again while events flow: nothing is left of it. */
static void t_again(void)
{
    struct world before;

    open_buffers();
    EXPECT_EQ(command(_NTO_TRACE_ADDALLCLASSES), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    EXPECT_EQ(gate("either.dif"), 0);
    EXPECT_EQ(gate(NULL), 0);
    before = d_world();
    for (unsigned i = 0; i < 50; i++) {
        EXPECT_EQ(gate(i % 2 ? "either.dif" : "states.dif"), 0);
        EXPECT_ERR(gate("third.dif"), EEXIST);
        EXPECT_EQ(gate(NULL), 0);
        EXPECT_ERR(gate("acts.dif"), EINVAL);
    }
    d_world_is(&before);
    see_all();
    close_buffers();
}

static const struct check table[] = {
    {"exactly those", t_exact},      {"changed while it runs", t_changed},
    {"states and pulses", t_states}, {"a trigger", t_trigger},
    {"let go of", t_variables},      {"another CPU's", t_other_cpu},
    {"refused", t_refused},          {"again and again", t_again},
};

int main(void)
{
    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)1);
    SchedYield();
    return check_run("gate", table, COUNT(table));
}
