/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control lock, and the cleaner: a thread that recycles what clauses have freed and ends
 * consumers that are silent.
 */
#include "host/self/self.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

static pthread_mutex_t self_lock_control_mutex = PTHREAD_MUTEX_INITIALIZER;

void self_lock(void)
{
    pthread_mutex_lock(&self_lock_control_mutex);
}

void self_unlock(void)
{
    pthread_mutex_unlock(&self_lock_control_mutex);
}

static void *self_lock_clean_thread(void *arg)
{
    for (;;) {
        self_lock();
        uint64_t ns = dtrace_machine_clean();
        self_unlock();
        struct timespec pause = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
        nanosleep(&pause, NULL);
    }
    return arg;
}

/* Control lock held. Started late: compiling and listing need none. */
void self_cleaner_start(void)
{
    static bool started;
    pthread_t thread;
    sigset_t all, before;

    if (started) {
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&thread, NULL, self_lock_clean_thread, NULL) == 0;
    if (started) {
        pthread_detach(thread);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void self_lock_init_once(void)
{
    self_cpus_init();
    self_port_init();
    dtrace_machine_init();
    self_profile_init();
}

void self_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, self_lock_init_once);
}
