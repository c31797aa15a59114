/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What D adds to an event: the same call between two marks, with no probe on, then with each script
 * of test/bench/d on it; and a message with all function probes on. `bench_d`; read by
 * test/bench/bench.
 */
#include <errno.h>
#include <kymo.h>
#include <stdio.h>
#include <stdbool.h>
#include <string.h>
#include <sys/dispatch.h>
#include <sys/dtrace.h>
#include <sys/neutrino.h>
#include <unistd.h>

#include "test/bench/mark.h"

#define ROUNDS 40
#define IMAGE_MOST 8192
/* An instruction of probed(), and the one by which it returns. */
#if defined(__thumb__)
typedef uint16_t insn_t;
#define RETURNS 0x4770
#else
typedef uint32_t insn_t;
#define RETURNS 0xd65f03c0u
#endif

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

/* A function of this program, with probes at its entry and its return. */
static __attribute__((noinline)) long probed(long n)
{
    __asm__ volatile("" : "+r"(n));
    return n + 1;
}

static int probed_calls(int coid, int chid)
{
    (void)coid;
    (void)chid;
    for (int i = 0; i < ROUNDS; i++) {
        OPEN(INTERVAL_D);
        long r = probed(i);
        CLOSE(INTERVAL_D);
        if (r != i + 1) {
            return failed("probed");
        }
    }
    return 0;
}

/* Returns false where there are no probes of programs. */
static bool probes_made(void)
{
    enum { SIZE = sizeof(struct kymo_d_user_place) + 16 };
    const insn_t *code = (const insn_t *)((uintptr_t)probed & ~(uintptr_t)1);
    static const char *const names[] = {"entry", "return"};
    struct kymo_d_user head = {.pid = getpid(), .count = 2};
    struct kymo_d_user_made made = {0};
    struct kymo_d_call call = {
        .command = KYMO_D_USER, .in_bytes = sizeof(head) + 2 * SIZE, .out_bytes = sizeof(made)};
    char *to = (char *)image;
    uint32_t offset = 0;

    memset(image, 0, sizeof(image));
    memcpy(to, &head, sizeof(head));
    for (unsigned i = 0; i < 2; i++) {
        for (; i == 1 && code[offset / sizeof(*code)] != RETURNS && offset < 64;
             offset += sizeof(*code)) {
        }
        const struct kymo_d_user_place place = {.address = (uintptr_t)code + offset,
                                                .insn = code[offset / sizeof(*code)],
                                                .offset = offset,
                                                .size = SIZE,
                                                .bytes = sizeof(*code),
                                                .kind = i ? KYMO_D_USER_RETURN : KYMO_D_USER_ENTRY};
        memcpy(to + sizeof(head) + i * SIZE, &place, sizeof(place));
        strcpy(to + sizeof(head) + i * SIZE + sizeof(place), "probed");
        strcpy(to + sizeof(head) + i * SIZE + sizeof(place) + sizeof("probed"), names[i]);
    }
    return DtraceControl(&call, image, out) == 0 && memcpy(&made, out, sizeof(made)) &&
           made.made == 2;
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
    status |= with_script("fbt_all_rt", messages, server, 0);
    if (probes_made()) {
        status |= with_script("pid_entry", probed_calls, 0, 0);
        status |= with_script("pid_return", probed_calls, 0, 0);
    }
    return status;
}
