/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/ended.c: whoever has an event in a ring is named there, too, or is still known to the
 * kernel. Processes and threads are born, make events on some CPUs, end, and are forgotten when
 * their places get others; CPUs idle for long. SEED=n repeats a run.
 */
#include "test/trace/look.h"

#include <stdio.h>
#include <string.h>

#include "test/tool/random.h"

#define CPUS 4
#define PLACES 6
#define STEPS 30000
#define NAMED (STEPS + PLACES)
#define CREATE_NAME 192
#define DESTROY 128
#define THREAD_NAME 320
#define EVENT 7

struct life {
    uint32_t pid, tid; /* tid 0: a process */
    uint64_t born, ended;
};

static struct life places[PLACES]; /* whom the kernel knows: alive if ended is 0 */
static uint32_t pids;
static uint64_t now;
static bool busy[CPUS];     /* makes events now */
static bool named[NAMED];   /* in the ring that is looked at */
static bool present[NAMED]; /* likewise: has an event */

/* One time for all CPUs, above all that was read. */
static uint64_t time_passes(void)
{
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        now = fake.clock[cpu] > now ? fake.clock[cpu] : now;
    }
    now += 50 + random_below(50);
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        fake.clock[cpu] = now;
    }
    return now;
}

static void forget(const struct life *life)
{
    char name[20];

    snprintf(name, sizeof(name), "p%u", (unsigned)life->pid);
    trace_ended(&(struct trace_ended){.ppid = 1,
                                      .pid = life->pid,
                                      .tid = life->tid,
                                      .name = name,
                                      .text = 0x1000,
                                      .text_len = life->pid % 2 ? 0x100 : 0,
                                      .born = life->born,
                                      .ended = life->ended});
}

static void life_step(struct life *life)
{
    unsigned cpu = random_below(CPUS);

    time_passes();
    if (life->pid && !life->ended) {
        struct fake_where back = fake_on(cpu);

        for (unsigned n = busy[cpu] ? random_below(40) : 0; n; n--) {
            trace_user_simple(EVENT, life->pid, 0);
        }
        fake_back(back);
        life->ended = random_below(4) ? 0 : time_passes();
        return;
    }
    if (life->pid) {
        forget(life);
    }
    *life = (struct life){.pid = ++pids, .tid = random_below(4) == 0, .born = time_passes()};
}

static void look_at_buffer(const struct trace_slot *slot, const struct trace_slot *end)
{
    for (; slot < end; slot++) {
        unsigned number = TRACE_GET_EVENT(slot->header), kind = TRACE_GET_CLASS(slot->header);
        bool first = TRACE_GET_STRUCT(slot->header) <= TRACE_STRUCT_CB;

        if (kind == TRACE_CLASS_USER && number == EVENT) {
            present[slot->d1] = true;
        }
        if (first && kind == TRACE_CLASS_PR_TH) {
            assert_true(slot->header & TRACE_STATE_DUMP); /* it happened before */
            named[number == THREAD_NAME ? slot->d1 : slot->d2] |= number != DESTROY;
        }
    }
}

/* Returns how many names the ring has; those that it must have are there. */
static unsigned look_at_ring(unsigned cpu)
{
    const struct trace_cpu *at = trace_port_cpu_at(cpu);
    unsigned names = 0;

    memset(named, 0, sizeof(named));
    memset(present, 0, sizeof(present));
    for (unsigned i = 0; i < ring_of(cpu)->count; i++) {
        const struct trace_slot *slots = look_slots(cpu, i);

        if (look_state(cpu, i) == TRACE_READY) {
            look_at_buffer(slots, slots + ring_of(cpu)->buffers[i].used / TRACE_SLOT_BYTES);
        } else if (look_state(cpu, i) == TRACE_ACTIVE) {
            look_at_buffer(slots, at->cursor);
        }
    }
    for (unsigned i = 0; i < PLACES; i++) {
        named[places[i].pid] |= places[i].pid != 0;
    }
    for (uint32_t pid = 1; pid <= pids; pid++) {
        if (present[pid] && !named[pid]) {
            fail_msg("CPU %u holds an event of %u without its name", cpu, (unsigned)pid);
        }
        names += named[pid];
    }
    return names;
}

static void begin(void)
{
    fake_boot(CPUS);
    now = pids = 0;
    memset(places, 0, sizeof(places));
    start_tracing(2, _NTO_TRACE_SETRINGMODE);
}

static void whoever_is_in_a_ring_is_named(void **state)
{
    (void)state;
    random_start();
    begin();
    for (unsigned step = 0; step < STEPS; step++) {
        if (step % 512 == 0) {
            for (unsigned cpu = 0; cpu < CPUS; cpu++) {
                busy[cpu] = random_below(3) == 0;
            }
        }
        life_step(&places[random_below(PLACES)]);
        if (step % 64 == 0) {
            look_at_ring(random_below(CPUS));
        }
    }
    assert_true(pids > 1000);
    end_tracing();
}

/* A CPU that makes no events gets no names, but of those who were there: its history stays. */
static void who_idles_keeps_its_history(void **state)
{
    (void)state;
    random_start();
    begin();
    busy[1] = true;
    busy[0] = busy[2] = busy[3] = false;
    life_step(&places[0]);
    struct fake_where back = fake_on(2);
    trace_user_simple(EVENT, 1, 0); /* of the first */
    fake_back(back);
    for (unsigned step = 0; step < STEPS / 4; step++) {
        life_step(&places[step % PLACES]);
    }
    assert_true(pids > 10 * PLACES);
    assert_in_range(look_at_ring(0), 0, PLACES);
    assert_in_range(look_at_ring(2), 1, 2 * PLACES);
    assert_in_range(look_at_ring(1), PLACES, pids);
    end_tracing();
}

/* Nothing is written if nothing is overwritten, and nothing after a stop. */
static void other_policies_need_none(void **state)
{
    static const uint32_t modes[] = {_NTO_TRACE_SETLINEARMODE, KYMO_TRACE_SETFILLMODE};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        fake_boot(1);
        start_tracing(2, i < 2 ? modes[i] : _NTO_TRACE_SETRINGMODE);
        trace_user_simple(EVENT, 1, 0);
        if (i == 2) {
            assert_int_equal(command(_NTO_TRACE_STOP), 0);
        }
        forget(&(struct life){.pid = 1, .ended = UINT64_MAX});
        assert_int_equal(loss_of(0).made, 1);
        end_tracing();
    }
}

/* A retained ring's reader names those that live although their class is off; an ordinary one's
 * user has said what to record. */
static void filters(void **state)
{
    (void)state;
    for (unsigned retained = 0; retained < 2; retained++) {
        uint64_t paddr;

        fake_boot(1);
        assert_int_equal(command_as(OWNER,
                                    retained ? KYMO_TRACE_ALLOCRETAINED : _NTO_TRACE_ALLOCBUFFER, 2,
                                    0, &paddr),
                         0);
        assert_int_equal(command(_NTO_TRACE_SETRINGMODE), 0);
        assert_int_equal(command1(_NTO_TRACE_ADDCLASS, _NTO_TRACE_USER), 0);
        assert_int_equal(command(_NTO_TRACE_STARTNOSTATE), 0);
        trace_user_simple(EVENT, 1, 0);
        forget(&(struct life){.pid = 1, .ended = UINT64_MAX});
        assert_int_equal(loss_of(0).made, retained ? 4 : 1);
        end_tracing();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_is_in_a_ring_is_named),
        cmocka_unit_test(who_idles_keeps_its_history),
        cmocka_unit_test(other_policies_need_none),
        cmocka_unit_test(filters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
