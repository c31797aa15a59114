/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends a request and checks the general properties of its answer. */
#include "host/remote/remote.h"

#include "abi/errno.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned remote_call_patience_ms = REMOTE_PATIENCE_S;
static const volatile sig_atomic_t *remote_call_interrupt_count;

void remote_patience(unsigned seconds)
{
    remote_call_patience_ms = seconds;
}

void remote_interrupts(const volatile sig_atomic_t *counter)
{
    remote_call_interrupt_count = counter;
}

/* The target has newlib's numbers. */
int remote_error(int32_t theirs)
{
    static const struct {
        int theirs, here;
    } rows[] = {
#define E(name, number) {number, name},
        KYMO_ERRNO_LIST(E)
#undef E
            {KYMO_D_ESHUTDOWN, ESHUTDOWN},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (rows[i].theirs == -theirs) {
            return -rows[i].here;
        }
    }
    return -EIO;
}

static int remote_call_fail_with(struct remote *r, int error, const char *what)
{
    if (!*r->gone) {
        snprintf(r->gone, sizeof(r->gone), "%.*s", (int)sizeof(r->gone) - 1,
                 what ? what : "no reason given");
    }
    return error;
}

int remote_nonsense(struct remote *r, const char *what)
{
    char text[sizeof(r->gone)];

    snprintf(text, sizeof(text), "malformed answer from the target: %.60s", what);
    return remote_call_fail_with(r, -EPROTO, text);
}

bool remote_text_ok(const char *text, size_t room)
{
    for (size_t i = 0; i < room; i++) {
        if (text[i] == '\0') {
            return true;
        }
        if (text[i] < 0x20 || text[i] > 0x7e) {
            return false;
        }
    }
    return false;
}

static bool remote_call_make_room(struct remote *r, size_t bytes)
{
    uint8_t *bigger = bytes <= r->room ? r->message : realloc(r->message, bytes);

    if (bigger) {
        r->room = bytes > r->room ? bytes : r->room;
        r->message = bigger;
    }
    return bigger != NULL;
}

static uint64_t remote_call_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool is_interrupted(uint64_t waited_ms)
{
    return remote_call_interrupt_count &&
           *remote_call_interrupt_count >= (waited_ms < REMOTE_INTERRUPTED_S * 1000 ? 2 : 1);
}

static void say_waiting(void)
{
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr,
                "dtrace: the target has not answered for %d s; waiting for up to %u s "
                "(--timeout); ^C twice ends at once\n",
                REMOTE_NOTICE_S, remote_call_patience_ms);
    }
}

/* A request that was sent is waited for: its answer would be taken for the next one's. */
long remote_wait_for(struct wire *wire, void *message, size_t room)
{
    uint64_t began = remote_call_now_ms(), waited = 0;
    bool said = false;
    long bytes;

    for (;;) {
        bytes = wire->ops->receive(wire, message, room, 500);
        waited = remote_call_now_ms() - began;
        if (bytes != -EAGAIN || waited >= remote_call_patience_ms * 1000ull) {
            return bytes;
        }
        if (is_interrupted(waited)) {
            return -EINTR;
        }
        if (!said && waited >= REMOTE_NOTICE_S * 1000) {
            said = true;
            say_waiting();
        }
    }
}

static long remote_call_receive_answer(struct remote *r)
{
    char text[sizeof(r->gone)];
    long bytes = remote_wait_for(r->wire, r->message, r->room);

    if (bytes == -EINTR) {
        return remote_call_fail_with(r, -EPIPE, "interrupted while the target did not answer");
    }
    if (bytes == -EAGAIN) {
        snprintf(text, sizeof(text), "the target did not answer for %u s (--timeout)",
                 remote_call_patience_ms);
        return remote_call_fail_with(r, -EPIPE, text);
    }
    if (bytes == -EMSGSIZE) {
        return remote_nonsense(r, "more than there is room for");
    }
    return bytes < 0 ? remote_call_fail_with(r, -EPIPE, r->wire->ops->reason(r->wire)) : bytes;
}

static int remote_call_check_answer(struct remote *r, const struct kymo_d_call *asked,
                                    const struct kymo_d_call *call, size_t bytes)
{
    if (bytes != sizeof(*call) + call->out_bytes || call->out_bytes > asked->out_bytes) {
        return remote_nonsense(r, "the size");
    }
    if (call->command != asked->command) {
        return remote_nonsense(r, "another command");
    }
    if (call->result > 0 || call->result < -4095 ||
        (call->result && call->out_bytes && call->command != KYMO_D_CREATE)) {
        return remote_nonsense(r, "the result");
    }
    return call->result ? remote_error(call->result) : 0;
}

int remote_call(struct remote *r, struct kymo_d_call *call, const void *in, const uint8_t **out)
{
    const struct kymo_d_call asked = *call;
    size_t request = sizeof(asked) + asked.in_bytes, answer = sizeof(asked) + asked.out_bytes;

    call->out_bytes = 0;
    *out = NULL;
    if (*r->gone) {
        return -EPIPE;
    }
    if (!remote_call_make_room(r, request > answer ? request : answer)) {
        return -ENOMEM;
    }
    memcpy(r->message, &asked, sizeof(asked));
    memcpy(r->message + sizeof(asked), in ? in : "", asked.in_bytes);
    if (r->wire->ops->send(r->wire, r->message, request) != 0) {
        return remote_call_fail_with(r, -EPIPE, r->wire->ops->reason(r->wire));
    }
    long bytes = remote_call_receive_answer(r);
    if (bytes < (long)sizeof(*call)) {
        return bytes < 0 ? (int)bytes : remote_nonsense(r, "less than a head");
    }
    memcpy(call, r->message, sizeof(*call));
    *out = r->message + sizeof(*call);
    int error = remote_call_check_answer(r, &asked, call, (size_t)bytes);
    if (!*r->gone) {
        remote_transcribe(r, &asked, in, call, *out);
    }
    return error;
}

int remote_ask(struct remote *r, struct kymo_d_call *call, void *to, size_t bytes)
{
    const uint8_t *out;

    call->out_bytes = (uint32_t)bytes;
    int error = remote_call(r, call, NULL, &out);
    if (error) {
        return error;
    }
    if (call->out_bytes != bytes) {
        return remote_nonsense(r, "too little");
    }
    if (bytes) {
        memcpy(to, out, bytes);
    }
    return 0;
}
