/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of dynamic variables (trace/dtrace/dynvar.c) with CPUs that are threads, under a race
 * detector: all of them make, find and free the same few variables of an associative array, and one
 * calls the cleaner, which comes to each CPU between two of its probe firings. At the end each
 * chunk is in exactly one place, and no variable is in the table twice.
 *
 * Red if the lock of a chain is left out, or the lock of the clean list.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* after these: */
#include <cmocka.h>

#include "test/tool/threads/crosscall.h"
#include "trace/dtrace/dynvar.h"
#include "trace/dtrace/consumer.h"
#include "trace/dtrace/port.h"

#define CPUS 4
#define TURNS 6000
#define KEYS 3 /* fewer than CPUs: they meet */
#define MEMORY 4096

static struct dtrace_dynamic dynamic = {.size = 8, .scope = DIF_SCOPE_GLOBAL};
static struct dtrace_code code = {.dynamics = &dynamic, .key_bytes = 8, .datum_bytes = 8};
static struct dtrace_consumer consumer;

void dtrace_port_run_on(unsigned cpu, void (*fn)(void *arg), void *arg)
{
    threads_run_on(cpu, fn, arg);
}

void *dtrace_port_alloc(size_t bytes)
{
    return calloc(1, bytes);
}

void dtrace_port_free(void *block, size_t bytes)
{
    (void)bytes;
    free(block);
}

/* No key of this test is a reference. */
bool dtrace_load_block(struct dtrace_context *c, void *to, uint64_t address, size_t bytes,
                       bool user)
{
    (void)c;
    (void)to;
    (void)address;
    (void)bytes;
    (void)user;
    abort();
}

/* ---- the CPUs ---------------------------------------------------------------------- */

static void *cpu_main(void *number)
{
    static struct dtrace_context contexts[CPUS];
    struct dtrace_context *c = &contexts[(uintptr_t)number];
    uint32_t random = (uint32_t)(uintptr_t)number + 1;

    thread_cpu = (unsigned)(uintptr_t)number;
    c->cpu = thread_cpu;
    c->code = &code;
    c->consumer = &consumer;
    for (unsigned i = 0; i < TURNS; i++) {
        random = random * 1664525u + 1013904223u;
        c->keys[0] = (struct dtrace_key){.value = random >> 8 & KEYS};
        dtrace_dynvar(c, &dynamic, 1,
                      random >> 28 < 7    ? DTRACE_DYNVAR_ALLOCATE
                      : random >> 28 < 13 ? DTRACE_DYNVAR_FREE
                                          : DTRACE_DYNVAR_FIND);
        threads_serve();
        if (thread_cpu == 0 && i % 8 == 0) {
            dtrace_dynvars_clean(&consumer.dynvars);
        }
        if (random >> 20 & 1) {
            threads_yield("between firings");
        }
    }
    threads_serve_to_the_end(CPUS);
    return NULL;
}

/* ---- where each chunk is ----------------------------------------------------------- */

static uint32_t count_list(const struct dtrace_dynvars *v, uint32_t link, uint8_t *seen)
{
    uint32_t n = 0;

    for (; link; link = dtrace_chunk_at(v, link)->next) {
        assert_int_equal(seen[link], 0);
        seen[link] = 1;
        n++;
    }
    return n;
}

static void count_chunks(const struct dtrace_dynvars *v)
{
    uint8_t *seen = calloc(v->nchunks + 1, 1);
    uint32_t n = count_list(v, v->clean.first, seen) + count_list(v, v->rinsing.first, seen);
    uint32_t in_table = 0;

    for (uint32_t i = 0; i < v->nchains; i++) {
        in_table += count_list(v, v->chains[i].first, seen);
    }
    for (uint32_t i = 0; i < CPUS; i++) {
        n += count_list(v, v->cpus[i].free, seen) + count_list(v, v->cpus[i].dirty.first, seen);
    }
    assert_true(in_table <= KEYS + 1);
    assert_int_equal(n + in_table, v->nchunks);
    free(seen);
}

static void all_meet_at_the_same_variables(void **state)
{
    pthread_t threads[CPUS];

    (void)state;
    assert_true(dtrace_dynvars_make(&consumer.dynvars, &code, MEMORY, CPUS));
    for (uintptr_t i = 0; i < CPUS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, cpu_main, (void *)i), 0);
    }
    for (unsigned i = 0; i < CPUS; i++) {
        pthread_join(threads[i], NULL);
    }
    count_chunks(&consumer.dynvars);
    dtrace_dynvars_free(&consumer.dynvars);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_meet_at_the_same_variables)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
