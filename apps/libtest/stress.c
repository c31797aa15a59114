/* SPDX-License-Identifier: BSD-2-Clause */
/* Several threads use malloc(), printf(), errno, a mutex and thread-specific values at the same
 * time. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/libtest/check.h"

#define THREADS 4
#define ROUNDS 3000
#define PIECES 8

static pthread_mutex_t stress_mutex = PTHREAD_MUTEX_INITIALIZER;
static long stress_locked_counter; /* [mutex] */
static pthread_key_t stress_tls_key;
static int stress_nkeys_destroyed;

static void stress_destroy_value(void *value)
{
    (void)value;
    __atomic_fetch_add(&stress_nkeys_destroyed, 1, __ATOMIC_RELAXED);
}

static bool all_bytes(const char *piece, char c, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (piece[i] != c) {
            return false;
        }
    }
    return true;
}

/* Replaces one of this thread's pieces; the old one must still be full of its own number. */
static bool stress_exchange_piece(char *pieces[PIECES], size_t bytes[PIECES], unsigned k,
                                  size_t size, char me)
{
    bool good = !pieces[k] || all_bytes(pieces[k], me, bytes[k]);

    free(pieces[k]);
    pieces[k] = malloc(size);
    bytes[k] = size;
    if (pieces[k]) {
        memset(pieces[k], me, size);
    }
    return good;
}

static void *stress_thread(void *arg)
{
    unsigned me = (unsigned)(uintptr_t)arg;
    uint32_t seed = me * 77 + 1;
    char *pieces[PIECES] = {0};
    size_t bytes[PIECES] = {0};
    bool good = pthread_setspecific(stress_tls_key, &stress_nkeys_destroyed) == 0;

    for (int i = 0; i < ROUNDS; i++) {
        seed = seed * 1103515245 + 12345;
        errno = 1000 + (int)me;
        good &= stress_exchange_piece(pieces, bytes, (seed >> 16) % PIECES, (seed >> 8) % 200 + 1,
                                      (char)me);
        if (i % 64 == 0) {
            sched_yield();
        }
        good &= errno == 1000 + (int)me;
        pthread_mutex_lock(&stress_mutex);
        stress_locked_counter++;
        pthread_mutex_unlock(&stress_mutex);
        if (i % 600 == 0) {
            printf("thread %u says 0123456789 abcdefghijklmnopqrstuvwxyz round %d end\n", me, i);
        }
    }
    for (int k = 0; k < PIECES; k++) {
        free(pieces[k]);
    }
    return (void *)(uintptr_t)(good ? me : 0);
}

void test_stress(void)
{
    pthread_t threads[THREADS];
    void *value;

    CHECK(pthread_key_create(&stress_tls_key, stress_destroy_value) == 0);
    for (unsigned i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, stress_thread, (void *)(uintptr_t)(i + 1)) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], &value) == 0);
        CHECK((uintptr_t)value == i + 1);
    }
    CHECK(stress_locked_counter == THREADS * ROUNDS);
    CHECK(stress_nkeys_destroyed == THREADS);
    CHECK(pthread_key_delete(stress_tls_key) == 0);
}
