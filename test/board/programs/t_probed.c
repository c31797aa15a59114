/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that are killed while they are probed: at any moment, before, while and after probes
 * are made in them, go on, fire on all CPUs, go off. Each ends by its signal, never by a trap that
 * was left in it; afterwards memory, kernel text and what processes own are as before.
 * `t_probed [SEED [KILLS]]`; seed 0: real threads; `t_probed child PID CHID` is one of those.
 * Under icount a seed repeats a run. Its D program is test/board/probed/probed.d.
 */
#include "test/board/programs/dcalls.h"

#include <stdio.h>
#include <stdlib.h>

#define THREADS 3 /* of a child */
#define PRIORITY 10

/* Two functions, the second of which ends with a jump to the first. */
#if defined(__x86_64__)
__asm__(".pushsection .text\n.balign 8\n"
        "probed_first: lea 8(%rdi), %rax\nret\n.balign 8\n"
        "probed_second: lea -3(%rdi), %rdi\njmp.d32 probed_first\n.balign 8\n"
        ".popsection\n");
enum { STEP = 4, RETURN = 1, JUMP = 5 };
#elif defined(__ARM_ARCH_7EM__)
__asm__(".pushsection .text\n.balign 8\n"
        ".type probed_first, %function\nprobed_first: add.w r0, r0, #8\nbx lr\n.balign 8\n"
        ".type probed_second, %function\nprobed_second: sub.w r0, r0, #3\nb.w probed_first\n"
        ".balign 8\n.popsection\n");
enum { STEP = 4, RETURN = 2, JUMP = 4 };
#else
__asm__(".pushsection .text\n.balign 8\n"
        "probed_first: add x0, x0, #8\nret\n.balign 8\n"
        "probed_second: sub x0, x0, #3\nb probed_first\n.balign 8\n"
        ".popsection\n");
enum { STEP = 4, RETURN = 4, JUMP = 4 };
#endif
uintptr_t probed_first(uintptr_t n);
uintptr_t probed_second(uintptr_t n);

static const struct {
    uintptr_t (*function)(uintptr_t n);
    unsigned offset;
    uint8_t bytes, kind;
    const char *name, *probe;
} places[] = {
    {probed_first, 0, STEP, KYMO_D_USER_ENTRY, "probed_first", "entry"},
    {probed_first, STEP, RETURN, KYMO_D_USER_RETURN, "probed_first", "return"},
    {probed_second, 0, STEP, KYMO_D_USER_ENTRY, "probed_second", "entry"},
    {probed_second, STEP, JUMP, KYMO_D_USER_TAIL, "probed_second", "return"},
};
static uint64_t state = 1;
static unsigned kills = 200;
static bool hosts_time;
static uint64_t fired;

static uint32_t below(uint32_t n)
{
    return d_random(&state) % n;
}

static void sleep_at_most(uint64_t most)
{
    uint64_t ns = below((uint32_t)most);

    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);
}

/* ---- the child --------------------------------------------------------------------- */

static void *calls(void *unused)
{
    for (uintptr_t n = 0;; n++) {
        if (probed_second(n) != n + 5 || probed_first(n) != n + 8) {
            exit(1);
        }
    }
    return unused;
}

/* Says where its functions are, a pulse's value of it: on a board with an MPU each process has its
 * text elsewhere. */
static int child(int pid, int chid)
{
    const int coid = ConnectAttach(0, pid, chid, _NTO_SIDE_CHANNEL, 0);

    for (unsigned i = 1; i < THREADS; i++) {
        start_thread(calls, NULL, 0);
    }
    if (MsgSendPulse(coid, -1, 1, (int)(uintptr_t)probed_first) != 0) {
        exit(2);
    }
    calls(NULL);
    return 0;
}

static int child_start(const struct link *to, uintptr_t *first)
{
    char pid[16], chid[16];
    struct _pulse pulse;

    snprintf(pid, sizeof(pid), "%d", self_pid());
    snprintf(chid, sizeof(chid), "%d", to->chid);
    const int made = spawn("t_probed", 0, PRIORITY - 1, "child", pid, chid);
    EXPECT(made > 0);
    EXPECT_EQ(MsgReceivePulse(to->chid, &pulse, sizeof(pulse), NULL), 0);
    *first = (uintptr_t)probed_first - (uint32_t)(uintptr_t)probed_first;
    *first += (uint32_t)pulse.value.sival_int;
    return made;
}

/* ---- its probes -------------------------------------------------------------------- */

