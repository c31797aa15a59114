/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process without abilities can't take from others, whatever it does: the kernel's notices
 * (while it fills the pool of pulses), and the CPU from a thread of higher priority. `t_fair attack
 * KIND` is that process. Documented in docs/reference/security.md.
 */
#include "test/board/programs/check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/dispatch.h>
#include <unistd.h>

#include "lib/capture/protocol.h"
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

/* No attack: what the others are compared with. (Under QEMU a CPU that is idle in between has its
 * interrupts at other times.) */
static void attack_spin(const char *unused)
{
    (void)unused;
    for (volatile unsigned n = 0;; n++) {
    }
}

/* All the timers there are, as often as they go, each with a pulse. */
static void attack_timers(const char *us)
{
    struct link own = make_link(0);
    const uint64_t ns = (uint64_t)atoi(us) * 1000 + 1;
    const struct _itimer often = {ns, ns};
    struct sigevent event;
    struct _pulse pulse;
    int timer;

    SIGEV_PULSE_INIT(&event, own.coid, SIGEV_PULSE_PRIO_INHERIT, 1, 0);
    while ((timer = TimerCreate(CLOCK_MONOTONIC, &event)) >= 0) {
        TimerSettime(timer, 0, &often, NULL);
    }
    for (;;) {
        MsgReceivePulse(own.chid, &pulse, sizeof(pulse), NULL);
    }
}

static void *sleeps(void *unused)
{
    (void)unused;
    for (;;) {
        const uint64_t ns = 20000;

        TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);
    }
    return NULL;
}

static void attack_sleeps(const char *unused)
{
    (void)unused;
    for (unsigned i = 0; i < 6; i++) {
        start_thread(sleeps, NULL, 0);
    }
    sleeps(NULL);
}

static void attack_pulses(const char *unused)
{
    struct link own = make_link(0);
    struct _pulse pulse;

    (void)unused;
    for (;;) {
        for (unsigned i = 0; i < 32; i++) {
            MsgSendPulse(own.coid, 63, 1, 0);
        }
        for (unsigned i = 0; i < 32; i++) {
            MsgReceivePulse(own.chid, &pulse, sizeof(pulse), NULL);
        }
    }
}

/* Children that end at once, or by a fault. */
static void attack_spawns(const char *fault)
{
    for (;;) {
        int status, pid = spawn("victim", 0, 0, "fault", fault, NULL);

        if (pid > 0) {
            ProcWait(pid, &status, 0);
        }
    }
}

static void attack_names(const char *unused)
{
    struct kymo_name found;

    (void)unused;
    for (;;) {
        NameLookup("a name that nobody has attached", &found);
    }
}

/* Messages to a server of the process that is watched: "PID:CHID". */
static void attack_messages(const char *to)
{
    char *rest, c = 1;
    int pid = (int)strtol(to, &rest, 10);
    int coid = ConnectAttach(0, pid, *rest == ':' ? (int)strtol(rest + 1, NULL, 10) : 0,
                             _NTO_SIDE_CHANNEL, 0);

    for (;;) {
        MsgSend(coid, &c, 1, &c, 1);
    }
}

static void attack_maps(const char *unused)
{
    (void)unused;
    for (;;) {
        struct kymo_map map = {.len = 32768, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};

        if (MemMap(&map) == 0) {
            MemUnmap((void *)(uintptr_t)map.vaddr, (size_t)map.len);
        }
    }
}

static const struct {
    const char *kind;
    void (*run)(const char *arg);
} attacks[] = {
    {"flood", attack_flood},   {"spin", attack_spin},         {"timers", attack_timers},
    {"sleeps", attack_sleeps}, {"pulses", attack_pulses},     {"spawns", attack_spawns},
    {"names", attack_names},   {"messages", attack_messages}, {"maps", attack_maps},
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
    char *argv[] = {"t_fair", "attack", (char *)kind, (char *)arg, NULL};
    struct kymo_spawn_attr attr = {
        .ability = strcmp(kind, "spawns") == 0 ? ABILITY_SPAWN : 0,
        .priority = ATTACKER,
        .limits = (1u << KYMO_LIMITS) - 1, /* all that isn't reserved: quotas are t_quota's */
    };

    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        attr.limit[i] = KYMO_LIMIT_MOST;
    }
    int pid = kymo_spawn("t_fair", argv, &attr);

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
static struct link flooded;

/* Then this process takes what is reserved for it. */
static void begin_flood(void)
{
    flooder = start_attack("flood", NULL);
    EXPECT(wait_state(flooder, 1, STATE_NANOSLEEP));
    flooded = make_link(0);
    while (MsgSendPulse(flooded.coid, 10, 1, 1) == 0) {
    }
    EXPECT_EQ(errno, EAGAIN);
}

static void end_flood(void)
{
    drop_link(&flooded);
    end_attack(flooder);
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
    end_flood();
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
    end_flood();
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
    end_flood();
}

/* ---- the CPU ------------------------------------------------------------------------ */

/*
 * A thread of high priority works for WORK, pauses for PAUSE, and so on: what it needs from when it
 * should begin until it is done, in all rounds. Work is a number of loops, so that time taken from
 * it shows.
 */
#define ROUNDS 20
#define WORK (10 * MS)
#define PAUSE (3 * MS)
#define SHORTER 10 /* what a machine of a tenth of the emulator's speed does in that time */
#define KEPT 95    /* % */

