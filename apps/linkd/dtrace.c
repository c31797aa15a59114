/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service "dtrace": a request is a struct kymo_d_call and its bytes, passed on to the kernel,
 * whose answer goes back. One request at a time on a channel. What a channel has created it alone
 * may name, and it goes with the channel. A request for whose bytes there is no memory is taken off
 * the line and answered ENOMEM.
 *
 * Memory for requests and answers comes from the heap, or from the system if the heap has no piece
 * of that size. While a channel has a consumer it keeps the largest that an answer has had: a host
 * that has fetched a buffer once, before it starts, can always fetch it again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "apps/linkd/linkd.h"
#include "abi/sys/dtrace.h"

#define CONSUMERS 4 /* of a channel */

enum phase { IDLE, ASKED, ANSWERING };

struct piece { /* of memory */
    uint8_t *at;
    size_t bytes;
    bool mapped; /* not of the heap */
};

static struct agent {
    enum phase phase;
    struct kymo_d_call call;
    struct piece in, out;
    size_t at; /* of the answer, fetched */
    uint32_t consumers[CONSUMERS];
} agents[LINKD_CHANNELS];

static long dtrace_open(unsigned channel)
{
    memset(&agents[channel], 0, sizeof(agents[channel]));
    return LINKD_CREDIT;
}

/* Where this handle stands, or 0 a free place; -1: nowhere. */
static int consumer_find(const struct agent *agent, uint32_t handle)
{
    for (int i = 0; i < CONSUMERS; i++) {
        if (agent->consumers[i] == handle) {
            return i;
        }
    }
    return -1;
}

static void piece_free(struct piece *p)
{
    if (p->mapped) {
        munmap(p->at, p->bytes);
    } else {
        free(p->at);
    }
    *p = (struct piece){NULL, 0, false};
}

/* At least so many bytes; what was in it is lost. False: there is no memory, and nothing in p. */
static bool piece_make(struct piece *p, size_t bytes)
{
    if (p->at && p->bytes >= bytes) {
        return true;
    }
    piece_free(p);
    p->at = malloc(bytes);
    if (!p->at) {
        void *mapped =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        p->mapped = mapped != MAP_FAILED;
        p->at = p->mapped ? mapped : NULL;
    }
    p->bytes = p->at ? bytes : 0;
    return p->at != NULL;
}

static void memory_free(struct agent *agent)
{
    piece_free(&agent->in);
    piece_free(&agent->out);
}

static bool has_consumer(const struct agent *agent)
{
    for (int i = 0; i < CONSUMERS; i++) {
        if (agent->consumers[i]) {
            return true;
        }
    }
    return false;
}

static void dtrace_closed(unsigned channel)
{
    struct agent *agent = &agents[channel];

    memory_free(agent);
    for (int i = 0; i < CONSUMERS; i++) {
        struct kymo_d_call call = {.command = KYMO_D_DESTROY, .handle = agent->consumers[i]};

        if (call.handle) {
            DtraceControl(&call, NULL, NULL);
        }
    }
    memset(agent, 0, sizeof(*agent));
}

static void consumers_note(struct agent *agent, uint32_t command)
{
    bool made = command == KYMO_D_CREATE || command == KYMO_D_CLAIM;
    int place = consumer_find(agent, made ? 0 : agent->call.handle);

    if (agent->call.result != 0 || place < 0) {
        return;
    }
    if (made) {
        agent->consumers[place] = agent->call.handle;
    } else if (command == KYMO_D_DESTROY) {
        agent->consumers[place] = 0;
    }
}

static int allowed(const struct agent *agent)
{
    bool makes = agent->call.command == KYMO_D_CREATE || agent->call.command == KYMO_D_CLAIM;

    if (makes) {
        return consumer_find(agent, 0) < 0 ? -EAGAIN : 0;
    }
    return agent->call.handle == 0 || consumer_find(agent, agent->call.handle) >= 0 ? 0 : -EBADF;
}

