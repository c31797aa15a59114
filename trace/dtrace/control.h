/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D's control call: the commands of abi/sys/dtrace.h, on the calls of trace/dtrace/dtrace.h. The
 * kernel call DtraceControl() is dtrace_control() behind a copy in and a copy out; the host's test
 * server is the same behind a socket. What a call says is believed nowhere else.
 *
 * A consumer is known by its handle to its owner alone: any address that stands for who called (the
 * process). Handles are not used again soon, so that an old one is EBADF.
 *
 * Control context, under the control lock. Proved by test/d_fire/control_test.c, test/d_remote.
 */
#ifndef TRACE_DTRACE_CONTROL_H
#define TRACE_DTRACE_CONTROL_H

#include "abi/sys/dtrace.h"
#include "trace/dtrace/dtrace.h"

enum {
    DTRACE_CONTROL_CONSUMERS = 16,   /* of all owners */
    DTRACE_CONTROL_NAMES_MAX = 1024, /* bytes of a description, for PROVIDE and PROBES */
    DTRACE_CONTROL_PROBES_MAX = 16
                                << 10, /* bytes of an answer to PROBES, whatever room there is, */
    DTRACE_CONTROL_LOOK_MAX = 256,     /* and probes that it looks at */
};

/* One call. `in` has call->in_bytes, `out` room for call->out_bytes; both are aligned to 8 and in
 * nobody else's hands. Returns call->result; call->out_bytes becomes what is to go back: 0 on an
 * error, but for CREATE's refusal. Never more than 0 or KYMO_D_OUT_MOST. */
int dtrace_control(const void *owner, struct kymo_d_call *call, const void *in, void *out);
/* The owner is gone, and with it its consumers. */
void dtrace_control_end(const void *owner);
/* Consumers that there are, of all owners: for tests. */
unsigned dtrace_control_count(void);

/* Makes the boot's consumer and lets it run, until somebody claims it: silence doesn't end it. The
 * image stays where it is; what lies behind it in `size` is the host's. One that nobody
 * has claimed by then makes way. */
int dtrace_control_boot(const void *image, size_t size, struct dtrace_refusal *);

/* Supplied by whoever links control.c. */
void dtrace_control_info(struct kymo_d_info *);
uint32_t dtrace_control_pid(const void *owner);                   /* never NULL; 0: no process */
int dtrace_control_resume(int32_t pid);                           /* 0, -ESRCH */
int dtrace_control_process(int32_t pid, struct kymo_d_process *); /* likewise */

#endif
