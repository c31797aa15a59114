/* SPDX-License-Identifier: BSD-2-Clause */
/* For window_test.c: what other CPUs do in the window, and to whom. */
#ifndef TEST_KERNEL_ENTRY_WINDOW_ACTS_H
#define TEST_KERNEL_ENTRY_WINDOW_ACTS_H

#include "test/kernel/world/world.h"

/* Mappings of their own, at the same addresses in both processes. */
#define PLACE_BYTES 0x1000u
#define PLACE(n) (RO + 4096u + (n)*PLACE_BYTES)
#define IOVS PLACE(0)
#define OUT PLACE(1)
#define IN PLACE(2)

/* CPU 0 has the client and its server. Each has another thread of its process on a CPU of its own,
 * and so has a third process, of which two threads wait for a pulse to run on CPU 0. */
extern struct thread *client, *server, *clients_mate, *servers_mate, *other;
extern struct thread *self, *partner, *mate, *partners_mate; /* in the call under way */
extern int coid, others_coid, high_coid, low_coid;

/* What a call without events, which comes after the disturbance, has read before it. */
enum when { BEHIND, HAS_IOVS, HAS_TIME };

extern const struct window_act {
    const char *name;
    void (*act)(void);
    enum when when;
} window_acts[]; /* the first is none */
extern const unsigned window_acts_count;

/* A call of `other`. */
void window_set_priority(const struct thread *t, int priority);

#endif