static void call_kernel(struct agent *agent)
{
    uint32_t command = agent->call.command;

    if (DtraceControl(&agent->call, agent->in.at, agent->out.at) < 0 && agent->call.result == 0) {
        agent->call.result = -errno; /* it did not come as far as to write the answer */
        agent->call.out_bytes = 0;
    }
    consumers_note(agent, command);
}

static void answer(unsigned channel, struct agent *agent, int error)
{
    uint32_t room = agent->call.out_bytes;

    agent->call.result = 0;
    if (error == 0 && room > 0) {
        error = piece_make(&agent->out, room) ? 0 : -ENOMEM;
    }
    error = error ? error : allowed(agent);
    if (error == 0) {
        call_kernel(agent);
    }
    if (error || agent->call.out_bytes > room) {
        agent->call.result = error ? error : -EMSGSIZE;
        agent->call.out_bytes = 0;
    }
    piece_free(&agent->in);
    agent->phase = ANSWERING;
    agent->at = 0;
    error = link_send(&linkd_link, channel, sizeof(agent->call) + agent->call.out_bytes);
    if (error) {
        dtrace_closed(channel);
        serve_close(channel, error);
    }
}

/* The head is there: is what it says of the message true, and is there memory? */
static bool head_came(struct agent *agent, size_t total)
{
    if (total != sizeof(agent->call) + agent->call.in_bytes ||
        agent->call.in_bytes > KYMO_D_IN_MOST || agent->call.out_bytes > KYMO_D_OUT_MOST) {
        return false;
    }
    if (agent->call.in_bytes > 0) {
        piece_make(&agent->in, agent->call.in_bytes);
    }
    return true;
}

/* 0, or what is wrong with the message. */
static int take(struct agent *agent, const uint8_t *bytes, size_t count, size_t offset,
                size_t total)
{
    size_t head = sizeof(agent->call), part = 0;

    if (offset < head) {
        part = count < head - offset ? count : head - offset;
        memcpy((uint8_t *)&agent->call + offset, bytes, part);
        if (offset + part == head && !head_came(agent, total)) {
            return -EMSGSIZE;
        }
    }
    if (agent->in.at && count > part) {
        memcpy(agent->in.at + (offset + part - head), bytes + part, count - part);
    }
    return 0;
}

static void dtrace_data(unsigned channel, const uint8_t *bytes, size_t count, size_t offset,
                        size_t total)
{
    struct agent *agent = &agents[channel];
    int error = total < sizeof(agent->call) ? -EMSGSIZE : 0;

    if (agent->phase == ANSWERING || (offset == 0) != (agent->phase == IDLE)) {
        error = -EBUSY;
    }
    agent->phase = error ? agent->phase : ASKED;
    error = error ? error : take(agent, bytes, count, offset, total);
    if (error) {
        dtrace_closed(channel);
        serve_close(channel, error);
        return;
    }
    link_credit(&linkd_link, channel, link_cost(count, offset));
    if (offset + count == total) {
        answer(channel, agent, agent->call.in_bytes > 0 && !agent->in.at ? -ENOMEM : 0);
    }
}

static size_t dtrace_fetch(unsigned channel, size_t most, const uint8_t **bytes)
{
    struct agent *agent = &agents[channel];
    size_t head = sizeof(agent->call), end = agent->at < head ? head : SIZE_MAX;
    size_t count = most < end - agent->at ? most : end - agent->at;

    *bytes = agent->at < head ? (const uint8_t *)&agent->call + agent->at
                              : agent->out.at + (agent->at - head);
    agent->at += count;
    return count;
}

static void dtrace_sent(unsigned channel)
{
    if (!has_consumer(&agents[channel])) {
        memory_free(&agents[channel]);
    }
    agents[channel].phase = IDLE;
}

const struct service service_dtrace = {
    .name = "dtrace",
    .open = dtrace_open,
    .data = dtrace_data,
    .fetch = dtrace_fetch,
    .sent = dtrace_sent,
    .closed = dtrace_closed,
};
