/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deaths that t_proc leaves out, because they need the trace to be nobody's: in START, which waits
 * for a buffer (WAITCTX), and in the middle of a spawn, with the child half loaded (STOPPED).
 */
#include "test/board/programs/check.h"

#include "abi/sys/trace.h"

static void kill_and_wait(int pid)
{
    int status = -1;

    EXPECT_EQ(SignalKill(0, pid, 0, KYMO_SIGKILL, 0, 0), 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    EXPECT_EQ(KYMO_STATUS_SIGNAL(status), KYMO_SIGKILL);
}

/* The next owner finds the trace stopped, and as if new. */
static void trace_works(void)
{
    struct kymo_trace_buffer taken;
    uint64_t paddr;

    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, 8, &paddr), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDALLCLASSES), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_STARTNOSTATE), 0);
    EXPECT(TraceEvent((int)_NTO_TRACE_INSERTSUSEREVENT, 1, 2, 3) >= 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_STOP), 0);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &taken), 0);
    EXPECT(taken.slots > 2);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, taken.index), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER), 0);
}

static void t_waitctx(void)
{
    for (int i = 0; i < 5; i++) {
        int pid = spawn("victim", ABILITY_TRACE, 0, "block", "waitctx", NULL);

        EXPECT(pid > 0);
        EXPECT(wait_state(pid, 1, STATE_WAITCTX));
        kill_and_wait(pid);
        trace_works();
    }
}

static unsigned victims_end(void)
{
    struct kymo_proc_info info = {0};
    unsigned ended = 0;

    for (int at = 1; ProcInfo(at, &info) > 0; at = info.pid + 1) {
        if (strcmp(info.name, "victim") == 0 && info.nthreads != 0) {
            SignalKill(0, info.pid, 0, KYMO_SIGKILL, 0, 0);
            ended++;
        }
    }
    return ended;
}

static uint64_t account(void)
{
    struct kymo_proc_info info = {0};
    uint64_t sum = 0;

    for (int at = 1; ProcInfo(at, &info) > 0; at = info.pid + 1) {
        sum += info.memory * 1000 + info.nthreads;
    }
    return sum;
}

/* Nobody waits for orphans: they are gone when the kernel has ended their last thread. */
static void settle(uint64_t before)
{
    for (int i = 0; i < 30000 && (victims_end() != 0 || account() != before); i++) {
        sleep_ms(2);
    }
    EXPECT_EQ(account(), before);
}

/* Lower in priority, so that this thread's timer interrupts the spawn anywhere. */
static void t_spawning(void)
{
    uint64_t before = account();

    for (unsigned i = 0; i < 60; i++) {
        int pid = spawn("victim", ABILITY_SPAWN, 5, "block", "spawning", NULL);
        uint64_t until = now_ns() + MS / 2 + i * 37000;

        EXPECT(pid > 0);
        sleep_ms(1 + i % 3);
        while (now_ns() < until) {
        }
        kill_and_wait(pid);
        settle(before);
    }
}

/* The child is killed, not its parent. */
static void t_spawned(void)
{
    uint64_t before = account();
    int parent = spawn("victim", ABILITY_SPAWN, 5, "block", "spawning", NULL);

    EXPECT(parent > 0);
    for (unsigned i = 0; i < 60; i++) {
        struct kymo_proc_info info = {0};

        sleep_ms(1);
        for (int at = parent + 1; ProcInfo(at, &info) > 0; at = info.pid + 1) {
            if (info.ppid == parent) {
                SignalKill(0, info.pid, 0, KYMO_SIGKILL, 0, 0);
            }
        }
    }
    kill_and_wait(parent);
    settle(before);
}

int main(void)
{
    static const struct check table[] = {
        {"killed in WAITCTX", t_waitctx},
        {"killed while spawning", t_spawning},
        {"killed while being spawned", t_spawned},
    };

    return check_run("death", table, COUNT(table));
}
