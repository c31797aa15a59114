/* SPDX-License-Identifier: BSD-2-Clause */
/* See control.h. */
#include "tracelogger/control.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "abi/sys/neutrino.h"
#include "abi/sys/trace.h"

static pthread_t logger_control_thread;
static struct {
    int coid, command;
} job;

static void *logger_control_serve(void *arg)
{
    int error = TraceEvent(job.command) < 0 ? errno : 0;

    (void)arg;
    MsgSendPulse(job.coid, -1, PULSE_DONE, error);
    return NULL;
}

int control_start(int coid, int command)
{
    job.coid = coid;
    job.command = command;
    int error = pthread_create(&logger_control_thread, NULL, logger_control_serve, NULL);
    if (error != 0) {
        printf("tracelogger: the control thread can't be created: %s\n",
               error == EAGAIN
                   ? "start it with a larger heap=, which also holds that thread's stack"
                   : strerror(error));
        return -1;
    }
    return 0;
}

void control_finish(void)
{
    pthread_join(logger_control_thread, NULL);
}
