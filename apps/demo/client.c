/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * client: sends requests to the filter, with work between them. `client NAME QUESTIONS MS`: several
 * of them run at different priorities.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/dispatch.h>
#include <sys/trace.h>

#include "apps/demo/demo.h"
#include "lib/include/kymo.h"

int main(int argc, char **argv)
{
    argc = demo_arguments(argc, argv);
    unsigned questions = argc > 2 ? (unsigned)atoi(argv[2]) : 100;
    unsigned pause_ms = argc > 3 ? (unsigned)atoi(argv[3]) : 10;
    const char *name = argc > 1 ? argv[1] : "client";
    int filter = name_open(FILTER_NAME, 0);
    int32_t last = 0;

    kymo_thread_name(name);
    for (unsigned n = 0; n < questions; n++) {
        struct filter_msg msg = {FILTER_SMOOTH, 0, 0};
        struct filter_reply reply;

        if (MsgSend(filter, &msg, sizeof(msg), &reply, sizeof(reply)) < 0) {
            fprintf(stderr, "client %s: %s\n", name, strerror(errno));
            return 1;
        }
        last = reply.value;
        trace_logi(EVENT_SMOOTHED, n, (unsigned)last);
        demo_work(20000);
        demo_pause(pause_ms * 1000);
    }
    printf("client %s: %u answers, the last %d\n", name, questions, (int)last);
    return 0;
}
