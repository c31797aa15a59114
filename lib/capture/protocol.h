/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of other programs to the recording process (a tracelogger or a user of
 * <sys/tracelog.h>), addressed by its name. */
#ifndef LIB_CAPTURE_PROTOCOL_H
#define LIB_CAPTURE_PROTOCOL_H

#include <stdint.h>

/* Attached when START has returned: a program that waits for this name is in the capture from its
 * first event on. */
#define TRACELOGGER_NAME "tracelogger"
/* Attached first: there is one logger at a time, and it can be stopped at any time. */
#define TRACELOGGER_LOCK "tracelogger/lock"
/* Likewise, while it saves or discards retained data. */
#define RECOVER_LOCK "tracelogger/retained"
/* Ends the recording. The reply, a struct tracelogger_summary, is sent when the file is closed; its
 * status is the logger's exit status. A second one meanwhile: EBUSY. */
#define TRACELOGGER_STOP 0x4b01

struct tracelogger_msg {
    uint16_t type; /* TRACELOGGER_* */
    uint16_t zero;
};

struct tracelogger_summary {
    uint64_t events; /* made since START */
    uint64_t lost;   /* of those */
    /* the -k that would have avoided losses for lack of buffers; 0: there were none */
    uint32_t advice;
    uint32_t zero;
};

#endif
