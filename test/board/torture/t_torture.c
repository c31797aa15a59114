/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hostile processes against victims. In each round, hostile processes make random kernel calls from
 * several threads (hostile.c, typed.c), are killed at any moment and replaced; meanwhile victims
 * (victims.c) exchange checked messages, count a timer's ticks and pass numbers through semaphores.
 * Required: the victims lose nothing and go on in every round; in the end nothing that the hostile
 * processes held is missing (accounts.c); the kernel lives.
 *
 * `t_torture SEED ROUNDS STEPS [PACE [CALLS]]` is the judge: seeds SEED, SEED + 1, and so on; a
 * step is 1 to 4 ms, or PACE times that, as are the victims' pauses: if CPUs are threads of a
 * slow host, victims leave time for the others. A run repeats under icount only. Every round prints
 * its seed and what was done in it. With CALLS, no round begins when hostile processes have made so
 * many calls, and a run of fewer has failed: ROUNDS is a limit then. A long pace makes more calls a
 * second of the host, because fewer processes are spawned and fewer messages checked.
 */
#include "test/board/torture/torture.h"
#include "test/board/torture/typed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/include/kymo.h"

#define HOSTILE 4
#define VICTIMS 3
#define SERVER 0 /* the first victim: it is told to the others */
#define PROCESSES_MOST 64

static const char *const roles[VICTIMS] = {"server", "client", "worker"};
static struct torture_addresses addresses;
static uint64_t state;
static struct {
    int victims[VICTIMS], hostile[HOSTILE]; /* pids; 0: none */
    volatile uint64_t calls;
    volatile uint64_t work[VICTIMS][4]; /* as they report it */
    volatile unsigned over;             /* bits of victims that are told to end */
    unsigned born, killed, ended;       /* hostile processes */
} now;

/* ---- addresses and reports ----------------------------------------------------------- */

void addresses_write(char *text, const struct torture_addresses *a)
{
    snprintf(text, ADDRESSES_TEXT, "%d:%d:%d:%d:%u", a->judge_pid, a->judge_chid, a->server_pid,
             a->server_chid, a->pace);
}

struct torture_addresses addresses_read(const char *text)
{
    struct torture_addresses a = {0};

    sscanf(text, "%d:%d:%d:%d:%u", &a.judge_pid, &a.judge_chid, &a.server_pid, &a.server_chid,
           &a.pace);
    return a;
}

bool report(int coid, const struct torture_report *of)
{
    long status = MsgSend(coid, of, sizeof(*of), NULL, 0);

    if (status < 0) {
        say("TORTURE LOST: a report: errno %d", errno);
        exit(1);
    }
    return status == 0;
}

static int victim_of(int pid)
{
    for (unsigned i = 0; i < VICTIMS; i++) {
        if (now.victims[i] == pid) {
            return (int)i;
        }
    }
    return -1;
}

/* From whom it is decides what it means: a hostile process can say anything. */
static void note_report(const struct torture_report *from, int pid)
{
    int victim = victim_of(pid);

    if (victim < 0) {
        now.calls += from->of[REPORT_CALLS] < 10000 ? from->of[REPORT_CALLS] : 0;
        return;
    }
    for (unsigned i = 0; i < 4; i++) {
        now.work[victim][i] += from->of[i];
    }
}

static void *receives(void *unused)
{
    union {
        struct torture_report report;
        struct taker_report taker;
        struct _pulse pulse;
    } got;

    for (;;) {
        struct _msg_info info;
        int rcvid = MsgReceive(addresses.judge_chid, &got, sizeof(got), &info);

        if (rcvid > 0 && info.msglen == sizeof(got.taker) && got.taker.magic == TAKER_MAGIC &&
            !now.born) {
            accounts_told(&got.taker, rcvid);
            continue; /* it keeps what it has until it is ended */
        }
        if (rcvid > 0 && info.msglen == sizeof(got.report) && got.report.magic == REPORT_MAGIC) {
            note_report(&got.report, info.pid);
        }
        if (rcvid > 0) {
            int victim = victim_of(info.pid);
            MsgReply(rcvid, victim >= 0 && (now.over >> victim & 1), NULL, 0);
        }
    }
    return unused;
}

/* ---- processes ----------------------------------------------------------------------- */

static int start(const char *role, uint32_t ability, int priority)
{
    char seed[12], text[ADDRESSES_TEXT];

    snprintf(seed, sizeof(seed), "%lu", (unsigned long)torture_random(&state));
    addresses_write(text, &addresses);
    return spawn("t_torture", ability, priority, role, seed, text);
}

