/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Passes each static probe of the library a known number of times, with known arguments, for
 * test/board/sysprobes.py. A static probe of its own says where its objects are. sysprobes PASSES
 */
#include <fcntl.h>
#include <kymo_probe.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/libc/syscalls.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t twice = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int signalled;

static void *waits(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex); /* main has it, until this thread waits for it */
    signalled = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

/* One lock that waits; one wait that is signalled. */
static void pass_contended(void)
{
    pthread_t thread;

    signalled = 0;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, waits, NULL);
    usleep(20000);
    while (!signalled) {
        pthread_cond_wait(&cond, &mutex);
    }
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
}

static void pass_timed(void)
{
    const struct timespec past = {0, 1};

    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&cond, &mutex, &past);
    pthread_mutex_unlock(&mutex);
    pthread_cond_broadcast(&cond);
}

static void pass_recursive(void)
{
    pthread_mutex_lock(&twice);
    pthread_mutex_lock(&twice);
    pthread_mutex_unlock(&twice);
    pthread_mutex_unlock(&twice);
}

static void pass_heap(void)
{
    kymo_sbrk(2416);
    kymo_sbrk(-2416);
    kymo_sbrk(PTRDIFF_MAX);
}

/* Each way to the heap. What realloc() and memalign() do inside is not told. */
static void pass_memory(void)
{
    static volatile size_t too_many = SIZE_MAX - 64;
    char *volatile at = malloc(40), *volatile behind = malloc(24);

    at = realloc(at, 3000); /* it can't stay */
    free(at);
    free(behind);
    at = NULL;
    at = realloc(at, 50);
    free(at);
    free(NULL);
    at = calloc(3, 7);
    free(at);
    at = memalign(64, 100);
    free(at);
#ifdef __PICOLIBC__ /* newlib's lacks what it calls */
    at = aligned_alloc(64, 128);
#else
    at = malloc(128);
#endif
    free(at);
    at = strdup("sixteen letters.");
    free(at);
    at = malloc(too_many);
}

static void pass_files(void)
{
    char byte;
    int fd = open("/dev/console", O_RDWR);

    write(fd, ".\n", 2);
    close(fd);
    read(fd, &byte, 1); /* EBADF */
    open("no_such_name", O_RDWR);
}

int main(int argc, char **argv)
{
    int passes = argc > 1 ? atoi(argv[1]) : 1;

    KYMO_PROBE(sysprobes, objects, &mutex, &twice, &cond);
    for (int i = 0; i < passes; i++) {
        pass_contended();
        pass_timed();
        pass_recursive();
        pass_heap();
        pass_memory();
        pass_files();
        KYMO_PROBE(sysprobes, passed, i);
    }
    return 0;
}
