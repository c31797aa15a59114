/* SPDX-License-Identifier: BSD-2-Clause */
/* The test programs' common part: see check.h. Needs a console, nothing else that runs. */
#include "test/board/programs/check.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "lib/include/kymo.h"

/* 20 seconds: on real threads, beside other load, a thread under probes gets there slowly. */
#define STATE_TRIES 20000

static char failure[160]; /* first failure of the running test; "" none */
static bool state_missed; /* the running test has waited for a state that did not come */

void say(const char *fmt, ...)
{
    char line[208];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
    va_end(ap);
    if (n > (int)sizeof(line) - 2) {
        n = sizeof(line) - 2;
    }
    line[n++] = '\n';
    ConsoleWrite(line, (size_t)n);
}

void check_fail(const char *file, int line, const char *fmt, ...)
{
    const char *base = strrchr(file, '/');
    va_list ap;
    int n;

    if (failure[0] != '\0') {
        return;
    }
    n = snprintf(failure, sizeof(failure), "%s:%d ", base != NULL ? base + 1 : file, line);
    va_start(ap, fmt);
    vsnprintf(failure + n, sizeof(failure) - (size_t)n, fmt, ap);
    va_end(ap);
}

const char *check_failure(void)
{
    return failure;
}

int check_run(const char *suite, const struct check *table, unsigned n)
{
    unsigned bad = 0;

    for (unsigned i = 0; i < n; i++) {
        failure[0] = '\0';
        state_missed = false;
        table[i].run();
        if (failure[0] == '\0') {
            say("TEST %s/%s: ok", suite, table[i].name);
        } else {
            bad++;
            say("TEST %s/%s: FAIL %s", suite, table[i].name, failure);
        }
    }
    return bad != 0;
}

/* ---- time and threads -------------------------------------------------------------- */

void sleep_ms(unsigned ms)
{
    uint64_t ns = ms * MS;

    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);
}

uint64_t now_ns(void)
{
    uint64_t now = 0;

    ClockTime(CLOCK_MONOTONIC, NULL, &now);
    return now;
}

int start_thread(void *(*func)(void *), void *arg, int priority)
{
    pthread_attr_t attr;
    pthread_t tid = 0;
    int error;

    pthread_attr_init(&attr);
    if (priority != 0) {
        struct sched_param param = {priority};

        pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
        pthread_attr_setschedparam(&attr, &param);
    }
    error = pthread_create(&tid, &attr, func, arg);
    if (error != 0) {
        check_fail("start_thread", 0, "errno %d", error);
        return -1;
    }
    return tid;
}

void join(int tid)
{
    EXPECT_EQ(pthread_join(tid, NULL), 0);
}

bool wait_state_at(const char *file, int line, int pid, int tid, int state)
{
    struct kymo_thread_info info = {0};
    unsigned tries = state_missed ? 1 : STATE_TRIES;

    while (tries-- > 0) {
        if (ThreadInfo(pid, tid, &info) >= 0 && info.pid == pid && info.tid == tid &&
            info.state == state) {
            return true;
        }
        sleep_ms(1);
    }
    state_missed = true;
    check_fail(file, line, "pid %d tid %d is in state %d, not %d", pid, tid, (int)info.state,
               state);
    return false;
}

int own_priority(void)
{
    struct sched_param_kymo param = {0};

    SchedGet(0, 0, &param);
    return param.sched_curpriority;
}

int self_pid(void)
{
    return ProcSelf(NULL, NULL);
}

int self_tid(void)
{
    int tid = 0;

    ProcSelf(&tid, NULL);
    return tid;
}

unsigned cpu_count(void)
{
    return (unsigned)__builtin_popcount(kymo_cpu_mask());
}

unsigned cpu_end(void)
{
    return kymo_cpus();
}

unsigned cpu_after(unsigned cpu)
{
    do {
        cpu++;
    } while (cpu < cpu_end() && !(kymo_cpu_mask() >> cpu & 1));
    return cpu;
}

unsigned cpu_in_turn(unsigned round)
{
    unsigned cpu = 0;

    for (unsigned n = round % cpu_count(); n > 0; n--) {
        cpu = cpu_after(cpu);
    }
    return cpu;
}

/* ---- channels and processes -------------------------------------------------------- */

struct link make_link(unsigned flags)
{
    struct link link;

    link.chid = ChannelCreate(flags);
    EXPECT(link.chid > 0);
    link.coid = ConnectAttach(0, 0, link.chid, _NTO_SIDE_CHANNEL, 0);
    EXPECT(link.coid >= _NTO_SIDE_CHANNEL);
    return link;
}

void drop_link(struct link *link)
{
    EXPECT_EQ(ConnectDetach(link->coid), 0);
    EXPECT_EQ(ChannelDestroy(link->chid), 0);
}

int spawn(const char *program, uint32_t ability, int priority, const char *a, const char *b,
          const char *c)
{
    struct kymo_spawn_attr attr = {.priority = priority, .ability = ability};
    char *argv[] = {(char *)program, (char *)a, (char *)b, (char *)c, NULL};

    return kymo_spawn(program, argv, &attr);
}
