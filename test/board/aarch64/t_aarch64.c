/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AArch64: FP registers and TPIDR_EL0 belong to threads. More threads than CPUs, of two processes,
 * hold different values in all of them while they yield, are preempted and move between CPUs; a
 * thread that has never used FP sees zeros, whoever had the CPU before; after a kernel call no
 * register shows anything of the kernel's. `t_aarch64 child NAME` is the other process.
 */
#include "test/board/programs/check.h"

#define CALL_NOP 0
#define CALL_YIELD 90
#define THREADS 10
#define ROUND_MS 300

unsigned fp_hold(const void *values, unsigned number);
unsigned fp_not_zero(void);
unsigned tls_kept(uintptr_t value, unsigned number);
unsigned kernel_addresses(unsigned number);

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state;
}

/* How often a register had another value than this thread gave it. */
static unsigned rounds(uint32_t seed)
{
    uint64_t end = now_ns() + ROUND_MS * MS;
    uint32_t values[128];
    unsigned wrong = 0;

    while (now_ns() < end) {
        for (unsigned i = 0; i < COUNT(values); i++) {
            values[i] = next(&seed);
        }
        wrong += fp_hold(values, seed % 3 ? CALL_YIELD : CALL_NOP);
        wrong += tls_kept(((uintptr_t)next(&seed) << 32) | seed, CALL_YIELD);
        if (seed % 16 == 0) {
            sleep_ms(1);
        }
    }
    return wrong;
}

static void *rounds_thread(void *seed)
{
    unsigned fresh = fp_not_zero();

    return (void *)(uintptr_t)(fresh + rounds((uint32_t)(uintptr_t)seed));
}

static unsigned all_rounds(uint32_t seed)
{
    int tids[THREADS];
    void *wrong = NULL;
    unsigned sum = 0;

    for (unsigned i = 0; i < THREADS; i++) {
        tids[i] = start_thread(rounds_thread, (void *)(uintptr_t)(seed + i), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        EXPECT_EQ(ThreadJoin(tids[i], &wrong), 0);
        sum += (unsigned)(uintptr_t)wrong;
    }
    return sum;
}

static void t_registers(void)
{
    int pid = spawn("t_aarch64", 0, 0, "child", "rounds", NULL), status = -1;

    EXPECT(pid > 0);
    EXPECT_EQ(all_rounds(1000), 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
}

/* Processes that begin where others have just used FP. */
static void t_fresh(void)
{
    uint32_t ones[128];
    int status = -1;

    memset(ones, 0xff, sizeof(ones));
    for (int i = 0; i < 20; i++) {
        fp_hold(ones, CALL_NOP);
        int pid = spawn("t_aarch64", 0, 0, "child", "fresh", NULL);
        EXPECT(pid > 0);
        EXPECT_EQ(ProcWait(pid, &status, 0), pid);
        EXPECT_EQ(status, 0);
    }
}

static void t_nothing_leaks(void)
{
    for (unsigned i = 0; i < 200; i++) {
        EXPECT_EQ(kernel_addresses(i % 2 ? CALL_NOP : CALL_YIELD), 0);
    }
    sleep_ms(1);
    EXPECT_EQ(kernel_addresses(127), 0); /* there is no such call */
}

static const struct check table[] = {
    {"registers belong to threads", t_registers},
    {"a new thread's are zero", t_fresh},
    {"nothing of the kernel's shows", t_nothing_leaks},
};

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "child") == 0) {
        unsigned wrong = strcmp(argv[2], "fresh") == 0 ? fp_not_zero() : rounds(77);
        return wrong ? 1 : 0;
    }
    return check_run("aarch64", table, COUNT(table));
}
