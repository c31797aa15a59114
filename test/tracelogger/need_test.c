/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The -k that is advised is enough and not far too large: a model of CPUs that close buffers in
 * bursts, with pauses from none to long ones, and of one logger that carries them. Of a run that
 * lost some, need.c's number must lose none in the same run, and be at most about twice the
 * least number that loses none. SEED=s replays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tracelogger/need.h"

#define ROUNDS 150
#define CLOSED_MOST 3000
#define CPUS 3
#define COST 1000 /* cycles to carry one buffer, at least */

struct closed {
    uint64_t time;
    uint32_t cpu;
};

struct run {
    uint64_t random;
    unsigned cpus, count;
    struct closed closed[CLOSED_MOST]; /* by time */
};

/* READY buffers of one CPU: sequences first to last. */
struct ready {
    uint32_t first, last, busy;
    uint32_t lost;               /* overwritten */
    uint32_t tells[CLOSED_MOST]; /* by sequence: how many its DROPPED slot counts */
};

static struct ready ready[CPUS];

static uint64_t below(uint64_t *random, uint64_t most)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (*random >> 33) % most;
}

static void run_make(struct run *run, uint64_t seed)
{
    uint64_t time = 10000;

    run->random = seed * 77 + 5;
    run->cpus = 1 + (unsigned)below(&run->random, CPUS);
    run->count = 0;
    unsigned bursts = 1 + (unsigned)below(&run->random, 20);
    uint64_t pause = COST * (1 + below(&run->random, 200));
    for (unsigned i = 0; i < bursts; i++) {
        unsigned length = 1 + (unsigned)below(&run->random, CLOSED_MOST / 20);
        uint64_t gap = 1 + below(&run->random, COST);

        for (unsigned n = 0; n < length && run->count < CLOSED_MOST; n++) {
            time += 1 + below(&run->random, 2 * gap);
            run->closed[run->count++] =
                (struct closed){time, (uint32_t)below(&run->random, run->cpus)};
        }
        time += below(&run->random, 2 * pause);
    }
}

static void note(uint32_t cpu, uint32_t sequence)
{
    static struct trace_slot slots[TRACE_BUFFER_SLOTS];
    struct kymo_trace_buffer taken = {cpu, 0, sequence, TRACE_BUFFER_SLOTS};

    for (unsigned i = 2; i < TRACE_BUFFER_SLOTS; i++) {
        slots[i].header = TRACE_HEADER(cpu, TRACE_STRUCT_S, TRACE_CLASS_USER, 1);
    }
    if (ready[cpu].tells[sequence] != 0) {
        slots[2] = (struct trace_slot){
            TRACE_HEADER(cpu, TRACE_STRUCT_S, TRACE_CLASS_CONTROL, TRACE_CONTROL_DROPPED), 0,
            KYMO_DROP_OVERWRITTEN << 8 | TRACE_CLASS_USER, ready[cpu].tells[sequence] * 1000};
    }
    need_note(&taken, slots);
}

/* A buffer is closed, and the next one begun. With no FREE one the oldest READY one makes way: the
 * next one tells of it, and of what that had told. */
static void close_one(struct ready *of, unsigned buffers)
{
    uint32_t told = 0;

    of->last++;
    if (of->last - of->first + 1 + of->busy >= buffers && of->first <= of->last) {
        of->lost++;
        told = 1 + of->tells[of->first++];
    }
    of->tells[of->last + 1] = told;
}

/* How many buffers are lost with so many a CPU. `feed`: need.c hears of it. */
static uint64_t simulate(const struct run *run, unsigned buffers, bool feed)
{
    uint64_t lost = 0, done = 0, random = run->random;
    uint32_t busy = CPUS, turn = 0;
    bool timed = false; /* as carry.c does */

    memset(ready, 0, sizeof(ready));
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        ready[cpu].first = 1;
    }
    for (unsigned i = 0; i < run->count || busy < CPUS;) {
        if (busy < CPUS && (i == run->count || done <= run->closed[i].time)) { /* carried */
            uint64_t now = done;

            ready[busy].busy = 0;
            busy = CPUS;
            if (feed && timed) {
                need_carried(now, 1);
            }
        } else {
            close_one(&ready[run->closed[i].cpu], buffers);
            done = busy == CPUS ? run->closed[i].time : done;
            i++;
        }
        for (unsigned n = 0; busy == CPUS && n < CPUS; n++) {
            struct ready *from = &ready[++turn % CPUS];

            if (from->first > from->last) {
                continue;
            }
            busy = turn % CPUS;
            from->busy = 1;
            timed = need_is_open();
            if (feed && timed) {
                need_busy(done);
            }
            if (feed) {
                note(busy, from->first);
            }
            from->first++;
            done += COST + below(&random, COST / 2);
        }
        if (busy == CPUS && feed && need_is_open()) {
            need_idle(done);
        }
    }
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        lost += ready[cpu].lost;
    }
    return lost;
}

/* As report.c has it. */
static unsigned advised(const struct run *run, unsigned had)
{
    uint64_t most = 0;

    for (uint32_t cpu = 0; cpu < run->cpus; cpu++) {
        struct kymo_trace_loss loss = {.buffers_overwritten = ready[cpu].lost};

        loss.lost_reason[KYMO_DROP_OVERWRITTEN] = ready[cpu].lost;
        uint64_t slots = need_slots(cpu, &loss, 1, 1);

        most = slots > most ? slots : most;
    }
    most = (most / TRACE_BUFFER_SLOTS + had) * 5;
    return (unsigned)(most + 3) / 4 + 1;
}

struct result {
    uint64_t lost;
    unsigned advice, had;
};

static void one(struct run *run, uint64_t seed, struct result *result)
{
    run_make(run, seed);
    result->had = 3 + (unsigned)(seed % 7);
    pid_t child = fork();
    if (child == 0) {
        result->lost = simulate(run, result->had, true);
        result->advice = advised(run, result->had);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static unsigned least(const struct run *run)
{
    unsigned low = 1, high = CLOSED_MOST + 2; /* loses, does not */

    while (high - low > 1) {
        unsigned middle = (low + high) / 2;

        if (simulate(run, middle, false) == 0) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

static void test_advice(void **state)
{
    struct result *result =
        mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const char *text = getenv("SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)getpid() * 1000;
    static struct run run;
    unsigned lossy = 0, paused = 0, large = 0;

    (void)state;
    printf("SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    for (uint64_t end = seed + ROUNDS; seed < end; seed++) {
        one(&run, seed, result);
        if (result->lost == 0) {
            continue;
        }
        unsigned enough = least(&run);
        if (simulate(&run, result->advice, false) != 0 || result->advice > 3 * enough + 4) {
            fail_msg("-k %u is advised, %u were needed, %u there: SEED=%llu", result->advice,
                     enough, result->had, (unsigned long long)seed);
        }
        lossy++;
        large += result->advice > 2 * enough + 4;
        paused += result->lost + result->had > 3 * (uint64_t)enough; /* the sum is far too large */
    }
    printf("%u lost some, %u of them in several bursts, %u with more than twice as many advised\n",
           lossy, paused, large);
    assert_true(large <= lossy / 10);
    assert_true(lossy > ROUNDS / 3 && paused > ROUNDS / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_advice)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
