/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of causes.h: processes, their ends, signals, and START without a buffer. */
#include "test/board/programs/causes.h"

#include <signal.h>

#include "lib/include/kymo.h"

#define ADDRESS "10"

/* On this CPU and of a lower priority: it runs when its parent waits. */
static int child(uint32_t ability, const char *a, const char *b, const char *c)
{
    struct kymo_spawn_attr attr = {
        .ability = ability, .runmask = 1, .priority = own_priority() - 1};
    char *argv[] = {"victim", (char *)a, (char *)b, (char *)c, NULL};

    return kymo_spawn("victim", argv, &attr);
}

static int ended(int pid)
{
    int status = -1;

    ProcWait(pid, &status, 0);
    return status;
}

/* With a child that ends by itself. */
void cause_child(void)
{
    int pid = child(0, "x", NULL, NULL);

    fact("child", (uint64_t)pid);
    fact("child_status", (uint64_t)KYMO_STATUS_CODE(ended(pid)));
}

void cause_fault(void)
{
    int pid = child(0, "fault", "write", ADDRESS);

    fact("fault_child", (uint64_t)pid);
    ended(pid);
}

void cause_kill(void)
{
    int pid = child(0, "block", "nanosleep", NULL);

    fact("killed", (uint64_t)pid);
    wait_state(pid, 1, STATE_NANOSLEEP);
    SignalKill(0, pid, 0, KYMO_SIGTERM, 7, 0x1234);
    ended(pid);
}

/* A sigevent that is a signal ends its process: a victim of SIGALRM. */
void cause_alarm(void)
{
    int pid = child(0, "block", "alarm", NULL);

    fact("alarmed", (uint64_t)pid);
    ended(pid);
}

static struct link signals;

static void *receives(void *unused)
{
    struct _pulse pulse;

    EXPECT_EQ(MsgReceivePulse(signals.chid, &pulse, sizeof(pulse), NULL), 0);
    return unused;
}

/* Two signals as pulses: one that is queued until this thread takes it, one that a thread waits
 * for. */
void cause_taken(void)
{
    struct sigevent event;

    signals = make_link(0);
    SIGEV_PULSE_INIT(&event, signals.coid, SIGEV_PULSE_PRIO_INHERIT, 7, 0);
    EXPECT_EQ(kymo_signal_pulse(1u << SIGTERM | 1u << SIGINT, &event), 0);
    SignalKill(0, 0, 0, SIGTERM, 0, 0);
    receives(NULL);
    int tid = helper(receives, NULL);
    SignalKill(0, 0, 0, SIGINT, 0, 0);
    join(tid);
    EXPECT_EQ(kymo_signal_pulse(0, NULL), 0);
    drop_link(&signals);
}

void cause_dump(void)
{
    int pid = child(ABILITY_TRACE, "block", "waitctx", NULL);

    fact("dumper", (uint64_t)pid);
    wait_state(pid, 1, STATE_WAITCTX);
    SignalKill(0, pid, 0, KYMO_SIGKILL, 0, 0);
    ended(pid);
}
