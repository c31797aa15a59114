/* SPDX-License-Identifier: BSD-2-Clause */
/* See cpus.h. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "test/tool/threads/cpus.h"

enum { MOST = 8 };

static void (*entry)(unsigned number);

static void *start(void *number)
{
    entry((unsigned)(uintptr_t)number);
    return NULL;
}

void threads_run_cpus(unsigned n, void (*cpu_main)(unsigned number))
{
    pthread_t threads[MOST];

    entry = cpu_main;
    for (uintptr_t i = 0; i < n; i++) {
        if (i == MOST || pthread_create(&threads[i], NULL, start, (void *)i) != 0) {
            abort();
        }
    }
    for (unsigned i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
}
