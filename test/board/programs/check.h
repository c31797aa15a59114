/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the test programs on the boards share: a table of tests, expectations that say where they
 * failed, and short forms of what every test needs. Each test prints one line,
 * `TEST <suite>/<name>: ok` or `… FAIL <where> <what>`, on the kernel's own console, so that it is
 * seen whatever became of the console server. Read by test/board/run.py.
 */
#ifndef TEST_BOARD_PROGRAMS_CHECK_H
#define TEST_BOARD_PROGRAMS_CHECK_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "abi/sys/states.h"
#include "abi/sys/trace.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MS 1000000ull /* nanoseconds */

struct check {
    const char *name;
    void (*run)(void);
};
/* Runs them all; returns the exit status of the program. */
int check_run(const char *suite, const struct check *table, unsigned n);
/* One line on the kernel's console, at most 200 characters. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Notes the first failure of the running test. Any thread. */
void check_fail(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* That failure, "" if there was none. */
const char *check_failure(void);

#define EXPECT(cond) ((cond) ? (void)0 : check_fail(__FILE__, __LINE__, "%s", #cond))
#define EXPECT_EQ(expr, want) \
    do { \
        long got_ = (long)(expr), want_ = (long)(want); \
        if (got_ != want_) { \
            check_fail(__FILE__, __LINE__, "%s is %ld, not %ld (errno %d)", #expr, got_, want_, \
                       errno); \
        } \
    } while (0)
/* The call returns -1 and sets errno to want. */
#define EXPECT_ERR(expr, want) \
    do { \
        long got_; \
        errno = 0; \
        got_ = (long)(expr); \
        if (got_ != -1 || errno != (want)) { \
            check_fail(__FILE__, __LINE__, "%s: %ld, errno %d, not %s", #expr, got_, errno, \
                       #want); \
        } \
    } while (0)

void sleep_ms(unsigned ms);
uint64_t now_ns(void); /* CLOCK_MONOTONIC */
/* A thread of this process; priority 0: the caller's. Returns its tid. */
int start_thread(void *(*func)(void *), void *arg, int priority);
void join(int tid);
/* Waits until the thread is in the state. False if it never was: the test has failed then, at the
 * caller's line, and what else it waits for is looked at only once. */
#define wait_state(pid, tid, state) wait_state_at(__FILE__, __LINE__, pid, tid, state)
bool wait_state_at(const char *file, int line, int pid, int tid, int state);
int own_priority(void); /* effective */
int self_pid(void);
int self_tid(void);
/* CPUs that run. Their numbers may have gaps: a loop over all of them is
 * for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)). */
unsigned cpu_count(void);
unsigned cpu_end(void);               /* CPUs are numbered below this */
unsigned cpu_after(unsigned cpu);     /* the next one that runs, or cpu_end() */
unsigned cpu_in_turn(unsigned round); /* one CPU after the other, and again from CPU 0 */
/* A channel of this process and a connection to it. */
struct link {
    int chid, coid;
};
struct link make_link(unsigned flags);
void drop_link(struct link *link);
/* Spawns a program with up to three arguments (NULL ends them). Returns its pid or -1. */
int spawn(const char *program, uint32_t ability, int priority, const char *a, const char *b,
          const char *c);
/* A kernel call as such: result and errno, as the kernel gives them. */
struct raw_result {
    long value;
    long error;
};
struct raw_result raw_call(unsigned number, const uintptr_t args[6]);

#endif
