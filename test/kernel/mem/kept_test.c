/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the event of a call records of a structure is what the call reads (kernel/mem/mem.h,
 * copy_keep()): a program's other threads change it in between, unmap it, or call the kernel
 * themselves.
 */
#include "test/kernel/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "abi/sys/neutrino.h"
#include "kernel/base/cpu.h"
#include "kernel/mem/mem.h"
#include "kernel/thread/thread.h"

#define PARAM AT(1)
#define MAPPED 256

static struct thread *caller, *other;
static struct sched_param_kymo recorded;
static bool found;                                   /* the event could read it */
static void (*then)(struct sched_param_kymo *param); /* what the other thread does next */

/* As the event of a traced call does. */
static void event(struct thread *t)
{
    unsigned cpu = fake_cpu;

    if (t != caller || t->call != KER_SCHED_SET) {
        return;
    }
    const char *kept = copy_keep(t->proc, t->args[3], sizeof(recorded));
    found = kept;
    if (kept) {
        memcpy(&recorded, kept, sizeof(recorded));
    }
    if (then) {
        then(world_at(t, PARAM));
    }
    fake_cpu = cpu;
}

static int setup(void **state)
{
    (void)state;
    caller = world_process(0, 10, DATA);
    other = world_thread(caller, 11);
    fake_enter_hook = event;
    fake_events_off = false;
    then = NULL;
    return 0;
}

static int teardown(void **state)
{
    fake_enter_hook = NULL;
    return world_teardown(state);
}

static long set(int priority, uintptr_t at)
{
    struct sched_param_kymo *param = world_at(caller, PARAM);

    memset(param, 0, sizeof(*param));
    param->sched_priority = priority;
    return CALL(caller, SCHED_SET, 0, 0, SCHED_RR, at);
}

static void to_15(struct sched_param_kymo *param)
{
    param->sched_priority = 15;
}

static void test_changed(void **state)
{
    (void)state;
    then = to_15;
    assert_int_equal(set(12, PARAM), 0);
    assert_int_equal(recorded.sched_priority, 12);
    assert_int_equal(caller->base_priority, 12);
}

/* The other thread's own call, of the same structure, reads what is there. */
static void other_sets(struct sched_param_kymo *param)
{
    param->sched_priority = 16;
    world_enter(other, KER_SCHED_SET, (uintptr_t[6]){0, 0, SCHED_RR, PARAM});
}

static void test_two_calls(void **state)
{
    (void)state;
    then = other_sets;
    assert_int_equal(set(12, PARAM), 0);
    assert_int_equal(caller->base_priority, 12);
    assert_int_equal(other->base_priority, 16);
}

/* A call without an event, and the next one with it, read what is there. */
static void test_forgotten(void **state)
{
    (void)state;
    assert_int_equal(set(12, PARAM), 0);
    fake_enter_hook = NULL;
    assert_int_equal(set(13, PARAM), 0);
    assert_int_equal(caller->base_priority, 13);
    fake_enter_hook = event;
    assert_int_equal(set(14, PARAM), 0);
    assert_int_equal(caller->base_priority, 14);
}

/* The event of TimerTimeout() has read the limit, and the log stops before the call looks: the fast
 * path, which is for calls without events, leaves nothing that a later call would read. */
static void limit_is_read(struct thread *t)
{
    assert_int_equal(t->call, KER_TIMER_TIMEOUT);
    found = copy_keep(t->proc, t->args[3], sizeof(uint64_t));
    fake_events_off = true;
}

static void warm(void *none)
{
    (void)none;
    vm_cache_fill(&caller->out_cache, caller->proc, PARAM, sizeof(uint64_t), KYMO_PROT_READ);
}

static void test_stopped_between(void **state)
{
    (void)state;
    uint64_t *limit = world_at(caller, PARAM);
    *limit = 12; /* as a priority, too */
    found = false;
    fake_enter_hook = limit_is_read;
    world_do(0, warm, NULL);
    assert_int_equal(CALL(caller, TIMER_TIMEOUT, CLOCK_MONOTONIC, _NTO_TIMEOUT_SEM, 0, PARAM), 0);
    assert_true(found);
    assert_int_equal(set(14, PARAM), 0);
    assert_int_equal(caller->base_priority, 14);
    fake_events_off = false;
}

static void test_not_there(void **state)
{
    (void)state;
    found = true;
    assert_int_equal(set(12, NOWHERE), -EFAULT);
    assert_false(found);
    assert_int_equal(caller->base_priority, 10);
}

static uintptr_t mapped;

static void unmaps(struct sched_param_kymo *param)
{
    (void)param;
    world_enter(other, KER_MEM_UNMAP, (uintptr_t[6]){mapped, MAPPED});
}

/* Memory that has gone: the call fails, whatever its event has seen. */
static void test_unmapped(void **state)
{
    (void)state;
    long vaddr = CALL(caller, MEM_MAP, MAPPED, KYMO_PROT_READ | KYMO_PROT_WRITE);
    assert_true(vaddr > 0);
    mapped = (uintptr_t)vaddr;
    struct sched_param_kymo *param = world_at(caller, mapped);
    param->sched_priority = 12;
    then = unmaps;
    assert_int_equal(CALL(caller, SCHED_SET, 0, 0, SCHED_RR, mapped), -EFAULT);
    assert_int_equal(recorded.sched_priority, 12);
    assert_int_equal(caller->base_priority, 10);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_changed),         CASE(test_two_calls), CASE(test_forgotten),
        CASE(test_stopped_between), CASE(test_not_there), CASE(test_unmapped),
    };
    return cmocka_run_group_tests(tests, world_group, NULL);
}
