/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wire to this process, for the tests: `-t loop` must print what `-t self` prints. Both ends of
 * the link are here, and between them is memory: a host's end, and the target's, which is
 * lib/linkd/ with the one service "dtrace" over D's control call (trace/dtrace/control.c) of
 * `self`. So requests and answers go through frames as they do to a board. Time stops
 * between two calls, so silence never takes the link down.
 */
#include "host/remote/wire.h"
#include "host/self/target.h"
#include "lib/linkd/linkd.h"
#include "trace/dtrace/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_MOST = 4096, WINDOW = 16, LINE_BYTES = 16384, HANG_MS = 10000 };

/* The bytes that one end has sent and the other has not read. */
struct loop_line {
    size_t bytes;
    uint8_t byte[LINE_BYTES];
};

struct wire_of_loop {
    struct wire base;
    uint32_t now; /* ms */
    struct loop_line to_target, to_host;
    struct linkd target;
    struct link host;
    struct link_channel channels[1];
    int channel;
    bool opened;
    bool gone; /* the channel or the link */
    const uint8_t *request;
    size_t request_at;
    uint8_t *answer; /* NULL: none has come */
    size_t answer_bytes, answer_got;
    uint8_t target_memory[LINKD_MEMORY(FRAME_MOST, WINDOW)];
    uint8_t host_memory[LINK_MEMORY(FRAME_MOST, WINDOW)];
};

static struct wire_of_loop *remote_loop_wire_of(struct wire *wire)
{
    return (struct wire_of_loop *)wire;
}

static size_t line_put(struct loop_line *line, const uint8_t *bytes, size_t count)
{
    size_t room = sizeof(line->byte) - line->bytes;

    count = count < room ? count : room;
    memcpy(line->byte + line->bytes, bytes, count);
    line->bytes += count;
    return count;
}

static size_t remote_loop_line_take(struct loop_line *line, uint8_t *bytes, size_t room)
{
    size_t count = line->bytes < room ? line->bytes : room;

    memcpy(bytes, line->byte, count);
    line->bytes -= count;
    memmove(line->byte, line->byte + count, line->bytes);
    return count;
}

/* ---- the target -------------------------------------------------------------------- */

static size_t target_read(void *context, uint8_t *bytes, size_t room)
{
    return remote_loop_line_take(&((struct wire_of_loop *)context)->to_target, bytes, room);
}

static size_t target_write(void *context, const uint8_t *bytes, size_t count)
{
    return line_put(&((struct wire_of_loop *)context)->to_host, bytes, count);
}

static void target_flush(void *context)
{
    (void)context;
}

static uint32_t target_now(void *context)
{
    return ((struct wire_of_loop *)context)->now;
}

static void target_host_time(void *context, uint64_t ns)
{
    (void)context;
    (void)ns;
}

/* in and out are copies of the exact size, so that a sanitizer sees an access beyond them. */
static int target_dtrace(void *context, struct kymo_d_call *call, const void *in, void *out)
{
    uint32_t in_bytes = call->in_bytes, room = call->out_bytes;
    void *in_copy = malloc(in_bytes + 1u), *out_copy = calloc(1, room + 1u);
    int error = -ENOMEM;

    if (in_copy && out_copy) {
        if (in_bytes > 0) {
            memcpy(in_copy, in, in_bytes);
        }
        error = self_control(context, call, in_copy, out_copy);
        if (room > 0) {
            memcpy(out, out_copy, room);
        }
    }
    free(in_copy);
    free(out_copy);
    return error;
}

static const struct linkd_port target_port = {
    .read = target_read,
    .write = target_write,
    .flush = target_flush,
    .now = target_now,
    .host_time = target_host_time,
    .dtrace = target_dtrace,
};

/* ---- the host ---------------------------------------------------------------------- */

static void host_up(void *context)
{
    (void)context;
}

static void host_down(void *context, enum link_down why)
{
    (void)why;
    ((struct wire_of_loop *)context)->gone = true;
}

static long remote_loop_host_open(void *context, unsigned channel, const char *service)
{
    (void)context;
    (void)channel;
    (void)service;
    return -ENOENT; /* a target opens no channels */
}

static void host_opened(void *context, unsigned channel)
{
    (void)channel;
    ((struct wire_of_loop *)context)->opened = true;
}

static void host_data(void *context, unsigned channel, const uint8_t *bytes, size_t count,
                      size_t offset, size_t total)
{
    struct wire_of_loop *w = context;

    if (offset == 0) {
        free(w->answer);
        w->answer = malloc(total + 1);
        w->answer_bytes = total;
    }
    if (w->answer) {
        memcpy(w->answer + offset, bytes, count);
    }
    w->answer_got = offset + count;
    link_credit(&w->host, channel, link_cost(count, offset));
}

static size_t host_fetch(void *context, unsigned channel, size_t most, const uint8_t **bytes)
{
    struct wire_of_loop *w = context;

    (void)channel;
    *bytes = w->request + w->request_at;
    w->request_at += most;
    return most;
}

