/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service "dtrace": a request is a struct kymo_d_call and its bytes, passed on to D's control
 * call, whose answer goes back. One request at a time on a channel (EBUSY). Consumers that were
 * created on a channel can be named only there, and are destroyed with it. A request for whose
 * bytes there is no memory is read to its end and answered ENOMEM.
 *
 * Memory for requests and answers comes from the heap, or from port.memory_map() if the heap has
 * no piece of that size. While a channel has a consumer it keeps the largest piece that an answer
 * needed: a host that has fetched a buffer once, before it starts, can always fetch it again.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/errno.h"
#include "lib/linkd/service.h"

/* ---- memory of requests and answers ------------------------------------------------ */

static void memory_free(struct linkd *linkd, struct linkd_memory *memory)
{
    if (memory->mapped) {
        linkd->config.port->memory_unmap(linkd->config.context, memory->at, memory->bytes);
    } else {
        free(memory->at);
    }
    *memory = (struct linkd_memory){NULL, 0, false};
}

/* Makes the memory at least this large; the contents are lost. Returns false if there is none: it
 * is empty then. */
static bool memory_make(struct linkd *linkd, struct linkd_memory *memory, size_t bytes)
{
    const struct linkd_port *port = linkd->config.port;

    if (memory->at && memory->bytes >= bytes) {
        return true;
    }
    memory_free(linkd, memory);
    memory->at = malloc(bytes);
    if (!memory->at && port->memory_map) {
        memory->at = port->memory_map(linkd->config.context, bytes);
        memory->mapped = memory->at != NULL;
    }
    memory->bytes = memory->at ? bytes : 0;
    return memory->at != NULL;
}

/* ---- consumers of a channel -------------------------------------------------------- */

/* Returns the index of this handle, or of a free entry for 0; -1: there is none. */
static int consumer_find(const struct linkd_dtrace_channel *d, uint32_t handle)
{
    for (int i = 0; i < LINKD_CONSUMERS; i++) {
        if (d->consumers[i] == handle) {
            return i;
        }
    }
    return -1;
}

static bool makes_consumer(uint32_t command)
{
    return command == KYMO_D_CREATE || command == KYMO_D_CLAIM;
}

/* A request may name only the channel's own consumers. */
static int is_allowed(const struct linkd_dtrace_channel *d)
{
    if (makes_consumer(d->call.command)) {
        return consumer_find(d, 0) < 0 ? -EAGAIN : 0;
    }
    return d->call.handle == 0 || consumer_find(d, d->call.handle) >= 0 ? 0 : -EBADF;
}

/* Updates the table of the channel's consumers after a call. */
static void consumers_update(struct linkd_dtrace_channel *d, uint32_t command)
{
    bool made = makes_consumer(command);
    int i = consumer_find(d, made ? 0 : d->call.handle);

    if (d->call.result != 0 || i < 0) {
        return;
    }
    if (made) {
        d->consumers[i] = d->call.handle;
    } else if (command == KYMO_D_DESTROY) {
        d->consumers[i] = 0;
    }
}

/* ---- the channel ------------------------------------------------------------------- */

static long dtrace_open(struct linkd *linkd, unsigned channel)
{
    memset(&linkd->dtrace[channel], 0, sizeof(linkd->dtrace[channel]));
    return LINKD_CREDIT;
}

static void dtrace_closed(struct linkd *linkd, unsigned channel)
{
    struct linkd_dtrace_channel *d = &linkd->dtrace[channel];

    memory_free(linkd, &d->in);
    memory_free(linkd, &d->out);
    for (int i = 0; i < LINKD_CONSUMERS; i++) {
        struct kymo_d_call call = {.command = KYMO_D_DESTROY, .handle = d->consumers[i]};

        if (call.handle) {
            linkd->config.port->dtrace(linkd->config.context, &call, NULL, NULL);
        }
    }
    memset(d, 0, sizeof(*d));
}

static void linkd_dtrace_end_channel(struct linkd *linkd, unsigned channel, int error)
{
    dtrace_closed(linkd, channel);
    linkd_close(linkd, channel, error);
}

