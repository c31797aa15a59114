/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Targets that are reached by messages. May be open several times.
 */
#ifndef HOST_REMOTE_TARGET_H
#define HOST_REMOTE_TARGET_H

#include "host/target/target.h"

#include <signal.h>

struct wire;

/* is_here: as in struct target_ops. The wire is the target's from now on, also if it fails. NULL:
 * *why says why, until the next call. */
struct target *remote_target_open(struct wire *, bool is_here, const char **why);

/* How long a target that is alive may leave a request unanswered: 120 s unless set. After
 * REMOTE_NOTICE_S a message on a terminal says so. */
enum { REMOTE_PATIENCE_S = 120, REMOTE_NOTICE_S = 2, REMOTE_INTERRUPTED_S = 10 };
void remote_patience(unsigned seconds);
/* A counter of interrupts (^C) to look at meanwhile: the first one ends the waiting once
 * REMOTE_INTERRUPTED_S have passed, as what is recorded is worth the time that a slow line takes;
 * the second one at once. NULL: none. */
void remote_interrupts(const volatile sig_atomic_t *);

#endif