static unsigned loops = 10000, shorter = 1;

static void work(void)
{
    for (volatile unsigned n = 0; n < loops / shorter; n++) {
    }
}

static void *measure(void *result)
{
    uint64_t *total = result;

    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t at = now_ns() + PAUSE / shorter;

        TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_NANOSLEEP | TIMER_ABSTIME, NULL, &at, NULL);
        work();
        *total += now_ns() - at;
    }
    return NULL;
}

static uint64_t measured(void)
{
    uint64_t total = 0;

    join(start_thread(measure, &total, HIGH));
    return total;
}

/* What the thread needs beside a process that only computes; each piece of work takes WORK. */
static uint64_t beside_spin(void)
{
    static uint64_t total;
    uint64_t began = now_ns();

    if (total == 0) {
        work();
        loops = (unsigned)(loops * WORK / (now_ns() - began));
    }
    int pid = start_attack("spin", "");
    total = measured();
    end_attack(pid);
    return total;
}

static void keeps_percent(const char *kind, const char *arg, unsigned least)
{
    uint64_t without = beside_spin();
    int pid = start_attack(kind, arg);

    sleep_ms(20);
    uint64_t with = measured();
    unsigned kept = (unsigned)(without * 1000 / with);
    say("fair: %s %s: it keeps %u.%u %%", kind, arg, kept / 10, kept % 10);
    if (kept < least * 10) {
        check_fail(__FILE__, __LINE__, "%u.%u %%", kept / 10, kept % 10);
    }
    end_attack(pid);
}

static void keeps_cpu(const char *kind, const char *arg)
{
    keeps_percent(kind, arg, KEPT);
}

static void t_timers(void)
{
    keeps_cpu("timers", "");
}

static void t_sleeps(void)
{
    keeps_cpu("sleeps", "");
}

/* Each interrupt weighs ten times as much. Another process computes meanwhile: on an idle CPU an
 * emulator whose clock jumps to the next timer is late by as much as it jumps. */
static void t_timers_shorter(void)
{
    static const char *const us[] = {"", "300", "600", "800", "1000", "1300", "2000", "8000"};
    int pid = start_attack("spin", "");

    shorter = SHORTER;
    for (unsigned i = 0; i < COUNT(us); i++) {
        keeps_cpu("timers", us[i]);
    }
    keeps_cpu("sleeps", "");
    shorter = 1;
    end_attack(pid);
}

static void t_pulses(void)
{
    keeps_cpu("pulses", "");
}

static void t_spawns(void)
{
    keeps_cpu("spawns", "");
}

static void t_crashes(void)
{
    keeps_cpu("spawns", "read");
}

/* Each crash is a report on the console, too. */
static void t_spawns_shorter(void)
{
    shorter = SHORTER;
    keeps_percent("spawns", "", KEPT);
    keeps_percent("spawns", "read", KEPT);
    shorter = 1;
}

static void t_names(void)
{
    keeps_cpu("names", "");
}

static void t_maps(void)
{
    keeps_cpu("maps", "");
}

static void *answers(void *unused)
{
    char c;
    int rcvid;

    while ((rcvid = MsgReceive(served.chid, &c, 1, NULL)) > 0) {
        MsgReply(rcvid, 0, &c, 1);
    }
    return unused;
}

static void t_messages(void)
{
    char to[24];
    int tid;

    served = make_link(0);
    tid = start_thread(answers, NULL, 0);
    snprintf(to, sizeof(to), "%d:%d", self_pid(), served.chid);
    keeps_cpu("messages", to);
    drop_link(&served);
    join(tid);
}

static const struct check table[] = {
    {"notices of ends while pulses are used up", t_notices},
    {"unblock while pulses are used up", t_unblock},
    {"signals as pulses while pulses are used up", t_signal},
    {"cpu against timers", t_timers},
    {"cpu against sleeps", t_sleeps},
    {"cpu against timers on a slow machine", t_timers_shorter},
    {"cpu against pulses", t_pulses},
    {"cpu against spawns", t_spawns},
    {"cpu against crashes", t_crashes},
    {"cpu against spawns and crashes on a slow machine", t_spawns_shorter},
    {"cpu against names", t_names},
    {"cpu against messages", t_messages},
    {"cpu against maps", t_maps},
};

/* ---- recordings ---------------------------------------------------------------------- */

/* Neither the pulses that a tracelogger sends itself nor tracestop's message are a stranger's. */
static void t_stranger(void)
{
    struct tracelogger_msg msg = {TRACELOGGER_STOP, 0};
    struct kymo_name found;
    int coid = name_open(TRACELOGGER_LOCK, 0);

    EXPECT(coid >= 0);
    for (int code = 0; code < 128; code++) {
        MsgSendPulse(coid, 10, code, 0);
        sleep_ms(1);
    }
    EXPECT_ERR(MsgSend(coid, &msg, sizeof(msg), NULL, 0), EPERM);
    EXPECT(NameLookup(TRACELOGGER_NAME, &found) >= 0);
    EXPECT_EQ(name_close(coid), 0);
}

static const struct check recorded[] = {
    {"a stranger ends no recording", t_stranger},
};

int main(int argc, char **argv)
{
    if (argc == 2) {
        return check_run("fair", recorded, COUNT(recorded));
    }
    if (argc >= 3) {
        return attack(argv[2], argc >= 4 ? argv[3] : "");
    }
    return check_run("fair", table, COUNT(table));
}
