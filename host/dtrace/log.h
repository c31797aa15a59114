/* SPDX-License-Identifier: BSD-2-Clause */
/* -x log=1: records go into the target's event log; -x retain: buffers in its retained memory.
 * Internal to host/dtrace. */
#ifndef HOST_DTRACE_LOG_H
#define HOST_DTRACE_LOG_H

#include "host/dtrace/command.h"

struct log_state {
    struct target *target;
    uint32_t pass;
    struct dtrace_status status; /* at the last pass */
};

/* Between create and go: what a reader must know goes first. 0, or a negative errno after a
 * message. */
int log_start(struct command *);
/* Likewise, for -x retain. */
int retain_start(struct command *);
/* As consumer_pass(). -ECANCELED: the event log has ended. */
int log_pass(struct log_state *);
/* As the target's stop. */
int log_stop(struct command *, unsigned *end_cpu);
/* After that: the last pass. 0, or a negative errno after a message. */
int log_finish(struct command *, struct log_state *, bool interrupted);

#endif