static void put_place(struct kymo_d_user_place *to, unsigned i, uintptr_t first)
{
    const uintptr_t clear = sizeof(void *) == 4; /* bit 0 of a function's address: Thumb */
    const uintptr_t own = ((uintptr_t)places[i].function & ~clear) + places[i].offset;

    *to = (struct kymo_d_user_place){.address = own - (uintptr_t)probed_first + first,
                                     .offset = places[i].offset,
                                     .size = sizeof(*to) + 32,
                                     .bytes = places[i].bytes,
                                     .kind = places[i].kind};
    memcpy(&to->insn, (const void *)own, to->bytes < 4 ? to->bytes : 4);
    snprintf(to->strings, 32, "%s%c%s", places[i].name, 0, places[i].probe);
    if (to->bytes > 4) {
        const size_t names = strlen(places[i].name) + strlen(places[i].probe) + 2;
        memcpy(to->strings + names, (const char *)own + 4, to->bytes - 4u);
    }
}

/* Asks for all places; the process may end meanwhile. Returns how many were made. */
static unsigned make_probes(int pid, uintptr_t first)
{
    const size_t size = sizeof(struct kymo_d_user_place) + 32;
    const struct kymo_d_user head = {.pid = pid, .count = COUNT(places)};
    struct kymo_d_call call = {0};

    memset(d_in, 0, sizeof(head) + COUNT(places) * size);
    memcpy(d_in, &head, sizeof(head));
    for (unsigned i = 0; i < COUNT(places); i++) {
        put_place((void *)((char *)d_in + sizeof(head) + i * size), i, first);
    }
    if (d_call(&call, KYMO_D_USER, sizeof(head) + COUNT(places) * size,
               sizeof(struct kymo_d_user_made)) != 0) {
        EXPECT_EQ(errno, ESRCH);
        return 0;
    }
    const struct kymo_d_user_made *made = (const void *)d_out;
    EXPECT_EQ(made->made + made->refused, COUNT(places));
    if (made->refused) { /* it has ended in between */
        EXPECT(made->why == -EFAULT || made->why == -ESRCH);
    }
    return made->made;
}

/* ---- kills ------------------------------------------------------------------------- */

static int victim;

static void *kills_later(void *unused)
{
    sleep_at_most(MS);
    EXPECT_EQ(SignalKill(0, victim, 0, KYMO_SIGKILL, 0, 0), 0);
    return unused;
}

/* What a consumer does, with the kill at any moment of it: by a thread of higher priority, which
 * interrupts this one, or that on another CPU. */
static void probe_and_kill(int pid, uintptr_t first)
{
    victim = pid;
    const int killer = start_thread(kills_later, NULL, PRIORITY + 1);
    const unsigned made = make_probes(pid, first);
    uint32_t handle = dt_try("probed.dif"); /* without a match if none was made */
    if (!handle) {
        EXPECT_EQ(made, 0);
        join(killer);
        return;
    }
    for (unsigned n = 1 + below(4); n > 0; n--) {
        struct kymo_d_call call = {.handle = handle};
        d_call(&call, n % 2 ? KYMO_D_GO : KYMO_D_STOP, 0, 0); /* GO is good once */
        sleep_at_most(MS / 2);
    }
    if (below(2)) {
        join(killer);
        fired += d_count_of(handle, 1);
        d_do(handle, KYMO_D_DESTROY);
    } else {
        fired += d_count_of(handle, 1);
        d_do(handle, KYMO_D_DESTROY);
        join(killer);
    }
}

static void kill_one(const struct link *to)
{
    uintptr_t first;
    int status = 0;
    const int pid = child_start(to, &first);

    sleep_at_most(MS / 4);
    probe_and_kill(pid, first);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    EXPECT_EQ(KYMO_STATUS_SIGNAL(status), KYMO_SIGKILL);
}

static void t_killed(void)
{
    struct link to = make_link(0);

    for (unsigned i = 0; i < 40; i++) { /* what is made once and stays: groups, names, tables */
        kill_one(&to);
    }
    struct world before = d_world();
    for (unsigned i = 0; i < kills && check_failure()[0] == '\0'; i++) {
        kill_one(&to);
        if (kills > 1000 && i % 1000 == 999) {
            printf("t_probed: %u killed, %lu firings\n", i + 1, (unsigned long)fired);
            fflush(stdout);
        }
    }
    d_world_is(&before);
    EXPECT(fired > kills);
    drop_link(&to);
}

static const struct check table[] = {
    {"killed while probed", t_killed},
};

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "child") == 0) {
        return child(atoi(argv[2]), atoi(argv[3]));
    }
    state = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
    kills = argc > 2 ? (unsigned)atoi(argv[2]) : kills;
    hosts_time = state == 0;
    if (hosts_time) {
        state = now_ns();
    }
    printf("t_probed: seed %lu\n", (unsigned long)state);
    return check_run("probed", table, COUNT(table));
}
