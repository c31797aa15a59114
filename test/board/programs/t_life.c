/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Consumers come and go: a thousand in a row, each living as chance has it; eight processes at
 * once, killed at any moment of whatever they do with theirs; and such as fall silent. In the end
 * memory, kernel text and what processes own are exactly as before, and there is room for as many
 * consumers. `t_life [SEED [LIVES [KILLED]]]`; `t_life child SEED` is one of the eight. Under
 * icount a seed repeats a run. Its D programs are test/board/life and test/board/d/all.d.
 */
#include "test/board/programs/dcalls.h"

#include <stdio.h>
#include <stdlib.h>

#define AT_ONCE 8
#define KEPT 3 /* consumers that a child may have */

static const char *const programs[] = {
    "life_calls.dif", "life_vars.dif", "life_faults.dif", "life_ticks.dif",
    "life_fbt.dif",   "life_exit.dif", "all.dif",
};
static uint64_t state = 1;
static unsigned lives = 1000, killed = 40;
static bool hosts_time; /* seed 0: real threads, which the host runs when it likes */

static uint32_t below(uint32_t n)
{
    return d_random(&state) % n;
}

static void sleep_at_most(uint64_t most)
{
    uint64_t ns = below((uint32_t)most);

    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);
}

/* What one may ask of a consumer in any state: done, or EINVAL, where the state doesn't
 * allow it. */
static void ask(uint32_t handle)
{
    static const uint8_t commands[] = {KYMO_D_OVER,   KYMO_D_STATUS,      KYMO_D_STATUS,
                                       KYMO_D_BUFFER, KYMO_D_AGGREGATION, KYMO_D_EPID,
                                       KYMO_D_SIZES,  KYMO_D_STOP,        KYMO_D_GO};
    unsigned command = commands[below(COUNT(commands))];
    struct kymo_d_call call = {.handle = handle};
    int r;

    call.cpu = command == KYMO_D_BUFFER || command == KYMO_D_AGGREGATION ? below(cpu_end()) : 0;
    call.id = command == KYMO_D_EPID;
    r = d_call(&call, command, 0, sizeof(d_out));
    if (r != 0 && errno != EINVAL) {
        check_fail("ask", (int)command, "errno %d", errno);
    }
}

static void some_time(uint32_t handle)
{
    for (unsigned n = below(5); n > 0; n--) {
        switch (below(4)) {
        case 0:
            sleep_at_most(MS);
            break;
        case 1:
            SchedYield();
            break;
        default:
            ask(handle);
        }
    }
}

static uint32_t born(void)
{
    uint32_t handle = dt_try(programs[below(COUNT(programs))]);
    struct kymo_d_call call = {.handle = handle};

    if (!handle) {
        EXPECT(errno == EAGAIN || errno == ENOMEM);
    } else if (below(8) != 0 && d_call(&call, KYMO_D_GO, 0, 0) != 0) {
        EXPECT_EQ(errno, ENOMEM);
    }
    return handle;
}

/* ---- in a row ---------------------------------------------------------------------- */

/* What is made once and stays: probes of rates and functions that nobody has named before. */
static void each_once(void)
{
    for (unsigned i = 0; i < COUNT(programs); i++) {
        uint32_t handle = d_create(programs[i]);
        d_do(handle, KYMO_D_GO);
        d_do(handle, KYMO_D_DESTROY);
    }
}

static void t_in_a_row(void)
{
    each_once();
    struct world before = d_world();
    for (unsigned i = 0; i < lives; i++) {
        uint32_t handle = born();
        EXPECT(handle != 0);
        some_time(handle);
        d_do(handle, KYMO_D_DESTROY);
    }
    d_world_is(&before);
}

/* ---- killed ------------------------------------------------------------------------ */

static int child(void)
{
    uint32_t handles[KEPT] = {0};

    for (;;) {
        uint32_t *handle = &handles[below(KEPT)];
        if (!*handle) {
            *handle = born();
        } else if (below(4) == 0) {
            d_do(*handle, KYMO_D_DESTROY);
            *handle = 0;
        } else {
            some_time(*handle);
        }
    }
    return 0;
}

static int child_start(void)
{
    char seed[16];

    snprintf(seed, sizeof(seed), "%lu", (unsigned long)d_random(&state));
    return spawn("t_life", ABILITY_TRACE | ABILITY_DTRACE_KERNEL, 9, "child", seed, NULL);
}

static void child_end(int pid)
{
    int status = 0;

    EXPECT_EQ(SignalKill(0, pid, 0, KYMO_SIGKILL, 0, 0), 0); /* it has not ended itself */
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
}

static void t_killed(void)
{
    int pids[AT_ONCE];

    each_once();
    struct world before = d_world();
    for (unsigned i = 0; i < AT_ONCE; i++) {
        pids[i] = child_start();
        EXPECT(pids[i] > 0);
    }
    for (unsigned n = 0; n < killed; n++) {
        unsigned i = below(AT_ONCE);
        sleep_at_most(4 * MS);
        child_end(pids[i]);
        pids[i] = child_start();
        EXPECT(pids[i] > 0);
    }
    for (unsigned i = 0; i < AT_ONCE; i++) {
        child_end(pids[i]);
    }
    d_world_is(&before);
}

/* ---- silent ------------------------------------------------------------------------ */