/* The request is complete: makes the call and sends its answer. */
static void linkd_dtrace_answer_request(struct linkd *linkd, unsigned channel)
{
    struct linkd_dtrace_channel *d = &linkd->dtrace[channel];
    uint32_t room = d->call.out_bytes, command = d->call.command;
    int error = d->call.in_bytes > 0 && !d->in.at ? -ENOMEM : 0;

    d->call.result = 0;
    if (error == 0 && room > 0 && !memory_make(linkd, &d->out, room)) {
        error = -ENOMEM;
    }
    if (makes_consumer(command)) {
        d->call.handle = 0; /* the request's is ignored: the call's answer names the new one */
    }
    error = error ? error : is_allowed(d);
    if (error == 0) {
        int failed =
            linkd->config.port->dtrace(linkd->config.context, &d->call, d->in.at, d->out.at);

        if (failed && d->call.result == 0) { /* the call failed before it wrote an answer */
            d->call.result = failed;
            d->call.out_bytes = 0;
        }
        consumers_update(d, command);
    }
    if (error || d->call.out_bytes > room) {
        d->call.result = error ? error : -EMSGSIZE;
        d->call.out_bytes = 0;
    }
    memory_free(linkd, &d->in);
    d->phase = LINKD_DTRACE_ANSWERING;
    d->at = 0;
    error = link_send(&linkd->link, channel, sizeof(d->call) + d->call.out_bytes);
    if (error) {
        linkd_dtrace_end_channel(linkd, channel, error);
    }
}

/* Takes a part of a request. When the head is complete, its lengths are checked, and memory for the
 * rest is allocated, if available. */
static int take_request(struct linkd *linkd, struct linkd_dtrace_channel *d, const uint8_t *bytes,
                        size_t count, size_t offset, size_t total)
{
    size_t head = sizeof(d->call), part = 0;

    if (offset < head) {
        part = count < head - offset ? count : head - offset;
        memcpy((uint8_t *)&d->call + offset, bytes, part);
        if (offset + part == head) {
            if (total != head + d->call.in_bytes || d->call.in_bytes > KYMO_D_IN_MOST ||
                d->call.out_bytes > KYMO_D_OUT_MOST) {
                return -EMSGSIZE;
            }
            if (d->call.in_bytes > 0) {
                memory_make(linkd, &d->in, d->call.in_bytes);
            }
        }
    }
    if (d->in.at && count > part) {
        memcpy(d->in.at + (offset + part - head), bytes + part, count - part);
    }
    return 0;
}

static void dtrace_data(struct linkd *linkd, unsigned channel, const uint8_t *bytes, size_t count,
                        size_t offset, size_t total)
{
    struct linkd_dtrace_channel *d = &linkd->dtrace[channel];
    int error = total < sizeof(d->call) ? -EMSGSIZE : 0;

    if (d->phase == LINKD_DTRACE_ANSWERING || (offset == 0) != (d->phase == LINKD_DTRACE_IDLE)) {
        error = -EBUSY;
    }
    if (error == 0) {
        d->phase = LINKD_DTRACE_ASKED;
        error = take_request(linkd, d, bytes, count, offset, total);
    }
    if (error) {
        linkd_dtrace_end_channel(linkd, channel, error);
        return;
    }
    linkd_taken(linkd, channel, count, offset);
    if (offset + count == total) {
        linkd_dtrace_answer_request(linkd, channel);
    }
}

static size_t dtrace_fetch(struct linkd *linkd, unsigned channel, size_t most,
                           const uint8_t **bytes)
{
    struct linkd_dtrace_channel *d = &linkd->dtrace[channel];

    return linkd_fetch_next(&d->call, sizeof(d->call), d->out.at, d->call.out_bytes, &d->at, most,
                            bytes);
}

static void dtrace_sent(struct linkd *linkd, unsigned channel)
{
    struct linkd_dtrace_channel *d = &linkd->dtrace[channel];
    bool has_consumer = false;

    for (int i = 0; i < LINKD_CONSUMERS; i++) {
        has_consumer |= d->consumers[i] != 0;
    }
    if (!has_consumer) {
        memory_free(linkd, &d->in);
        memory_free(linkd, &d->out);
    }
    d->phase = LINKD_DTRACE_IDLE;
}

const struct linkd_service linkd_dtrace = {
    .name = "dtrace",
    .open = dtrace_open,
    .data = dtrace_data,
    .fetch = dtrace_fetch,
    .sent = dtrace_sent,
    .closed = dtrace_closed,
};
