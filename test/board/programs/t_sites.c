/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace site that was switched is so on every CPU when the call that did it returns, whatever the
 * others execute meanwhile. They make calls without end, through the site that D's probe is put on
 * and taken off; of the calls that D counts, each CPU makes one while the probe is on.
 *
 * Without the second writing in kernel/observe/trace_port.c QEMU 7.2 fails it in about one round of
 * four: then no CPU counts anything, though the branch is in the text.
 */
#include "test/board/programs/dcalls.h"

#define ROUNDS 30
#define CPUS 8
#define PAUSE 200000 /* turns in which the others get to the site, and this CPU doesn't */
enum { NOP = 0, CLOCK_CYCLES_ = 117 };

static volatile uint32_t due;        /* the round whose nop is due */
static volatile uint32_t done[CPUS]; /* and made */
static volatile bool over;

static void nop(void)
{
    const uintptr_t args[6] = {0};

    raw_call(NOP, args);
}

static void *caller(void *arg)
{
    unsigned cpu = (unsigned)(uintptr_t)arg;
    uint64_t cycles;
    const uintptr_t args[6] = {(uintptr_t)&cycles};

    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)(uintptr_t)(1u << cpu));
    while (!over) {
        uint32_t round = due;
        if (done[cpu] != round) {
            nop();
            __atomic_store_n(&done[cpu], round, __ATOMIC_RELEASE);
        }
        raw_call(CLOCK_CYCLES_, args); /* needs no lock */
    }
    return NULL;
}

static void all_call(uint32_t round)
{
    nop();
    due = round;
    for (unsigned cpu = cpu_after(0); cpu < cpu_end(); cpu = cpu_after(cpu)) {
        while (__atomic_load_n(&done[cpu], __ATOMIC_ACQUIRE) != round) {
        }
    }
}

static uint64_t counted(uint32_t round)
{
    uint32_t handle = d_create("faults_nops.dif");

    d_do(handle, KYMO_D_GO);
    for (volatile unsigned i = 0; i < PAUSE; i++) {
    }
    all_call(round);
    d_do(handle, KYMO_D_STOP);
    uint64_t n = d_count_of(handle, 1);
    d_do(handle, KYMO_D_DESTROY);
    return n;
}

static void t_every_cpu(void)
{
    int tids[CPUS];

    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)1);
    for (unsigned cpu = cpu_after(0); cpu < cpu_end(); cpu = cpu_after(cpu)) {
        tids[cpu] = start_thread(caller, (void *)(uintptr_t)cpu, 0);
    }
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        uint64_t n = counted(round);
        if (n != cpu_count()) {
            say("sites: round %u: %u of %u", (unsigned)round, (unsigned)n, cpu_count());
        }
        EXPECT_EQ(n, cpu_count());
    }
    over = true;
    for (unsigned cpu = cpu_after(0); cpu < cpu_end(); cpu = cpu_after(cpu)) {
        join(tids[cpu]);
    }
}

static const struct check table[] = {
    {"switched on every CPU", t_every_cpu},
};

int main(void)
{
    return check_run("sites", table, COUNT(table));
}