/* After 10 s without a word it is ended, its memory free, and its sites are off; one that says
 * something goes on. One that has not begun yet is not waited for. */
static void t_silent(void)
{
    each_once();
    struct world before = d_world();
    uint32_t silent = d_create("all.dif"), talks = d_create("life_calls.dif");
    uint32_t waits = d_create("life_ticks.dif");
    struct kymo_d_call call = {.handle = silent};

    d_do(silent, KYMO_D_GO);
    d_do(talks, KYMO_D_GO);
    for (unsigned i = 0; i < 12; i++) {
        sleep_ms(1000);
        d_faults(talks, NULL);
        d_do(silent, KYMO_D_OVER); /* not a sign of life */
    }
    EXPECT_ERR(d_call(&call, KYMO_D_STATUS, 0, sizeof(d_out)), KYMO_D_ESHUTDOWN);
    EXPECT_ERR(d_call(&call, KYMO_D_STOP, 0, 0), KYMO_D_ESHUTDOWN);
    d_do(talks, KYMO_D_STOP);
    d_do(talks, KYMO_D_DESTROY);
    d_do(waits, KYMO_D_GO);
    d_do(waits, KYMO_D_DESTROY);
    struct world now = d_world(); /* what is left of the silent one: its answer */
    EXPECT(before.memory - now.memory <= 8192);
    EXPECT(now.text == before.text);
    d_do(silent, KYMO_D_DESTROY);
    d_world_is(&before);
}

/* ---- rates ------------------------------------------------------------------------- */

static uint64_t memory(void)
{
    struct kymo_d_call call = {0};

    EXPECT_EQ(d_call(&call, KYMO_D_INFO, 0, sizeof(struct kymo_d_info)), 0);
    return ((const struct kymo_d_info *)d_out)->memory;
}

static void ask_for_rates(void)
{
    for (unsigned i = 0; i < 1000; i++) {
        struct kymo_d_call call = {0};
        char *in = (char *)d_in;
        size_t n = (size_t)snprintf(in, 32, "profile%c%c%ctick-%ums", 0, 0, 0, 1000 + i);
        EXPECT_EQ(d_call(&call, KYMO_D_PROVIDE, n + 1, 0), 0);
    }
}

/* What somebody asks for stays, so it must have an end; those that are there go on working. */
static void t_rates(void)
{
    uint64_t before = memory();

    ask_for_rates();
    uint64_t then = memory();
    EXPECT(before - then > 4096 && before - then < 256 * 512);
    ask_for_rates();
    EXPECT_EQ(memory(), then);
    uint32_t handle = d_create("life_ticks.dif");
    d_do(handle, KYMO_D_GO);
    d_do(handle, KYMO_D_DESTROY);
    EXPECT_EQ(memory(), then);
}

/* A clause that takes longer than its tick leaves the CPU to others half of the time. On real
 * threads the time that passes is the host's, and says nothing: there the sleeps only have an end.
 */
static void t_slow_ticks(void)
{
    uint32_t handle = d_create("life_slow.dif");

    d_do(handle, KYMO_D_GO);
    uint64_t begin = now_ns();
    for (unsigned i = 0; i < 20; i++) {
        sleep_ms(2);
    }
    EXPECT(hosts_time || now_ns() - begin < 4000 * MS);
    d_do(handle, KYMO_D_DESTROY);
}

static uint64_t dynamic_drops(uint32_t handle)
{
    struct kymo_d_call call = {.handle = handle};

    EXPECT_EQ(d_call(&call, KYMO_D_STATUS, 0, sizeof(d_out)), 0);
    return d_out[4] + d_out[5] + d_out[6];
}

/* While all consumers have stopped nothing is cleaned; one that begins then does not wait
 * for it. */
static void t_beside_a_stopped_one(void)
{
    uint32_t stopped = d_create("life_calls.dif");

    d_do(stopped, KYMO_D_GO);
    d_do(stopped, KYMO_D_STOP);
    sleep_ms(50);
    uint32_t handle = d_create("life_cleans.dif");
    d_do(handle, KYMO_D_GO);
    for (unsigned i = 0; i < 15; i++) {
        d_talk(20);
        sleep_ms(30);
    }
    EXPECT_EQ(dynamic_drops(handle), 0);
    d_do(handle, KYMO_D_DESTROY);
    d_do(stopped, KYMO_D_DESTROY);
}

static const struct check table[] = {
    {"a thousand in a row", t_in_a_row}, {"eight at once, killed", t_killed},
    {"slow ticks", t_slow_ticks},        {"rates without end", t_rates},
    {"silent ones end", t_silent},       {"beside a stopped one", t_beside_a_stopped_one},
};

int main(int argc, char **argv)
{
    bool is_child = argc > 2 && strcmp(argv[1], "child") == 0;

    if (argc > 1) {
        state = strtoull(argv[is_child ? 2 : 1], NULL, 0);
    }
    if (is_child) {
        return child();
    }
    lives = argc > 2 ? (unsigned)atoi(argv[2]) : lives;
    killed = argc > 3 ? (unsigned)atoi(argv[3]) : killed;
    hosts_time = state == 0;
    state = state ? state : ClockCycles();
    say("life: seed %lu", (unsigned long)state);
    return check_run("life", table, COUNT(table) - (lives < 1000));
}
