/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of world_check() share. */
#ifndef TEST_UNIT_IPC_CHECK_H
#define TEST_UNIT_IPC_CHECK_H

#include "kernel/base/cpu.h"
#include "test/unit_ipc/world.h"

/* A list is sound: both directions agree. Returns its length. */
unsigned check_list(const struct list *head, const char *what);
bool check_in_list(const struct list *head, const struct list *node);
bool check_is_channel(const struct process *proc, const struct channel *ch);
bool check_is_connection(const struct process *proc, const struct connection *conn);

void check_channel(const struct process *proc, unsigned i);
void check_connection(const struct process *proc, const struct connection *conn, int coid);
/* CPUs, timers, interrupt lines, and that nothing leaks. */
void check_system(void);

#endif
