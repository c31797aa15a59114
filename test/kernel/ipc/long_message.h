/* SPDX-License-Identifier: BSD-2-Clause */
/* A server and a client with two threads each, and long messages between them. */
#ifndef TEST_KERNEL_IPC_LONG_MESSAGE_H
#define TEST_KERNEL_IPC_LONG_MESSAGE_H

#include "test/kernel/world/world.h"

#define LONG 2000u /* bytes of a long message: eight pieces */
#define PIECES ((LONG + CONFIG_COPY_CHUNK - 1) / CONFIG_COPY_CHUNK)

extern struct thread *server, *server2, *client, *client2;
extern unsigned windows, act_at; /* between two pieces: so far, and where something happens */

/* What happens between two pieces, at the n-th time: another CPU has its chance. NULL: nothing. */
void at_window(unsigned n, void (*what)(void));
int setup(void **state);
int teardown(void **state);
void fill(const struct thread *, uintptr_t addr, size_t bytes, unsigned seed);
long receive(struct thread *, uintptr_t bytes);
long send_long(struct thread *, uintptr_t sbytes, uintptr_t rbytes);

#endif