/* The server tells its channel in its first report. */
static void start_victims(void)
{
    for (unsigned i = 0; i < VICTIMS; i++) {
        now.victims[i] = start(roles[i], ABILITY_PRIORITY, PRIORITY_VICTIM);
        EXPECT(now.victims[i] > 0);
        for (unsigned tries = 0; now.work[i][0] == 0 && tries < 1000; tries++) {
            sleep_ms(1);
        }
        EXPECT(now.work[i][0] > 0);
        if (i == SERVER) {
            addresses.server_pid = now.victims[i];
            addresses.server_chid = (int)now.work[i][0];
        }
    }
}

/* Most have no ability; the others have those that give no right to what is others'. There may be
 * no room for it: then a later step tries again. */
static void bear(unsigned i)
{
    static const uint32_t abilities[HOSTILE] = {
        0, ABILITY_SPAWN, ABILITY_INTERRUPT | ABILITY_CLOCK | ABILITY_MEMORY, 0};
    int pid = start("hostile", abilities[i], PRIORITY_HOSTILE);

    now.hostile[i] = pid > 0 ? pid : 0;
    now.born += pid > 0;
}

static void replace_ended(void)
{
    int status;

    for (unsigned i = 0; i < HOSTILE; i++) {
        if (now.hostile[i] > 0 && ProcWait(now.hostile[i], &status, KYMO_WAIT_NOHANG) > 0) {
            now.hostile[i] = 0;
            now.ended++;
        }
        if (now.hostile[i] == 0) {
            bear(i);
        }
    }
}

static void victims_live(void)
{
    int status = 0;

    for (unsigned i = 0; i < VICTIMS; i++) {
        if (ProcWait(now.victims[i], &status, KYMO_WAIT_NOHANG) != 0) {
            check_fail(__FILE__, __LINE__, "the %s ended: status %x", roles[i], (unsigned)status);
        }
    }
}

static void step(void)
{
    sleep_ms(addresses.pace * (1 + torture_pick(&state, 4)));
    if (torture_pick(&state, 8) == 0) {
        int pid = now.hostile[torture_pick(&state, HOSTILE)];
        if (pid > 0 && SignalKill(0, pid, 0, KYMO_SIGKILL, 0, 0) == 0) {
            now.killed++;
        }
    }
    replace_ended();
    victims_live();
}

/* ---- the end of a round --------------------------------------------------------------- */

static int there_before[PROCESSES_MOST];

static unsigned list_processes(int *pids)
{
    struct kymo_proc_info info = {0};
    unsigned n = 0;

    for (int at = 1; n < PROCESSES_MOST - 1 && ProcInfo(at, &info) > 0; at = info.pid + 1) {
        pids[n++] = info.pid;
    }
    pids[n] = 0;
    return n;
}

static bool is_of(const int *pids, int pid)
{
    while (*pids != 0 && *pids != pid) {
        pids++;
    }
    return *pids != 0;
}

/* Those that hostile processes have spawned are nobody's; new ones may come while old ones end. */
static void end_strangers(void)
{
    int pids[PROCESSES_MOST], status;
    unsigned left = 1;

    for (unsigned tries = 0; left > 0 && tries < 500; tries++) {
        list_processes(pids);
        left = 0;
        for (unsigned i = 0; pids[i] != 0; i++) {
            if (!is_of(there_before, pids[i]) && victim_of(pids[i]) < 0) {
                left++;
                SignalKill(0, pids[i], 0, KYMO_SIGKILL, 0, 0);
                ProcWait(pids[i], &status, KYMO_WAIT_NOHANG);
            }
        }
        sleep_ms(1);
    }
    EXPECT_EQ(left, 0);
}

/* The server last: the others send to it until they end. */
static void end_victims(void)
{
    for (unsigned i = VICTIMS; i-- > 0;) {
        int status = -1;

        now.over |= 1u << i;

        if (check_failure()[0] != '\0') {
            SignalKill(0, now.victims[i], 0, KYMO_SIGKILL, 0, 0);
        }
        EXPECT_EQ(ProcWait(now.victims[i], &status, 0), now.victims[i]);
        EXPECT_EQ(status, 0);
    }
}

static void unlink_objects(void)
{
    struct kymo_object_info info;

    while (ObjectInfo(KYMO_OBJECT_AT, &info) >= 0 && ObjectUnlink(info.name) == 0) {
    }
}

static void compare(const struct accounts *before, const struct accounts *after)
{
    for (unsigned i = 0; i < ACCOUNTS; i++) {
        if (after->of[i] != before->of[i]) {
            say("TORTURE LOST: %s: %llu, before %llu", account_name(i),
                (unsigned long long)after->of[i], (unsigned long long)before->of[i]);
            check_fail(__FILE__, __LINE__, "%s: %llu, before %llu", account_name(i),
                       (unsigned long long)after->of[i], (unsigned long long)before->of[i]);
        }
    }
}

