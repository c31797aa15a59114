/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A message's round trip as programs make it, in shapes: where the buffers are, how they are
 * named, what else client or server wants. Each shape ROUNDS times between two marks, in the order
 * of `shapes`, which test/bench/bench knows as MSG_SHAPES.
 *
 *   bench_msg plain|info|fp    replies to each message with as many bytes; priority above the
 *                              client's; wants a struct _msg_info; uses floating point
 *   bench_msg client           calls; kernel calls that do nothing, too
 */
#include <errno.h>
#include <kymo.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/dispatch.h>

#include "abi/sys/neutrino.h"
#include "test/bench/mark.h"

#if defined(__arm__)
#define NULL_CALL() \
    __asm__ volatile("mov r12, #0\n\tsvc 0" ::: "r0", "r1", "r2", "r3", "r12", "memory")
#elif defined(__x86_64__)
#define NULL_CALL() \
    __asm__ volatile("xor %%eax, %%eax\n\tsyscall" :: \
                         : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory")
#else
#define NULL_CALL() \
    __asm__ volatile("mov x8, #0\n\tsvc #0" :: \
                         : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", \
                           "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "memory")
#endif

enum { INTERVAL_NULL, INTERVAL_MSG, ROUNDS = 40, MOST = 64, LIMIT_NS = 1000000000 };

static int failed(const char *what)
{
    printf("bench_msg: %s: %s\n", what, strerror(errno));
    return 1;
}

/* ---- the servers ------------------------------------------------------------------- */

static volatile double sum = 1;

static int server(const char *name)
{
    uint32_t msg[MOST / 4] = {0};
    struct _msg_info info;
    bool wants_info = strcmp(name, "info") == 0, counts = strcmp(name, "fp") == 0;
    name_attach_t *attached = name_attach(NULL, name, 0);

    if (attached == NULL) {
        return failed(name);
    }
    for (;;) {
        int rcvid = MsgReceive(attached->chid, msg, sizeof(msg), wants_info ? &info : NULL);

        if (counts) {
            sum += 1;
        }
        if (rcvid > 0) {
            MsgReply(rcvid, 0, msg, msg[0]);
        }
    }
}

/* ---- call_null: kernel call 0 ------------------------------------------------------- */

static void null_calls(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        OPEN(INTERVAL_NULL);
        NULL_CALL();
        CLOSE(INTERVAL_NULL);
    }
}

/* ---- the shapes -------------------------------------------------------------------- */

struct shape {
    const char *server;
    int (*run)(int coid);
};

static int rounds(int coid, const void *out, void *in, size_t bytes)
{
    for (int i = 0; i < ROUNDS; i++) {
        OPEN(INTERVAL_MSG);
        long status = MsgSend(coid, out, bytes, in, bytes);
        CLOSE(INTERVAL_MSG);
        if (status != 0) {
            return failed("MsgSend");
        }
    }
    return 0;
}

static int from_stack(int coid)
{
    uint32_t out[2] = {sizeof(out)}, in[2];

    return rounds(coid, out, in, sizeof(out));
}

static int from_heap(int coid)
{
    uint32_t *out = malloc(1024), *in = malloc(1024);

    if (!out || !in) {
        return failed("malloc");
    }
    out[0] = 8;
    int status = rounds(coid, out, in, 8);
    free(out);
    free(in);
    return status;
}

static int from_static(int coid)
{
    static uint32_t out[2] = {sizeof(out)}, in[2];

    return rounds(coid, out, in, sizeof(out));
}

/* Read-only data, to a buffer elsewhere. */
static int from_text(int coid)
{
    static const uint32_t out[2] = {sizeof(out)};
    uint32_t in[2];

    return rounds(coid, out, in, sizeof(out));
}

static int pthread_coid;

static void *on_thread(void *unused)
{
    (void)unused;
    return from_stack(pthread_coid) == 0 ? &pthread_coid : NULL;
}

static int from_pthread(int coid)
{
    pthread_t thread;
    void *result;

    pthread_coid = coid;
    errno = pthread_create(&thread, NULL, on_thread, NULL);
    if (errno != 0 || pthread_join(thread, &result) != 0 || !result) {
        return failed("pthread_create");
    }
    return 0;
}

static int of_64(int coid)
{
    uint32_t out[16] = {sizeof(out)}, in[16];

    return rounds(coid, out, in, sizeof(out));
}

static int of_two_parts(int coid)
{
    uint32_t out[2] = {sizeof(out)}, in[2];
    iov_t siov[2], riov[2];

    for (int i = 0; i < 2; i++) {
        SETIOV(&siov[i], &out[i], 4);
        SETIOV(&riov[i], &in[i], 4);
    }
    for (int i = 0; i < ROUNDS; i++) {
        OPEN(INTERVAL_MSG);
        long status = MsgSendv(coid, siov, 2, riov, 2);
        CLOSE(INTERVAL_MSG);
        if (status != 0) {
            return failed("MsgSendv");
        }
    }
    return 0;
}

static int with_fp(int coid)
{
    uint32_t out[2] = {sizeof(out)}, in[2];

    for (int i = 0; i < ROUNDS; i++) {
        sum += 1;
        OPEN(INTERVAL_MSG);
        long status = MsgSend(coid, out, sizeof(out), in, sizeof(in));
        CLOSE(INTERVAL_MSG);
        if (status != 0) {
            return failed("MsgSend");
        }
    }
    return 0;
}

static int with_timeout(int coid)
{
    uint32_t out[2] = {sizeof(out)}, in[2];

    for (int i = 0; i < ROUNDS; i++) {
        uint64_t limit = LIMIT_NS;

        OPEN(INTERVAL_MSG);
        TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_SEND | _NTO_TIMEOUT_REPLY, NULL, &limit, NULL);
        long status = MsgSend(coid, out, sizeof(out), in, sizeof(in));
        CLOSE(INTERVAL_MSG);
        if (status != 0) {
            return failed("MsgSend");
        }
    }
    return 0;
}

static const struct shape shapes[] = {
    {"plain", from_stack},   {"plain", from_heap}, {"plain", from_static},  {"plain", from_text},
    {"plain", from_pthread}, {"plain", of_64},     {"plain", of_two_parts}, {"info", from_stack},
    {"plain", with_timeout}, {"fp", with_fp},
};

int main(int argc, char **argv)
{
    int status = 0;

    if (argc >= 2 && strcmp(argv[1], "client") != 0) {
        return server(argv[1]);
    }
    null_calls();
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(*shapes) && status == 0; i++) {
        int coid = name_open(shapes[i].server, 0);

        status = coid < 0 ? failed(shapes[i].server) : shapes[i].run(coid);
        name_close(coid);
    }
    return status;
}
