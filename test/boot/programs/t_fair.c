/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process without abilities can't take from others, whatever it does: the kernel's notices
 * (while it fills the pool of pulses), and the CPU from a thread of higher priority. `t_fair attack
 * KIND` is that process. Documented in docs/security.md.
 */
#include "test/boot/programs/check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/include/kymo.h"

#define HIGH 200
#define ATTACKER 9

/* ---- attacks ------------------------------------------------------------------------ */

/* Fills all that it may have of the pulses, on channels of its own, and stays. */
static void attack_flood(const char *unused)
{
    (void)unused;
    for (unsigned i = 0; i < 4; i++) {
        struct link own = make_link(0);

        while (MsgSendPulse(own.coid, 63, 1, 0) == 0) {
        }
    }
    sleep_ms(1000000);
}

static const struct {
    const char *kind;
    void (*run)(const char *arg);
} attacks[] = {
    {"flood", attack_flood},
};

static int attack(const char *kind, const char *arg)
{
    for (unsigned i = 0; i < COUNT(attacks); i++) {
        if (strcmp(kind, attacks[i].kind) == 0) {
            attacks[i].run(arg);
        }
    }
    return 1;
}

static int start_attack(const char *kind, const char *arg)
{
    int pid = spawn("t_fair", 0, ATTACKER, "attack", kind, arg);

    EXPECT(pid > 0);
    return pid;
}

static void end_attack(int pid)
{
    int status;

    EXPECT_EQ(kill(pid, SIGKILL), 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
}

/* ---- notices ------------------------------------------------------------------------ */

static int flooder;

static void begin_flood(void)
{
    flooder = start_attack("flood", NULL);
    EXPECT(wait_state(flooder, 1, STATE_NANOSLEEP));
}

static void expect_pulse(int chid, int code, int value)
{
    struct _pulse pulse = {0};
    const uint64_t ns = 100 * MS;

    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_RECEIVE, NULL, &ns, NULL);
    EXPECT_EQ(MsgReceivePulse(chid, &pulse, sizeof(pulse), NULL), 0);
    EXPECT_EQ(pulse.code, code);
    EXPECT_EQ(pulse.value.sival_int, value);
}

static void *ends(void *unused)
{
    return unused;
}

/* Each is sent while nobody receives, so it has to be queued. */
static void t_notices(void)
{
    struct link to = make_link(_NTO_CHF_DISCONNECT | _NTO_CHF_THREAD_DEATH), more;
    int tid;

    begin_flood();
    EXPECT_ERR(MsgSendPulse(to.coid, 10, 1, 1), EAGAIN); /* programs' pulses are used up */
    tid = start_thread(ends, NULL, 0);
    join(tid);
    expect_pulse(to.chid, _PULSE_CODE_THREADDEATH, tid);
    EXPECT_EQ(ConnectDetach(to.coid), 0);
    expect_pulse(to.chid, _PULSE_CODE_DISCONNECT, 0);
    more.chid = ChannelCreate(0);
    more.coid = ConnectAttach(0, 0, more.chid, _NTO_SIDE_CHANNEL, 0);
    EXPECT_EQ(ChannelDestroy(to.chid), 0);
    to.chid = ChannelCreate(_NTO_CHF_COID_DISCONNECT);
    EXPECT_EQ(ChannelDestroy(more.chid), 0);
    expect_pulse(to.chid, _PULSE_CODE_COIDDEATH, more.coid);
    EXPECT_EQ(ConnectDetach(more.coid), 0);
    EXPECT_EQ(ChannelDestroy(to.chid), 0);
    end_attack(flooder);
}

static struct link served;
static void *impatient(void *unused)
{
    const uint64_t ns = 5 * MS;
    char c = 1;

    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_REPLY, NULL, &ns, NULL);
    EXPECT_ERR(MsgSend(served.coid, &c, 1, &c, 1), ETIMEDOUT);
    return unused;
}

static void t_unblock(void)
{
    char c;
    int tid, rcvid;

    begin_flood();
    served = make_link(_NTO_CHF_UNBLOCK);
    tid = start_thread(impatient, NULL, 0);
    rcvid = MsgReceive(served.chid, &c, 1, NULL);
    EXPECT(rcvid > 0);
    sleep_ms(20); /* it wants to leave, and nobody receives that yet */
    EXPECT(wait_state(self_pid(), tid, STATE_REPLY));
    expect_pulse(served.chid, _PULSE_CODE_UNBLOCK, rcvid);
    EXPECT_EQ(MsgError(rcvid, ETIMEDOUT), 0);
    join(tid);
    drop_link(&served);
    end_attack(flooder);
}

static void t_signal(void)
{
    struct link to = make_link(0);
    struct sigevent event;

    begin_flood();
    SIGEV_PULSE_INIT(&event, to.coid, SIGEV_PULSE_PRIO_INHERIT, 7, 0);
    EXPECT_EQ(kymo_signal_pulse(1u << SIGINT | 1u << SIGTERM, &event), 0);
    EXPECT_EQ(kill(getpid(), SIGTERM), 0);
    EXPECT_EQ(kill(getpid(), SIGINT), 0);
    EXPECT_EQ(kill(getpid(), SIGTERM), 0);
    expect_pulse(to.chid, 7, SIGTERM);
    expect_pulse(to.chid, 7, SIGINT);
    EXPECT_EQ(kymo_signal_pulse(0, NULL), 0);
    drop_link(&to);
    end_attack(flooder);
}

static const struct check table[] = {
    {"notices of ends while pulses are used up", t_notices},
    {"unblock while pulses are used up", t_unblock},
    {"signals as pulses while pulses are used up", t_signal},
};

int main(int argc, char **argv)
{
    if (argc >= 3) {
        return attack(argv[2], argc >= 4 ? argv[3] : "");
    }
    return check_run("fair", table, COUNT(table));
}
