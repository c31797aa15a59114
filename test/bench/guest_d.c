/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What D adds to an event: the same call between two marks, with no probe on, then with each script
 * of test/bench/d on it; and a message with all function probes on. `bench_d`; read by
 * test/bench/bench.
 */
#include <errno.h>
#include <kymo.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>
#include <sys/dtrace.h>
#include <sys/neutrino.h>

#include "test/bench/mark.h"

#define ROUNDS 40
#define IMAGE_MOST 8192

enum { INTERVAL_D_OFF = 4, INTERVAL_D };

static const char *const scripts[] = {
    "d_empty",    "d_trace",     "d_count", "d_count_execname", "d_pred_false", "d_pred_cached",
    "d_insn_few", "d_insn_many", "d_self",  "d_latency_pair",   "fbt_entry",    "fbt_return"};
#define SCRIPTS ((int)(sizeof(scripts) / sizeof(*scripts)))

static uint64_t image[IMAGE_MOST / 8], out[32];

static int failed(const char *what)
{
    printf("bench_d: %s: %s\n", what, strerror(errno));
    return 1;
}

static int take(int chid, int r)
{
    struct _pulse pulse;

    return r < 0 || MsgReceivePulse(chid, &pulse, sizeof(pulse), NULL) < 0 ? failed("pulse") : 0;
}

static int without(int coid, int chid)
{
    int status = 0;

    for (int i = 0; i < ROUNDS; i++) {
        OPEN(INTERVAL_D_OFF);
        int r = MsgSendPulse(coid, -1, 1, 0);
        CLOSE(INTERVAL_D_OFF);
        status |= take(chid, r);
    }
    return status;
}

static int with(int coid, int chid)
{
    int status = 0;

    for (int i = 0; i < ROUNDS; i++) {
        OPEN(INTERVAL_D);
        int r = MsgSendPulse(coid, -1, 1, 0);
        CLOSE(INTERVAL_D);
        status |= take(chid, r);
    }
    return status;
}

/* To another process of higher priority, as msg_rt_8 does. */
static int messages(int coid, int chid)
{
    char text[8] = "message";

    (void)chid;
    for (int i = 0; i < ROUNDS; i++) {
        OPEN(INTERVAL_D);
        long r = MsgSend(coid, text, sizeof(text), text, sizeof(text));
        CLOSE(INTERVAL_D);
        if (r < 0) {
            return failed("MsgSend");
        }
    }
    return 0;
}

static int with_script(const char *script, int (*calls)(int coid, int chid), int coid, int chid)
{
    char name[32];
    struct kymo_d_call call = {.command = KYMO_D_CREATE, .out_bytes = sizeof(out)};

    snprintf(name, sizeof(name), "%s.dif", script);
    long bytes = ImageRead(name, 0, image, sizeof(image));
    if (bytes < 0) {
        return failed(name);
    }
    call.in_bytes = (uint32_t)bytes;
    if (DtraceControl(&call, image, out) < 0) {
        return failed(name);
    }
    call = (struct kymo_d_call){.command = KYMO_D_GO, .handle = call.handle};
    if (DtraceControl(&call, NULL, NULL) < 0 || calls(coid, chid) != 0) {
        return failed(name);
    }
    call = (struct kymo_d_call){.command = KYMO_D_DESTROY, .handle = call.handle};
    return DtraceControl(&call, NULL, NULL) < 0 ? failed(name) : 0;
}

int main(void)
{
    int chid = ChannelCreate(0);
    int coid = ConnectAttach(0, 0, chid, _NTO_SIDE_CHANNEL, 0);
    int status = without(coid, chid);

    for (int n = 0; n < SCRIPTS; n++) {
        status |= with_script(scripts[n], with, coid, chid);
    }
    int server = name_open("bench", 0);
    if (server < 0) {
        return failed("name_open");
    }
    return status | with_script("fbt_all_rt", messages, server, 0);
}
