/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <pthread.h>: barriers. A generation of threads waits under the mutex until its last one arrives,
 * which starts the next generation and wakes the others. `leaving` counts those that have passed
 * but still access the barrier, so that pthread_barrier_destroy() can wait for them: the thread
 * that gets PTHREAD_BARRIER_SERIAL_THREAD may destroy it at once.
 *
 * Tested by test/board/programs/t_posix.c.
 */
#include <errno.h>
#include <pthread.h>

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr,
                         unsigned count)
{
    (void)attr;
    if (count == 0) {
        return EINVAL;
    }
    *barrier = (pthread_barrier_t){.needed = count};
    pthread_mutex_init(&barrier->mutex, NULL);
    pthread_cond_init(&barrier->passed, NULL);
    pthread_cond_init(&barrier->left, NULL);
    return 0;
}

int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    int error = pthread_mutex_lock(&barrier->mutex);

    if (error != 0) {
        return error;
    }
    if (barrier->waiting > 0) {
        pthread_mutex_unlock(&barrier->mutex);
        return EBUSY;
    }
    while (barrier->leaving > 0) {
        pthread_cond_wait(&barrier->left, &barrier->mutex);
    }
    pthread_mutex_unlock(&barrier->mutex);
    pthread_cond_destroy(&barrier->passed);
    pthread_cond_destroy(&barrier->left);
    return pthread_mutex_destroy(&barrier->mutex);
}

/* Called with the mutex locked. */
static void barrier_leave_generation(pthread_barrier_t *barrier)
{
    if (--barrier->leaving == 0) {
        pthread_cond_broadcast(&barrier->left);
    }
}

struct visit {
    pthread_barrier_t *barrier;
    unsigned generation;
};

/* Clean-up handler, called with the mutex locked: a thread cancelled before it passed does not
 * count as arrived. */
static void barrier_abandon_wait(void *arg)
{
    const struct visit *visit = arg;
    pthread_barrier_t *barrier = visit->barrier;

    if (barrier->generation == visit->generation) {
        barrier->waiting--;
    } else {
        barrier_leave_generation(barrier);
    }
    pthread_mutex_unlock(&barrier->mutex);
}

/* Called with the mutex locked. The caller isn't the last of its generation. */
static void barrier_wait_generation(pthread_barrier_t *barrier)
{
    struct visit visit = {barrier, barrier->generation};

    pthread_cleanup_push(barrier_abandon_wait, &visit);
    while (barrier->generation == visit.generation) {
        pthread_cond_wait(&barrier->passed, &barrier->mutex);
    }
    pthread_cleanup_pop(0);
    barrier_leave_generation(barrier);
}

int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    int error = pthread_mutex_lock(&barrier->mutex), result = 0;

    if (error != 0) {
        return error;
    }
    if (++barrier->waiting == barrier->needed) {
        barrier->waiting = 0;
        barrier->generation++;
        barrier->leaving += barrier->needed - 1;
        pthread_cond_broadcast(&barrier->passed);
        result = PTHREAD_BARRIER_SERIAL_THREAD;
    } else {
        barrier_wait_generation(barrier);
    }
    pthread_mutex_unlock(&barrier->mutex);
    return result;
}
