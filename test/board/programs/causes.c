/* SPDX-License-Identifier: BSD-2-Clause */
/* See causes.h: the passes, and what the steps share. Runs until the machine is stopped. */
#include "test/board/programs/causes.h"

#include "lib/include/kymo.h"

#define MAGIC 0x6b796d6fu
enum { STEP = 1, FACT, END };

/* The name is read from this memory while the call is made: copyinstr(). */
static void tell(unsigned what, const char *name, uint64_t value)
{
    const uintptr_t args[6] = {
        MAGIC, what, (uintptr_t)name, (uint32_t)value, (uint32_t)(value >> 32), 0};

    raw_call(0, args);
}

void fact(const char *name, uint64_t value)
{
    tell(FACT, name, value);
}

int helper(void *(*func)(void *), void *arg)
{
    return start_thread(func, arg, own_priority() + 1);
}

/* ms after each step. The reader has a lower priority, and sends each byte by an interrupt: it
 * needs a share of the CPU to ask for its status within D's ten seconds. */
#define READER 50

static const struct {
    const char *name;
    void (*cause)(void);
} steps[] = {
    {"child", cause_child},
    {"fault", cause_fault},
    {"kill", cause_kill},
    {"alarm", cause_alarm},
    {"taken", cause_taken},
    {"remain", cause_remain},
    {"quantum", cause_quantum},
    {"dump", cause_dump},
    {"message", cause_message},
    {"refused", cause_refused},
    {"pulse", cause_pulse},
    {"event", cause_event},
    {"disconnect", cause_disconnect},
    {"dead", cause_dead},
    {"unblock", cause_unblock},
    {"mutex", cause_mutex},
    {"semaphore", cause_semaphore},
    {"condvar", cause_condvar},
    {"join", cause_join},
    {"sleep", cause_sleep},
    {"yield", cause_yield},
    {"timer", cause_timer},
    {"interrupt", cause_interrupt},
    {"map", cause_map},
    {"names", cause_names},
    {"scarce", cause_scarce},
    {"calls-1", cause_calls_1},
    {"calls-2", cause_calls_2},
    {"calls-3", cause_calls_3},
    {"calls-4", cause_calls_4},
    {"calls-5", cause_calls_5},
    {"places", cause_places},
    {"user", cause_user},
    {"spin", cause_spin},
    {"work", cause_work},
};

int main(void)
{
    struct sched_param_kymo param = {0};

    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)1);
    for (;;) {
        tell(STEP, "pass", 0);
        fact("policy", (uint64_t)SchedGet(0, 0, &param));
        for (unsigned i = 0; i < COUNT(steps); i++) {
            tell(STEP, steps[i].name, 0);
            fact("priority", (uint64_t)own_priority()); /* a message or pulse may have raised it */
            steps[i].cause();
            if (check_failure()[0] != '\0') {
                fact(check_failure(), UINT64_MAX);
            }
            tell(END, steps[i].name, 0);
            sleep_ms(READER); /* D's reader gets the CPU */
        }
        tell(END, "pass", 0);
        sleep_ms(10 * READER);
    }
}
