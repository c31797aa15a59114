/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quotas: what processes can take of each resource, and what is left for others. `t_quota take
 * KIND` is a hostile process without ABILITY_RESERVE, which takes all that it gets; `t_quota
 * victim` an ordinary one, which needs one piece of each; `t_quota bomb` one whose descendants
 * spawn as many as they can. Documented in docs/reference/security.md.
 */
#include "test/board/programs/check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/include/kymo.h"

#define HOSTILES 4
#define RW (KYMO_PROT_READ | KYMO_PROT_WRITE)
#define HEAP (160 * 1024) /* for the stacks of as many threads as a process can have */

static void sleep_for_ever(void)
{
    for (;;) {
        sleep_ms(1000000);
    }
}

static void *sleeps(void *unused)
{
    sleep_for_ever();
    return unused;
}

static int spawn_self(const struct kymo_spawn_attr *attr, const char *what, const char *arg)
{
    char *argv[] = {"t_quota", (char *)what, (char *)arg, NULL};

    return kymo_spawn("t_quota", argv, attr);
}

static struct kymo_quota quota_of(int pid, unsigned level)
{
    struct kymo_quota quota = {.group = -2};

    EXPECT(ProcLimits(pid, level, &quota) > 0);
    return quota;
}

static struct kymo_quota system_quota(void)
{
    struct kymo_quota quota = quota_of(0, 1);

    for (unsigned level = 2; quota.group >= 0; level++) {
        quota = quota_of(0, level);
    }
    return quota;
}

/* ---- one piece of each: 0, or -1 and errno ------------------------------------------ */

static int take_process(void)
{
    const struct kymo_spawn_attr small = {.stack_size = 8192, .heap_size = 4096}; /* many fit */

    return spawn_self(&small, "sleep", NULL);
}

static int take_thread(void)
{
    const struct _thread_attr attr = {.flags = 0};
    static char stacks[16][1024] __attribute__((aligned(64)));
    static unsigned n;
    struct _thread_attr own = attr;

    own.stackaddr = stacks[n % 16];
    own.stacksize = sizeof(stacks[0]);
    n++;
    return ThreadCreate(0, sleeps, NULL, &own);
}

static int take_channel(void)
{
    return ChannelCreate(0);
}

static int own_channel(void)
{
    static int chid;

    chid = chid ? chid : ChannelCreate(0);
    return chid;
}

/* Of both tables, file descriptors and side channels. */
static int take_connection(void)
{
    int coid = ConnectAttach(0, 0, own_channel(), _NTO_SIDE_CHANNEL, 0);

    coid = coid < 0 && errno == EMFILE ? ConnectAttach(0, 0, own_channel(), 0, 0) : coid;
    errno = errno == EMFILE ? EAGAIN : errno; /* its own tables are full before its quota */
    return coid;
}

static int own_connection(void)
{
    static int coid;

    coid = coid ? coid : ConnectAttach(0, 0, own_channel(), _NTO_SIDE_CHANNEL, 0);
    return coid;
}

static int take_timer(void)
{
    struct sigevent event;

    SIGEV_PULSE_INIT(&event, own_connection(), SIGEV_PULSE_PRIO_INHERIT, 1, 0);
    return TimerCreate(CLOCK_MONOTONIC, &event);
}

static int take_pulse(void)
{
    return MsgSendPulse(own_connection(), -1, 1, 0);
}

static int take_name(void)
{
    static unsigned n;
    char name[32];

    snprintf(name, sizeof(name), "t_quota/%d/%u", self_pid(), n++);
    return NameAttach(name, own_channel());
}

static int take_object(void)
{
    static unsigned n;
    char name[32];

    snprintf(name, sizeof(name), "t_quota/%u", n++);
    int id = ObjectOpen(name, KYMO_OBJECT_WRITE | KYMO_OBJECT_CREATE, 0600);
    return id < 0 ? id : ObjectUnlink(name);
}

static int take_bytes(size_t bytes)
{
    struct kymo_map map = {.len = bytes, .flags = RW};

    return MemMap(&map);
}

