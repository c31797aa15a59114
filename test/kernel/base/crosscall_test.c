/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cross-calls (kernel/base/cpu.c) between CPUs that are threads, under a race detector: each CPU
 * records numbers into D's buffer of its own, takes the buffers of the others under the kernel
 * lock, and has all CPUs visited, while they do the same, spin for the lock, or do nothing. Every
 * number is taken once, in order; a visit comes to each CPU once; and nothing that one CPU does for
 * another is unordered with what that one does itself. Whoever waits for ever is found by the
 * suite's time.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* after these: */
#include <cmocka.h>

#include "kernel/base/cpu.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"
#include "trace/dtrace/buffer.h"

#define TURNS 20000
#define HALF 512 /* bytes: it overflows now and then */

_Thread_local struct cpu *thread_cpu;
uint64_t fake_cycles;

static struct side {
    struct dtrace_buffer buffer; /* [c] */
    uint64_t halves[2][HALF / 8];
    uint64_t recorded, missed; /* [c] */
    uint64_t visits;           /* [c] */
    uint64_t taken, drops;     /* [k] */
} sides[CONFIG_CPUS];
static uint64_t visited; /* [k] how often all CPUs were */
static uint32_t ready;   /* [a] CPUs that have done their turns */
static uint32_t wrong;   /* [a] */

/* A CPU looks for itself, between any two things that it does. */
void arch_ipi(uint32_t which)
{
    (void)which;
}

void arch_irq_window(void)
{
}

static void expect(bool good)
{
    __atomic_fetch_or(&wrong, !good, __ATOMIC_RELAXED);
}

static void record(struct side *own)
{
    static const struct dtrace_shapes none;
    uint8_t *to = dtrace_buffer_reserve(&own->buffer, &none, 8, 8, false);

    if (to) {
        own->recorded++;
        *(uint64_t *)(void *)to = own->recorded;
        dtrace_buffer_commit(&own->buffer, to, 8);
    } else {
        own->missed++;
    }
}

struct taking {
    const uint8_t *read;
    size_t size;
};

static void take_here(void *arg)
{
    struct taking *t = arg;
    struct side *own = &sides[arch_cpu()->id];

    arch_spin_hint();
    t->read = dtrace_buffer_swap(&own->buffer, &t->size);
    own->buffer.drops = 0;
}

/* Kernel lock held. */
static void take_from(unsigned cpu)
{
    struct taking t = {NULL, 0};

    cpu_run_on(1u << cpu, take_here, &t);
    const uint64_t *number = (const void *)t.read;
    for (size_t i = 0; i < t.size / 8; i++) {
        sides[cpu].taken++;
        expect(number[i] == sides[cpu].taken);
    }
}

static void visit_here(void *arg)
{
    arch_spin_hint();
    sides[arch_cpu()->id].visits++;
    expect(arg == &visited);
}

/* Kernel lock held. All have been visited equally often, whoever asked. */
static void visit_all(void)
{
    cpu_run_on_all(visit_here, &visited);
    visited++;
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        expect(sides[n].visits == visited);
    }
}

static void turn(struct side *own, uint32_t random)
{
    cpu_ipi();
    record(own);
    if (random % 16 == 0) {
        kernel_lock();
        take_from(random / 16 % CONFIG_CPUS);
        kernel_unlock();
    } else if (random % 64 == 1) {
        kernel_lock();
        visit_all();
        kernel_unlock();
    }
}

static void *cpu_main(void *arg)
{
    struct side *own = arg;
    uint32_t random = (uint32_t)(own - sides) + 1;

    thread_cpu = &cpus[own - sides];
    for (unsigned i = 0; i < TURNS; i++) {
        random = random * 1664525u + 1013904223u;
        turn(own, random >> 8);
    }
    __atomic_fetch_add(&ready, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) != CONFIG_CPUS) { /* an idle one */
        cpu_ipi();
        arch_spin_hint();
    }
    return NULL;
}

static void begin(void)
{
    cpus_online = (1u << CONFIG_CPUS) - 1;
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        cpus[n].id = n;
        cpus[n].bit = 1u << n;
        sides[n].buffer = (struct dtrace_buffer){.active = (uint8_t *)sides[n].halves[0],
                                                 .spare = (uint8_t *)sides[n].halves[1],
                                                 .size = HALF,
                                                 .policy = DTRACE_POLICY_SWITCH};
    }
}

static void all_is_ordered_and_once(void **state)
{
    pthread_t threads[CONFIG_CPUS];
    uint64_t sum = 0;

    (void)state;
    begin();
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        assert_int_equal(pthread_create(&threads[n], NULL, cpu_main, &sides[n]), 0);
    }
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        pthread_join(threads[n], NULL);
    }
    assert_int_equal(wrong, 0);
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        const struct side *s = &sides[n];
        assert_int_equal(s->recorded + s->missed, TURNS);
        assert_int_equal(s->taken + s->buffer.offset / 8, s->recorded);
        sum += s->taken;
    }
    assert_true(sum > TURNS && visited > TURNS / 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_is_ordered_and_once)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
