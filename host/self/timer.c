/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timers of `self`: one thread a CPU, made when the first timer needs it, sleeps until its next
 * timer is due and then is that CPU. A timer that is late is not made up for: the next one comes a
 * whole interval after it.
 */
#include "host/self/self.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct self_timer {
    struct self_timer *next; /* [l] */
    uint64_t due;            /* [l] ns */
    uint64_t interval;       /* [I] ns */
    unsigned cpu;            /* [I] */
    void (*fn)(void *arg);   /* [I] */
    void *arg;               /* [I] */
};

static struct timer_cpu {
    pthread_mutex_t lock; /* not held while a timer fires */
    pthread_cond_t changed;
    struct self_timer *timers;  /* [l] */
    struct self_timer *running; /* [l] its fn runs now; NULL: none */
    bool started;               /* [control] */
} timer_cpus[SELF_CPUS_MAX];

static struct self_timer *self_timer_earliest_due(const struct timer_cpu *t)
{
    struct self_timer *best = t->timers;

    for (struct self_timer *timer = best; timer; timer = timer->next) {
        if (timer->due < best->due) {
            best = timer;
        }
    }
    return best;
}

static void self_timer_fire_due(void *arg)
{
    struct self_timer *timer = arg;

    timer->fn(timer->arg);
}

/* The lock is held on entry and on return. */
static void fire_unlocked(struct timer_cpu *t, struct self_timer *timer, uint64_t now)
{
    timer->due += timer->interval;
    if (timer->due <= now) {
        timer->due = now + timer->interval;
    }
    t->running = timer;
    pthread_mutex_unlock(&t->lock);
    dtrace_port_run_on(timer->cpu, self_timer_fire_due, timer);
    pthread_mutex_lock(&t->lock);
    t->running = NULL;
    pthread_cond_broadcast(&t->changed);
}

static void *timer_thread(void *arg)
{
    struct timer_cpu *t = arg;

    self_thread.cpu = (unsigned)(t - timer_cpus);
    pthread_mutex_lock(&t->lock);
    for (;;) {
        struct self_timer *timer = self_timer_earliest_due(t);
        uint64_t now = dtrace_port_timestamp();

        if (!timer) {
            pthread_cond_wait(&t->changed, &t->lock);
        } else if (timer->due > now) {
            struct timespec until = {(time_t)(timer->due / 1000000000u),
                                     (long)(timer->due % 1000000000u)};
            pthread_cond_timedwait(&t->changed, &t->lock, &until);
        } else {
            fire_unlocked(t, timer, now);
        }
    }
    return NULL;
}

/* Signals are the main thread's business. */
static bool self_timer_thread_start(struct timer_cpu *t)
{
    pthread_condattr_t attributes;
    pthread_t thread;
    sigset_t all, before;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, &attributes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    t->started = pthread_create(&thread, NULL, timer_thread, t) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (t->started) {
        pthread_detach(thread);
    }
    return t->started;
}

struct self_timer *self_timer_start(unsigned cpu, uint64_t interval, void (*fn)(void *arg),
                                    void *arg)
{
    struct timer_cpu *t = &timer_cpus[cpu];
    struct self_timer *timer = malloc(sizeof(*timer));

    if (!timer || (!t->started && !self_timer_thread_start(t))) {
        free(timer);
        return NULL;
    }
    pthread_mutex_lock(&t->lock);
    *timer =
        (struct self_timer){t->timers, dtrace_port_timestamp() + interval, interval, cpu, fn, arg};
    t->timers = timer;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return timer;
}

void self_timer_stop(struct self_timer *timer)
{
    struct timer_cpu *t = &timer_cpus[timer->cpu];
    struct self_timer **link = &t->timers;

    pthread_mutex_lock(&t->lock);
    while (*link != timer) {
        link = &(*link)->next;
    }
    *link = timer->next;
    while (t->running == timer) {
        pthread_cond_wait(&t->changed, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    free(timer);
}
