/* SPDX-License-Identifier: BSD-2-Clause */
/* tracestop: tells the tracelogger to stop, and waits until its capture is complete. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>

#include "kernel/abi/sys/neutrino.h"
#include "lib/capture/protocol.h"

int main(void)
{
    struct tracelogger_msg msg = {TRACELOGGER_STOP, 0};
    int coid = name_open(TRACELOGGER_LOCK, 0);

    if (coid < 0) {
        printf("tracestop: no tracelogger runs\n");
        return 1;
    }
    long status = MsgSend(coid, &msg, sizeof(msg), NULL, 0);
    if (status < 0) {
        printf("tracestop: %s\n", strerror(errno));
        return 1;
    }
    return (int)status;
}
