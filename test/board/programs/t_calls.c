/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel calls with known arguments, told as they must stand in the capture, for
 * test/board/events.py: every call once as such, refused (`CALL number, six words, result, errno`),
 * and those with structures and messages once with success (calls_*.c), fast and wide. On one CPU,
 * so that the order is known.
 */
#include "test/board/programs/calls.h"
#include "test/board/programs/check.h"
#include "test/board/programs/every_call.h"
#include "test/board/programs/truth.h"

static void tell_call(unsigned number, const uintptr_t args[6], struct raw_result result)
{
    truth("CALL %u %#lx %#lx %#lx %#lx %#lx %#lx %ld %ld", number, (unsigned long)args[0],
          (unsigned long)args[1], (unsigned long)args[2], (unsigned long)args[3],
          (unsigned long)args[4], (unsigned long)args[5], result.value, result.error);
}

/* InterruptWait()'s time limit comes before it: told after both. */
static void every(void)
{
    struct raw_result before = {0, 0};

    for (unsigned i = 0; i < every_calls; i++) {
        uintptr_t args[6];
        memcpy(args, every_call[i].args, sizeof(args));
        args[0] = args[0] == EVERY_CALL_LAST ? (uintptr_t)before.value : args[0];
        truth_step();
        if (i + 1 < every_calls && every_call[i + 1].number == CALL_INTERRUPT_WAIT) {
            before = raw_call(every_call[i].number, args);
            struct raw_result wait = raw_call(CALL_INTERRUPT_WAIT, every_call[i + 1].args);
            tell_call(every_call[i].number, args, before);
            tell_call(CALL_INTERRUPT_WAIT, every_call[++i].args, wait);
        } else {
            before = raw_call(every_call[i].number, args);
            tell_call(every_call[i].number, args, before);
        }
    }
}

/* Words of more than 32 bits: the event has all of them. Signs take no 64 bits. */
static void wide_words(void)
{
    static const uintptr_t words[][6] = {
#if UINTPTR_MAX > UINT32_MAX
        {0x123456789abc, 0, 0, 0},
        {1, 2, (uintptr_t)-5, 0x8000000000000000},
        {1, 0x100000000, 2, 3},
#endif
        {(uintptr_t)-1, (uintptr_t)-2, (uintptr_t)-3, 0x7fffffff},
        {0x80000000, 0, 0xffffffff, 1},
    };

    for (unsigned i = 0; i < COUNT(words); i++) {
        truth_step();
        struct raw_result result = raw_call(CALL_MSG_SEND_PULSE, words[i]);
        tell_call(CALL_MSG_SEND_PULSE, words[i], result);
        truth_step();
        result = raw_call(CALL_THREAD_CREATE, words[i]);
        tell_call(CALL_THREAD_CREATE, words[i], result);
    }
}

static const struct check table[] = {
    {"every call", every},
    {"64-bit words", wide_words},
    {"messages", calls_messages},
    {"pulses", calls_pulses},
    {"connections", calls_connections},
    {"mutexes", calls_mutexes},
    {"semaphores", calls_semaphores},
    {"condition variables", calls_condvars},
    {"timers", calls_timers},
    {"timeouts", calls_timeouts},
    {"waits that a timeout ends", calls_too_late},
    {"waits that nobody ends", calls_in_time},
    {"waits that a cancellation ends", calls_cancelled},
    {"waits that a kill ends", calls_killed},
    {"clocks", calls_clocks},
    {"threads", calls_threads},
    {"scheduling", calls_scheduling},
    {"processes", calls_processes},
    {"memory", calls_memory},
    {"names", calls_names},
};

int main(void)
{
    truth_begin("t_calls");
    return check_run("calls", table, COUNT(table));
}
