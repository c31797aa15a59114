/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of long calls in steps share: between any two steps of an end another CPU does
 * something, or on one CPU a thread of higher priority gets the CPU.
 */
#ifndef TEST_KERNEL_WORLD_STEPWISE_H
#define TEST_KERNEL_WORLD_STEPWISE_H

#include <stdbool.h>

#include "test/kernel/world/world.h"

#define STEPS_MANY 1000 /* that no end takes */

/* Set by a test: what happens after step act_at; NULL: nothing. windows counts the steps. */
struct stepwise {
    unsigned windows, act_at;
    void (*act)(void);
    struct thread *high; /* that stepwise_wakes_high() wakes then, if it sleeps */
};

extern struct stepwise stepwise;

/* For fake_lock_window: counts, and acts when it is time, but not within an act. */
void stepwise_window(void);
/* For fake_irq_window. */
void stepwise_wakes_high(void);

/* Ends the windows, and the world. */
void stepwise_tear_down(void);

/* Calls ends_with(0), (1), ... till one returns that the end took less steps. Returns how many. */
unsigned stepwise_each(bool (*ends_with)(void (*what)(void), unsigned n), void (*what)(void));

void stepwise_enter(struct thread *t, unsigned number, uintptr_t a0, uintptr_t a1, uintptr_t a2,
                    uintptr_t a3);
void stepwise_sleeps(struct thread *t);
unsigned stepwise_free_cpu(void);

/* For world_do(): the process ends by a signal. */
void stepwise_end_process(void *proc);

#endif
