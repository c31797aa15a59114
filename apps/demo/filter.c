/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter: a server. Takes the sensor's readings and returns their mean to clients; runs at the
 * priority of the client that it serves. Ends on request.
 */
#include <errno.h>
#include <kymo_log.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>

#include "apps/demo/demo.h"
#include "abi/sys/neutrino.h"

#define WINDOW 16

static int32_t filter_window[WINDOW];
static uint32_t filter_readings, filter_questions;

static void filter_smooth_value(int rcvid)
{
    struct filter_reply reply = {0, filter_readings};
    uint32_t count = filter_readings < WINDOW ? filter_readings : WINDOW;
    int32_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        sum += filter_window[i];
    }
    demo_work(2000);
    reply.value = count ? sum / (int32_t)count : 0;
    filter_questions++;
    MsgReply(rcvid, 0, &reply, sizeof(reply));
}

/* Returns false at the end. */
static int filter_serve_message(int rcvid, const struct filter_msg *msg)
{
    switch (msg->type) {
    case FILTER_READING:
        filter_window[filter_readings++ % WINDOW] = msg->value;
        demo_work(500);
        MsgReply(rcvid, 0, NULL, 0);
        return 1;
    case FILTER_SMOOTH:
        filter_smooth_value(rcvid);
        return 1;
    case FILTER_STOP:
        MsgReply(rcvid, 0, NULL, 0);
        return 0;
    default:
        MsgError(rcvid, ENOSYS);
        return 1;
    }
}

int main(int argc, char **argv)
{
    demo_arguments(argc, argv);
    name_attach_t *name = name_attach(NULL, FILTER_NAME, 0);
    int go_on = 1;

    if (!name) {
        perror("filter");
        return 1;
    }
    while (go_on) {
        union {
            struct _pulse pulse;
            struct filter_msg msg;
        } in;
        int rcvid = MsgReceive(name->chid, &in, sizeof(in), NULL);

        if (rcvid > 0) {
            go_on = filter_serve_message(rcvid, &in.msg);
        } else if (rcvid == 0 && in.pulse.code == _PULSE_CODE_DISCONNECT) {
            ConnectDetach(in.pulse.scoid);
        }
    }
    KYMO_LOG(KYMO_LOG_NOTICE, "%s ends: %u readings, %u questions", FILTER_NAME,
             (unsigned)filter_readings, (unsigned)filter_questions);
    printf("filter: %u readings, %u questions\n", (unsigned)filter_readings,
           (unsigned)filter_questions);
    return 0;
}