static void host_sent(void *context, unsigned channel)
{
    (void)channel;
    ((struct wire_of_loop *)context)->request = NULL;
}

static void host_closed(void *context, unsigned channel, int reason)
{
    (void)channel;
    (void)reason;
    ((struct wire_of_loop *)context)->gone = true;
}

static const struct link_user host_user = {
    .up = host_up,
    .down = host_down,
    .open = remote_loop_host_open,
    .opened = host_opened,
    .data = host_data,
    .fetch = host_fetch,
    .sent = host_sent,
    .closed = host_closed,
};

/* Lets both ends do what they can; a millisecond passes only if neither has a byte to send. */
static void remote_loop_pump_ends(struct wire_of_loop *w)
{
    const uint8_t *out;
    uint8_t bytes[1024];
    size_t count;
    bool idle = true;

    while ((count = link_output(&w->host, w->now, &out)) > 0) {
        size_t taken = line_put(&w->to_target, out, count);

        link_output_done(&w->host, taken);
        idle &= taken == 0;
        if (taken < count) {
            break;
        }
    }
    linkd_input(&w->target);
    linkd_output(&w->target);
    while ((count = remote_loop_line_take(&w->to_host, bytes, sizeof(bytes))) > 0) {
        link_input(&w->host, w->now, bytes, count);
        idle = false;
    }
    w->now += idle;
}

/* ---- the wire ---------------------------------------------------------------------- */

static int loop_send(struct wire *wire, const void *message, size_t bytes)
{
    struct wire_of_loop *w = remote_loop_wire_of(wire);
    uint32_t until = w->now + HANG_MS;

    if (w->gone || w->answer) {
        return -EPIPE;
    }
    w->request = message;
    w->request_at = 0;
    int error = link_send(&w->host, (unsigned)w->channel, bytes);
    while (!error && w->request && !w->gone && w->now != until) {
        remote_loop_pump_ends(w);
    }
    return error ? error : w->request ? -EPIPE : 0;
}

static long loop_receive(struct wire *wire, void *message, size_t room, int timeout_ms)
{
    struct wire_of_loop *w = remote_loop_wire_of(wire);
    uint32_t until = w->now + HANG_MS;

    (void)timeout_ms;
    while (!w->gone && (!w->answer || w->answer_got < w->answer_bytes) && w->now != until) {
        remote_loop_pump_ends(w);
    }
    if (!w->answer || w->answer_got < w->answer_bytes) {
        return -EPIPE;
    }
    if (w->answer_bytes > room) {
        return -EMSGSIZE;
    }
    memcpy(message, w->answer, w->answer_bytes);
    free(w->answer);
    w->answer = NULL;
    return (long)w->answer_bytes;
}

static const char *loop_reason(struct wire *wire)
{
    (void)wire;
    return "no answer";
}

static void loop_close(struct wire *wire)
{
    linkd_lost(&remote_loop_wire_of(wire)->target);
    self_control_end(wire);
    free(remote_loop_wire_of(wire)->answer);
    free(wire);
}

static const struct wire_ops loop_ops = {loop_send, loop_receive, loop_reason, loop_close, NULL};

/* Connects the ends: 0, or a negative errno. */
static int connect_ends(struct wire_of_loop *w)
{
    static const struct linkd_service *const services[] = {&linkd_dtrace, NULL};
    const struct linkd_config target = {
        .port = &target_port,
        .context = w,
        .services = services,
        .memory = w->target_memory,
        .frame_most = FRAME_MOST,
        .window = WINDOW,
        .seed = 1,
        .board = "loop",
    };
    const struct link_config host = {
        .user = &host_user,
        .context = w,
        .memory = w->host_memory,
        .channel = w->channels,
        .frame_most = FRAME_MOST,
        .window = WINDOW,
        .channels = 1,
        .role = LINK_HOST,
        .hello_ms = 1,
        .seed = 2,
    };
    int error = linkd_init(&w->target, &target);

    error = error ? error : link_init(&w->host, &host, w->now);
    while (!error && !link_is_up(&w->host) && w->now < HANG_MS) {
        remote_loop_pump_ends(w);
    }
    w->channel = error ? error : link_open(&w->host, "dtrace", LINK_MESSAGE_MOST);
    while (w->channel >= 0 && !w->opened && !w->gone && w->now < HANG_MS) {
        remote_loop_pump_ends(w);
    }
    return w->opened ? 0 : -EPIPE;
}

struct wire *wire_loop(const char **why)
{
    struct wire_of_loop *w = calloc(1, sizeof(*w));

    *why = "Not enough space";
    if (!w) {
        return NULL;
    }
    self_control_start();
    w->base.ops = &loop_ops;
    if (connect_ends(w) != 0) {
        *why = "the ends of the link don't meet";
        loop_close(&w->base);
        return NULL;
    }
    return &w->base;
}
