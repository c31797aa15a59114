/* SPDX-License-Identifier: BSD-2-Clause */
#include "test/kernel/world/stepwise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernel/base/cpu.h"
#include "kernel/thread/thread.h"

struct stepwise stepwise;

void stepwise_window(void)
{
    unsigned self = fake_cpu;
    static bool acts;

    if (stepwise.windows++ == stepwise.act_at && stepwise.act && !acts) {
        acts = true;
        stepwise.act();
        acts = false;
    }
    fake_cpu = self;
}

void stepwise_wakes_high(void)
{
    if (stepwise.windows++ == stepwise.act_at && stepwise.high->state == STATE_INTR) {
        thread_wake(stepwise.high, 0, 0);
    }
}

void stepwise_tear_down(void)
{
    fake_lock_window = NULL;
    fake_irq_window = NULL;
    fake_lock_wanted = false;
    world_end();
}

unsigned stepwise_each(bool (*ends_with)(void (*what)(void), unsigned n), void (*what)(void))
{
    unsigned n = 0;

    while (n < STEPS_MANY && ends_with(what, n)) {
        n++;
    }
    return n;
}

void stepwise_enter(struct thread *t, unsigned number, uintptr_t a0, uintptr_t a1, uintptr_t a2,
                    uintptr_t a3)
{
    world_enter(t, number, (uintptr_t[6]){a0, a1, a2, a3});
}

void stepwise_sleeps(struct thread *t)
{
    assert_int_equal(CALL(t, INTERRUPT_WAIT, 0, 0), BLOCKED);
}

unsigned stepwise_free_cpu(void)
{
    unsigned n = 0;

    while (world_inside(n)) {
        n++;
    }
    return n;
}

void stepwise_end_process(void *proc)
{
    process_end(proc, KYMO_SIGSEGV);
}
