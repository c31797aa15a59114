/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What test/board/pid.py probes: `stepper ROUNDS [THREADS [PAUSE]]` calls functions with known
 * arguments and known results in each thread, and prints the sum of all, and a sum of the program's
 * text as it is at the end. PAUSE: milliseconds between two rounds. `stepper fault` faults at a
 * function's first instruction, `stepper registers TURNS` after a loop while all registers that a
 * function keeps are known. `stepper drops` moves the stack pointer from a block of memory into
 * the next one, which is read-only, and says whether that has changed.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/include/kymo.h"
#include "test/board/programs/check.h"

enum { THREADS_MOST = 8 };

/* stepper_$(ARCH).S */
unsigned long step_branches(unsigned long n);
unsigned long step_moved(unsigned long n);
unsigned long step_atomic(unsigned long *at);
unsigned long step_registers(unsigned long turns, const unsigned long *at);
unsigned long step_faults(const unsigned long *at);
/* Cortex-M only */
unsigned long step_blocks(unsigned long n);
unsigned long step_drops(unsigned long n, char *at);

extern const char _start[], __preinit_array_start[]; /* ldscripts/user.ld: code and constants */

static unsigned long rounds, pause_ms;
static unsigned long sums[THREADS_MOST];
static unsigned long shared;
volatile unsigned long step_sink;

__attribute__((noinline)) long step_known(long a, int b, long c, long d, long e)
{
    __asm__ volatile("" ::: "memory");
    return a + 2 * b + 3 * c + 4 * d + 5 * e;
}

__attribute__((noinline)) long step_tail(long a)
{
    step_sink++;
    return step_known(a, 1, 2, 3, 4);
}

__attribute__((noinline)) long step_switch(unsigned long n)
{
    switch (n) {
    case 0:
        return 17;
    case 1:
        step_sink = 1;
        return step_known(1, 1, 1, 1, 1);
    case 2:
        step_sink += 2;
        return 3;
    case 3:
        return (long)step_sink & 0;
    case 4:
        step_sink ^= 5;
        return 8;
    case 5:
        return step_known(3, 3, 3, 3, 3) + 1;
    default:
        return -1;
    }
}

__attribute__((noinline)) unsigned long step_recurses(unsigned long n)
{
    __asm__ volatile("" ::: "memory");
    return n < 2 ? 1 : step_recurses(n - 1) + n;
}

/* A tail call on every CPU: all of its arguments are in registers. */
__attribute__((noinline)) unsigned long step_jumps(unsigned long n)
{
    step_sink++;
    return step_recurses(n + 5);
}

__attribute__((noinline)) double step_float(double a, double b)
{
    return a * b + a / (b + 1.0);
}

static long step_one(long (*function)(long), long n)
{
    return function(n);
}

static unsigned long round_of(unsigned long n)
{
    unsigned long sum = 0;
    char *block = malloc(24 + n % 64);

    sum += (unsigned long)step_known((long)n, 2, 3, 4, 5);
    sum = sum * 31 + (unsigned long)step_tail((long)n);
    sum = sum * 31 + (unsigned long)step_switch(n % 8);
    sum = sum * 31 + step_recurses(n % 6);
    sum = sum * 31 + (unsigned long)(step_float((double)n, 3.0) * 16.0);
    sum = sum * 31 + (unsigned long)step_one(step_tail, (long)n + 1);
    sum = sum * 31 + step_jumps(n % 3);
    sum = sum * 31 + step_branches(n % 5);
    sum = sum * 31 + step_moved(n);
    sum = sum * 31 + step_registers(n % 3, &rounds);
    step_atomic(&shared);
#if defined(__ARM_ARCH_7EM__)
    sum = sum * 31 + step_blocks(n % 6);
#endif
    if (block) {
        snprintf(block, 24, "%lx", n);
        sum = sum * 31 + strlen(block);
    }
    free(block);
    return sum;
}

static void *works(void *arg)
{
    unsigned long sum = 0;

    for (unsigned long n = 0; n < rounds; n++) {
        sum = sum * 7 + round_of(n);
        if (pause_ms) {
            sleep_ms((unsigned)pause_ms);
        }
    }
    *(unsigned long *)arg = sum;
    return NULL;
}

static unsigned long text_sum(void)
{
    const uint32_t *at = (const uint32_t *)((uintptr_t)_start & ~(uintptr_t)3);
    unsigned long sum = 0;

    for (; (uintptr_t)at < ((uintptr_t)__preinit_array_start & ~(uintptr_t)3); at++) {
        sum = sum * 33 + *at;
    }
    return sum;
}

#if defined(__ARM_ARCH_7EM__)
static int drops(void)
{
    enum { BYTES = 4096, MOST = 4 };
    char *next = NULL, *before;
    unsigned n = 0, changed = 0;

    do {
        before = next;
        next = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    } while (next != before + BYTES && ++n < MOST);
    if (n == MOST || MemProtect(next, BYTES, PROT_READ) != 0) {
        printf("drops: no two blocks side by side\n");
        return 3;
    }
    step_drops(1, next - 8);
    for (unsigned i = 0; i < BYTES; i++) {
        changed += next[i] != 0;
    }
    printf("drops: %u bytes changed\n", changed);
    return 0;
}
#endif

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MOST];
    unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 0) : 1, sum = 0;

    if (argc > 1 && strcmp(argv[1], "fault") == 0) {
        return (int)step_faults(NULL);
    }
    if (argc > 2 && strcmp(argv[1], "registers") == 0) {
        return (int)step_registers(strtoul(argv[2], NULL, 0), NULL);
    }
#if defined(__ARM_ARCH_7EM__)
    if (argc > 1 && strcmp(argv[1], "drops") == 0) {
        return drops();
    }
#endif
    rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
    pause_ms = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
    n = n < 1 ? 1 : n > THREADS_MOST ? THREADS_MOST : n;
    for (unsigned long i = 0; i < n; i++) {
        if (pthread_create(&threads[i], NULL, works, &sums[i]) != 0) {
            return 3;
        }
    }
    for (unsigned long i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        sum = sum * 3 + sums[i];
    }
    printf("stepper %lu %lu: sum %lx, atomic %lu, text %lx\n", rounds, n, sum, shared, text_sum());
    return 0;
}