/* On Cortex-M the MPU's regions may be used up before the table is. */
static int take_mapping(void)
{
    int result = take_bytes(4096);

    errno = errno == ENOMEM ? EAGAIN : errno;
    return result;
}

/* As large pieces as there are, down to this size. */
static int take_ram(void)
{
    for (size_t bytes = 1u << 30; bytes >= 32768; bytes /= 2) {
        if (take_bytes(bytes) == 0) {
            return 0;
        }
        if (errno != ENOMEM) {
            return -1;
        }
    }
    return -1;
}

static const struct resource {
    const char *kind;
    enum kymo_limit what;
    int (*take)(void);
    int error;        /* when it has all that it gets */
    uint32_t ability; /* needed */
} resources[] = {
    {"processes", KYMO_LIMIT_PROCESSES, take_process, EAGAIN, ABILITY_SPAWN},
    {"threads", KYMO_LIMIT_THREADS, take_thread, EAGAIN, 0},
    {"channels", KYMO_LIMIT_CHANNELS, take_channel, EAGAIN, 0},
    {"connections", KYMO_LIMIT_CONNECTIONS, take_connection, EAGAIN, 0},
    {"timers", KYMO_LIMIT_TIMERS, take_timer, EAGAIN, 0},
    {"pulses", KYMO_LIMIT_PULSES, take_pulse, EAGAIN, 0},
    {"names", KYMO_LIMIT_NAMES, take_name, EAGAIN, 0},
    {"objects", KYMO_LIMIT_OBJECTS, take_object, EAGAIN, ABILITY_MEMORY},
    {"mappings", KYMO_LIMIT_MAPPINGS, take_mapping, EAGAIN, 0},
    {"ram", KYMO_LIMIT_RAM, take_ram, ENOMEM, 0},
};

static const struct resource *resource_named(const char *kind)
{
    for (unsigned i = 0; i < COUNT(resources); i++) {
        if (strcmp(resources[i].kind, kind) == 0) {
            return &resources[i];
        }
    }
    exit(100);
}

/* ---- the other processes ------------------------------------------------------------ */

/* Ends with the errno that is wrong; sleeps if it has all that it can get. */
static int hostile(const char *kind)
{
    const struct resource *r = resource_named(kind);

    for (unsigned i = 0; i < 100000; i++) {
        if (r->take() < 0) {
            if (errno != r->error && !(r->what == KYMO_LIMIT_RAM && errno == EAGAIN)) {
                return errno;
            }
            sleep_for_ever();
        }
    }
    return 101;
}

/* Ends with the number of the resource that it does not get, from 1. */
static int victim(void)
{
    for (unsigned i = 0; i < COUNT(resources); i++) {
        if (resources[i].ability == 0 && resources[i].take() < 0) {
            return (int)i + 1;
        }
    }
    return 0;
}

static int bomb(void)
{
    const struct kymo_spawn_attr attr = {.ability = ABILITY_SPAWN};

    for (unsigned i = 0; i < 1000; i++) {
        if (spawn_self(&attr, "bomb", NULL) < 0) {
            sleep_ms(10);
        }
    }
    sleep_for_ever();
    return 0;
}

/* ---- the tests ---------------------------------------------------------------------- */

