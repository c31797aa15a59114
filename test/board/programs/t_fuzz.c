/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random kernel calls from a child that may do most things: whatever becomes of the child, the
 * kernel lives, and the machine's account of memory and threads is the same afterwards.
 * `t_fuzz child SEED` is the child. The seeds are fixed, so a run under icount repeats exactly.
 */
#include "test/board/programs/check.h"

#include <stdio.h>
#include <stdlib.h>

#define CHILDREN 12
#define CALLS 3000

#define KERCALL(number, ...) number,
static const uint8_t numbers[] = {
#include "abi/kercalls.def"
};

static uint64_t state;
static uint32_t random32(void)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 32);
}

static union {
    uint64_t align;
    uint8_t bytes[4096];
} area;

static uintptr_t random_value(void)
{
    static const uintptr_t telling[] = {0,
                                        1,
                                        2,
                                        3,
                                        4,
                                        8,
                                        16,
                                        64,
                                        255,
                                        0x7fffffff,
                                        (uintptr_t)-1,
                                        (uintptr_t)-16,
                                        0x40000000,
                                        0x40000001,
                                        0x80000000u};

    switch (random32() % 8) {
    case 0:
    case 1:
    case 2:
        return (uintptr_t)&area.bytes[random32() % sizeof(area) & ~7u];
    case 3:
        return (uintptr_t)&area.bytes[random32() % sizeof(area)];
    case 4:
        return random32() % 32;
    case 5:
        return random32();
    default:
        return telling[random32() % COUNT(telling)];
    }
}

/* Calls whose success ends the test rather than testing: they come rarely. */
static bool rare(unsigned number)
{
    return number == 101 || number == 47 || number == 51; /* PROC_EXIT, THREAD_DESTROY, _CANCEL */
}

static int child(unsigned seed)
{
    state = seed * 0x9e3779b97f4a7c15ull;
    for (unsigned n = 0; n < CALLS; n++) {
        unsigned number = numbers[random32() % sizeof(numbers)];
        uintptr_t args[6];
        uint64_t ns = MS / 4;

        for (unsigned i = 0; i < 6; i++) {
            args[i] = random_value();
        }
        for (unsigned i = 0; i < 32; i++) {
            area.bytes[random32() % sizeof(area)] = (uint8_t)random32();
        }
        if (rare(number) && random32() % 64 != 0) {
            continue;
        }
        TimerTimeout(CLOCK_MONOTONIC, ~_NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);
        raw_call(number == 116 ? 0 : number, args); /* CONSOLE_WRITE would only make noise */
    }
    return 0;
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

/* Waits for the child; one that managed to block for good is ended after a while. */
static void finish(int pid)
{
    int status, ended = 0;

    for (int i = 0; i < 2000 && ended == 0; i++) {
        ended = ProcWait(pid, &status, KYMO_WAIT_NOHANG);
        if (ended == 0) {
            sleep_ms(5);
        }
    }
    if (ended == 0) {
        EXPECT_EQ(SignalKill(0, pid, 0, KYMO_SIGKILL, 0, 0), 0);
        ended = ProcWait(pid, &status, 0);
    }
    EXPECT_EQ(ended, pid);
}

/* What the children have made stays; whoever is as able may remove it. */
static void unlink_objects(void)
{
    struct kymo_object_info info;

    while (ObjectInfo(KYMO_OBJECT_AT, &info) >= 0) {
        EXPECT_EQ(info.opens, 0);
        EXPECT_EQ(info.maps, 0);
        if (ObjectUnlink(info.name) < 0) {
            check_fail(info.name, 0, "can't be unlinked: errno %d", errno);
            return;
        }
    }
}

static unsigned first_seed;
static void t_children(void)
{
    uint64_t before = account();

    for (unsigned i = 0; i < CHILDREN; i++) {
        char seed[12];
        int pid;

        snprintf(seed, sizeof(seed), "%u", first_seed + i);
        /* All but shutting down, spawning, killing others, and taking the trace away. */
        pid = spawn("t_fuzz", ABILITY_DEVICE | ABILITY_INTERRUPT | ABILITY_CLOCK | ABILITY_MEMORY,
                    9, "child", seed, NULL);
        EXPECT(pid > 0);
        finish(pid);
    }
    sleep_ms(5);
    unlink_objects();
    EXPECT_EQ(account(), before);
}

int main(int argc, char **argv)
{
    static const struct check table[] = {{"random calls", t_children}};

    if (argc >= 3 && strcmp(argv[1], "child") == 0) {
        return child((unsigned)strtoul(argv[2], NULL, 10));
    }
    first_seed = argc >= 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    return check_run("fuzz", table, COUNT(table));
}