/* None of the tables is empty or unknown: else nothing would be compared. */
static void say_accounts(const struct accounts *a)
{
    for (unsigned i = 0; i < ACCOUNTS; i++) {
        if (i >= LEFT_MEMORY) {
            EXPECT(a->of[i] > 0);
        }
        say("%llu %s", (unsigned long long)a->of[i], account_name(i));
    }
}

/* Every victim has gone on while the hostile processes were at work. */
static void victims_worked(unsigned steps)
{
    static const struct {
        uint8_t victim, of;
        const char *name;
    } least[] = {{1, 0, "messages"}, {2, 0, "ticks"}, {2, 1, "numbers"}};

    EXPECT(now.calls > 0 || addresses.pace > 1);

    for (unsigned i = 0; i < COUNT(least); i++) {
        uint64_t done = now.work[least[i].victim][least[i].of];
        if (done < steps / 4) {
            check_fail(__FILE__, __LINE__, "%llu %s in %u steps", (unsigned long long)done,
                       least[i].name, steps);
        }
    }
}

static void play(uint32_t seed, unsigned steps)
{
    static struct accounts before, after;

    memset(&now, 0, sizeof(now));
    state = seed * 2654435761u + 1;
    addresses.server_pid = addresses.server_chid = 0;
    list_processes(there_before);
    accounts_take(&before, &addresses);
    say_accounts(&before);
    start_victims();
    for (unsigned i = 0; i < steps && check_failure()[0] == '\0'; i++) {
        step();
    }
    end_strangers();
    end_victims();
    unlink_objects();
    unsigned born = now.born;
    now.born = 0;
    accounts_take(&after, &addresses);
    compare(&before, &after);
    victims_worked(steps);
    say("SEED %u: %llu calls at least by %u hostile processes, %u of them killed; %llu messages, "
        "%llu ticks, %llu numbers%s%s",
        (unsigned)seed, (unsigned long long)now.calls, born, now.killed,
        (unsigned long long)now.work[1][0], (unsigned long long)now.work[2][0],
        (unsigned long long)now.work[2][1], check_failure()[0] ? ": " : "", check_failure());
}

static uint32_t seed = 1;
static unsigned rounds = 1, steps = 100;
static uint64_t calls_wanted;

static void t_typed(void)
{
    const char *name = NULL;

    if (!typed_complete(&name)) {
        check_fail(__FILE__, __LINE__, "typed.c doesn't know what the argument %s means", name);
    }
}

static void t_rounds(void)
{
    uint64_t calls = 0;

    addresses.judge_pid = self_pid();
    addresses.judge_chid = ChannelCreate(0);
    start_thread(receives, NULL, 0);
    for (unsigned i = 0; i < rounds && check_failure()[0] == '\0'; i++) {
        play(seed + i, steps);
        calls += now.calls;
        if (calls_wanted > 0 && calls >= calls_wanted) {
            break;
        }
    }
    say("TORTURE: %llu calls at least", (unsigned long long)calls);
    if (calls < calls_wanted) {
        check_fail(__FILE__, __LINE__, "%llu calls in %u rounds, not %llu",
                   (unsigned long long)calls, rounds, (unsigned long long)calls_wanted);
    }
}

/* A hostile process spawns this program with any arguments: such a one would judge, too. */
static bool started_by_init(void)
{
    struct kymo_proc_info info = {0};
    int parent = 0;

    ProcSelf(NULL, &parent);
    return parent > 0 && ProcInfo(parent, &info) == parent && strcmp(info.name, "init") == 0;
}

int main(int argc, char **argv)
{
    static const struct check table[] = {{"every argument has a meaning", t_typed},
                                         {"hostile processes and victims", t_rounds}};

    if (argc >= 3 && strcmp(argv[1], "hostile") == 0) {
        addresses = addresses_read(argc > 3 ? argv[3] : "");
        return hostile_main(strtoull(argv[2], NULL, 10), &addresses);
    }
    if (argc > 3 && strchr(argv[3], ':') != NULL) {
        addresses = addresses_read(argv[3]);
        return strcmp(argv[1], "taker") == 0
                   ? taker_main(&addresses)
                   : victim_main(argv[1], strtoull(argv[2], NULL, 10), &addresses);
    }
    if (!started_by_init()) {
        return 1;
    }
    seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : seed;
    rounds = argc > 2 ? (unsigned)atoi(argv[2]) : rounds;
    steps = argc > 3 ? (unsigned)atoi(argv[3]) : steps;
    addresses.pace = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
    calls_wanted = argc > 5 ? strtoull(argv[5], NULL, 0) : 0;
    return check_run("torture", table, COUNT(table));
}
