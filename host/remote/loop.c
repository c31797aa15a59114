/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wire to this process: requests go to D's control call (trace/dtrace/control.c) over the
 * machine of `self`, as a board's kernel would serve them. For the tests: `-t loop` must print what
 * `-t self` prints. in and out are copies of the exact size, so that a sanitizer sees who goes
 * beyond.
 */
#include "host/remote/wire.h"
#include "host/self/target.h"
#include "trace/dtrace/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct wire_of_loop {
    struct wire base;
    void *answer; /* NULL: none waits */
    size_t bytes;
};

static struct wire_of_loop *of(struct wire *wire)
{
    return (struct wire_of_loop *)wire;
}

static int serve(struct wire_of_loop *w, struct kymo_d_call *call, const void *in)
{
    void *out = calloc(1, call->out_bytes + 1u), *copy = malloc(call->in_bytes + 1u);

    if (out && copy) {
        memcpy(copy, in, call->in_bytes);
        self_control(w, call, copy, out);
        w->bytes = sizeof(*call) + call->out_bytes;
        w->answer = malloc(w->bytes);
    }
    if (w->answer) {
        memcpy(w->answer, call, sizeof(*call));
        memcpy((char *)w->answer + sizeof(*call), out, call->out_bytes);
    }
    free(out);
    free(copy);
    return w->answer ? 0 : -EPIPE;
}

static int loop_send(struct wire *wire, const void *message, size_t bytes)
{
    struct kymo_d_call call;

    memcpy(&call, message, sizeof(call));
    if (bytes != sizeof(call) + call.in_bytes || of(wire)->answer) {
        return -EPIPE;
    }
    return serve(of(wire), &call, (const char *)message + sizeof(call));
}

static long loop_receive(struct wire *wire, void *message, size_t room, int timeout_ms)
{
    struct wire_of_loop *w = of(wire);
    size_t bytes = w->bytes;

    (void)timeout_ms;
    if (!w->answer) {
        return -EPIPE;
    }
    if (bytes > room) {
        return -EMSGSIZE;
    }
    memcpy(message, w->answer, bytes);
    free(w->answer);
    w->answer = NULL;
    return (long)bytes;
}

static const char *loop_reason(struct wire *wire)
{
    (void)wire;
    return "no answer";
}

static void loop_close(struct wire *wire)
{
    self_control_end(wire);
    free(of(wire)->answer);
    free(wire);
}

static const struct wire_ops loop_ops = {loop_send, loop_receive, loop_reason, loop_close, NULL};

struct wire *wire_loop(const char **why)
{
    struct wire_of_loop *w = calloc(1, sizeof(*w));

    *why = "Not enough space";
    if (!w) {
        return NULL;
    }
    self_control_start();
    w->base.ops = &loop_ops;
    return &w->base;
}