static void end_process(int pid)
{
    int status;

    EXPECT_EQ(kill(pid, SIGKILL), 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
}

/* All descendants of a hostile process have the name of this program. */
static void end_all_others(void)
{
    struct kymo_proc_info info;

    for (int at = 1; ProcInfo(at, &info) > 0; at = info.pid + 1) {
        if (strcmp(info.name, "t_quota") == 0 && info.pid != self_pid()) {
            kill(info.pid, SIGKILL);
        }
    }
    while (ProcWait(0, NULL, 0) > 0) {
    }
}

static void expect_victim(const char *beside)
{
    const struct kymo_spawn_attr attr = {.heap_size = 4096};
    int status = -1, pid = spawn_self(&attr, "victim", NULL);

    EXPECT(pid > 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    if (status != 0) {
        unsigned i = KYMO_STATUS_CODE(status) - 1u;
        check_fail(__FILE__, __LINE__, "beside %s: a victim gets no %s (status 0x%x)", beside,
                   i < COUNT(resources) ? resources[i].kind : "-", (unsigned)status);
    }
}

/* Waits until it has all; false: it has ended instead. */
static bool has_taken(int pid, int *status)
{
    struct kymo_thread_info thread = {.state = STATE_DEAD};

    while (ProcWait(pid, status, KYMO_WAIT_NOHANG) == 0) {
        if (ThreadInfo(pid, 1, &thread) == 1 && thread.state == STATE_NANOSLEEP) {
            return true;
        }
        sleep_ms(1);
    }
    return false;
}

static int start_hostile(const struct resource *r)
{
    const struct kymo_spawn_attr attr = {.ability = r->ability, .heap_size = 8192};
    int status = 0, pid = spawn_self(&attr, "take", r->kind);

    if (pid > 0 && !has_taken(pid, &status)) {
        check_fail(__FILE__, __LINE__, "taking %s: errno %d", r->kind, KYMO_STATUS_CODE(status));
    }
    return pid;
}

static void expect_as_before(const struct kymo_quota *before)
{
    const struct kymo_quota now = system_quota();

    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        if (now.used[i] != before->used[i]) {
            check_fail(__FILE__, __LINE__, "limit %u: %lu, before %lu", i,
                       (unsigned long)now.used[i], (unsigned long)before->used[i]);
        }
    }
}

/* One hostile process has what it may, and an ordinary one has all that it needs. */
static void one_takes(const struct resource *r)
{
    const struct kymo_quota before = system_quota();
    int pid = start_hostile(r);
    const struct kymo_quota has = quota_of(pid, 0);

    say("quota: of %s one has %lu of %lu", r->kind, (unsigned long)has.used[r->what],
        (unsigned long)has.limit[r->what]);
    if (r->what == KYMO_LIMIT_RAM) {
        EXPECT(has.used[r->what] <= has.limit[r->what]);
        EXPECT(has.used[r->what] >= has.limit[r->what] / 2);
    } else if (r->what == KYMO_LIMIT_PROCESSES) { /* as many as the system has for it */
        const struct kymo_quota all = system_quota();

        EXPECT_EQ(all.used[r->what], all.limit[r->what] - all.reserve[r->what]);
    } else if (r->what == KYMO_LIMIT_MAPPINGS) { /* the MPU's regions may be fewer */
        EXPECT(has.used[r->what] > 4 && has.used[r->what] <= has.limit[r->what]);
    } else {
        EXPECT_EQ(has.used[r->what], has.limit[r->what]);
    }
    expect_victim(r->kind);
    end_all_others();
    expect_as_before(&before);
}

static void t_one(void)
{
    for (unsigned i = 0; i < COUNT(resources); i++) {
        one_takes(&resources[i]);
    }
}

/* Several have all that is not reserved. Who may take that still starts and works. */
static void many_take(const struct resource *r)
{
    const struct kymo_spawn_attr able = {.ability = ABILITY_KILL};
    const struct kymo_quota before = system_quota();
    unsigned n = 0;

    unsigned most = r->what == KYMO_LIMIT_PROCESSES ? 1 : HOSTILES; /* of which this one pays */

    while (n < most && start_hostile(r) > 0) {
        n++;
    }
    EXPECT(n > 0);
    const struct kymo_quota now = system_quota();
    say("quota: of %s %u have %lu of %lu, reserve %lu", r->kind, n,
        (unsigned long)now.used[r->what], (unsigned long)now.limit[r->what],
        (unsigned long)now.reserve[r->what]);
    EXPECT(now.used[r->what] <= now.limit[r->what] - now.reserve[r->what]);
    int status = -1, pid = spawn_self(&able, "victim", NULL);
    EXPECT(ProcWait(pid, &status, 0) == pid);
    EXPECT_EQ(status, 0);
    end_all_others();
    expect_as_before(&before);
}

static void t_reserve(void)
{
    for (unsigned i = 0; i < COUNT(resources); i++) {
        many_take(&resources[i]);
    }
}

static void t_given(void)
{
    struct kymo_spawn_attr attr = {.limits = 1u << KYMO_LIMIT_TIMERS};
    const struct kymo_quota own = quota_of(0, 0);

    attr.limit[KYMO_LIMIT_TIMERS] = 3;
    int pid = spawn_self(&attr, "take", "timers");
    EXPECT(wait_state(pid, 1, STATE_NANOSLEEP));
    const struct kymo_quota has = quota_of(pid, 0);
    EXPECT_EQ(has.used[KYMO_LIMIT_TIMERS], 3);
    EXPECT_EQ(has.limit[KYMO_LIMIT_TIMERS], 3);
    EXPECT_EQ(has.limit[KYMO_LIMIT_NAMES], own.limit[KYMO_LIMIT_NAMES]);
    end_process(pid);
    attr.limit[KYMO_LIMIT_TIMERS] = own.limit[KYMO_LIMIT_TIMERS] + 1;
    EXPECT_ERR(spawn_self(&attr, "sleep", NULL), EPERM);
    attr.limit[KYMO_LIMIT_TIMERS] = KYMO_LIMIT_MOST;
    pid = spawn_self(&attr, "sleep", NULL);
    EXPECT_EQ(quota_of(pid, 0).limit[KYMO_LIMIT_TIMERS], own.limit[KYMO_LIMIT_TIMERS]);
    end_process(pid);
}

/* A fork bomb in a group stays in it. Groups can be made as often as they have ended. */
static void t_group(void)
{
    struct kymo_spawn_attr attr = {
        .ability = ABILITY_SPAWN,
        .flags = KYMO_SPAWN_GROUP,
        .limits = 1u << KYMO_LIMIT_PROCESSES | 1u << KYMO_LIMIT_RAM,
    };
    const struct kymo_quota before = system_quota();

    attr.limit[KYMO_LIMIT_PROCESSES] = 3;
    attr.limit[KYMO_LIMIT_RAM] = 64u << 20;
    for (unsigned i = 0; i < 10; i++) {
        int pid = spawn_self(&attr, "bomb", NULL);

        EXPECT(pid > 0);
        sleep_ms(100);
        const struct kymo_quota group = quota_of(pid, 1);
        EXPECT(group.group > 0);
        EXPECT_EQ(group.members, 4);
        EXPECT_EQ(group.used[KYMO_LIMIT_PROCESSES], 3);
        expect_victim("a fork bomb");
        end_all_others();
    }
    expect_as_before(&before);
}

static void t_errors(void)
{
    struct kymo_quota quota;

    EXPECT_EQ(ProcLimits(0, 0, &quota), self_pid());
    EXPECT_EQ(quota.group, 0);
    EXPECT_EQ(ProcLimits(1, 1, &quota), 1);
    EXPECT_EQ(quota.group, -1);
    EXPECT_ERR(ProcLimits(1, 2, &quota), EINVAL);
    EXPECT_ERR(ProcLimits(0x7fffffff, 0, &quota), ESRCH);
    EXPECT_ERR(ProcLimits(0, 0, NULL), EFAULT);
}

static const struct check table[] = {
    {"one takes all that it may", t_one}, {"several take all that is not reserved", t_reserve},
    {"limits given at spawn", t_given},   {"a fork bomb in a group", t_group},
    {"bad arguments", t_errors},
};

int main(int argc, char **argv)
{
    if (argc >= 3) {
        return hostile(argv[2]);
    }
    if (argc == 2) {
        return strcmp(argv[1], "victim") == 0 ? victim()
               : strcmp(argv[1], "bomb") == 0 ? bomb()
                                              : (sleep_for_ever(), 0);
    }
    return check_run("quota", table, COUNT(table));
}
