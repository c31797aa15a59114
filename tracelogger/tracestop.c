/* SPDX-License-Identifier: BSD-2-Clause */
/* tracestop: asks the recording process to stop, and waits until its capture is complete. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>

#include "abi/sys/neutrino.h"
#include "lib/capture/protocol.h"

int main(int argc, char **argv)
{
    struct tracelogger_msg msg = {TRACELOGGER_STOP, 0};

    if (argc > 1) {
        bool help = strcmp(argv[1], "--help") == 0;

        printf(
            "usage: tracestop\n"
            "Ends the recording, a tracelogger's or a program's own, and waits until its capture "
            "is\ncomplete; its status is the recorder's. It needs the ability trace.\n");
        return help ? 0 : 2;
    }
    int coid = name_open(TRACELOGGER_LOCK, 0);

    long status = coid < 0 ? -1 : MsgSend(coid, &msg, sizeof(msg), NULL, 0);
    if (coid < 0 || (status < 0 && errno == ESRCH)) { /* or it ended before it took the message */
        printf("tracestop: no tracelogger is running\n");
        return 1;
    }
    if (status < 0) {
        if (errno == EPERM) {
            printf(
                "tracestop: only the process that started the recording ends it, or one with the "
                "ability trace: [ability=trace] tracestop\n");
        } else {
            printf("tracestop: %s\n", strerror(errno));
        }
        return 1;
    }
    return (int)status;
}
