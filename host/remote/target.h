/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Targets that are reached by messages. Several may be open at a time.
 */
#ifndef HOST_REMOTE_TARGET_H
#define HOST_REMOTE_TARGET_H

#include "host/target/target.h"

#include <signal.h>

struct wire;

/* is_here: as in struct target_ops. The target owns the wire from now on, also on failure. Returns
 * NULL with the reason in *why, valid until the next call. */
struct target *remote_target_open(struct wire *, bool is_here, const char **why);

/* Sets how long a target that is alive may leave a request unanswered: 120 s by default. After
 * REMOTE_NOTICE_S a message on a terminal says that the command waits. */
enum { REMOTE_PATIENCE_S = 120, REMOTE_NOTICE_S = 2, REMOTE_INTERRUPTED_S = 10 };
void remote_patience(unsigned seconds);
/* Sets a counter of interrupts (^C), read while waiting: the first interrupt ends the wait after
 * REMOTE_INTERRUPTED_S, so that a slow line can still deliver what is recorded; the second one ends
 * it at once. NULL: none. */
void remote_interrupts(const volatile sig_atomic_t *);

#endif
