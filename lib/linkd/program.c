/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service "program": starts a program for the host, which traces it (-c of `kymo dtrace`), and
 * finds running ones (-p). A program that it starts is held until the host releases it; then it
 * runs like any other. One program and one request at a time on a channel. If the channel closes, a
 * program that is still held is ended; a running one continues. Refuses a second program (EBUSY)
 * and a message that is too long (EMSGSIZE).
 */
#include <stdlib.h>
#include <string.h>

#include "abi/errno.h"
#include "lib/linkd/service.h"

_Static_assert(LINK_PROGRAM_LINE < LINK_PROGRAM_TEXT, "a NUL is added");

static long linkd_program_opened(struct linkd *linkd, unsigned channel)
{
    linkd->programs[channel] = calloc(1, sizeof(*linkd->programs[channel]));
    return linkd->programs[channel] ? LINKD_CREDIT : -ENOMEM;
}

static void program_closed(struct linkd *linkd, unsigned channel)
{
    struct linkd_program_channel *p = linkd->programs[channel];

    linkd->programs[channel] = NULL;
    if (p->pid) {
        linkd->config.port->program_disown(linkd->config.context, p->pid);
    }
    free(p);
}

/* ---- requests ---------------------------------------------------------------------- */

static int linkd_program_start(struct linkd *linkd, struct linkd_program_channel *p)
{
    size_t bytes = 0;

    if (p->pid) {
        p->text_bytes = 0;
        return -EBUSY;
    }
    p->text[p->text_bytes] = '\0';
    int pid = linkd->config.port->program_start(linkd->config.context, p->text, p->text, &bytes);
    p->text_bytes = bytes;
    if (pid < 0) {
        return pid;
    }
    p->head.pid = p->pid = pid;
    p->held = true;
    return 0;
}

static int linkd_program_run_request(struct linkd *linkd, struct linkd_program_channel *p)
{
    if (!p->held) {
        return -ESRCH;
    }
    p->held = false;
    return linkd->config.port->program_run(linkd->config.context, p->pid);
}

static int linkd_program_ended(struct linkd *linkd, struct linkd_program_channel *p)
{
    int status = 0;
    int result =
        p->pid ? linkd->config.port->program_ended(linkd->config.context, p->pid, &status) : -1;

    if (result <= 0) {
        return result == 0 ? -EAGAIN : -ESRCH;
    }
    p->pid = 0;
    p->held = false;
    p->head.status = status;
    return 0;
}

/* from: the request's pid; no such process needs to exist. */
static int linkd_program_find(struct linkd *linkd, struct linkd_program_channel *p, int from)
{
    size_t bytes = 0;

    p->text[p->text_bytes] = '\0';
    int pid = linkd->config.port->program_find(linkd->config.context, from < 1 ? 1 : from, p->text,
                                               &bytes);
    p->text_bytes = pid < 0 ? 0 : bytes;
    p->head.pid = pid < 0 ? 0 : pid;
    return pid < 0 ? pid : 0;
}

static int answer_to(struct linkd *linkd, struct linkd_program_channel *p)
{
    const struct link_program asked = p->head;
    const uint32_t kind = asked.kind;

    p->head = (struct link_program){.kind = kind};
    if (kind == LINK_PROGRAM_START) {
        return linkd_program_start(linkd, p);
    }
    if (kind == LINK_PROGRAM_FIND) {
        return linkd_program_find(linkd, p, asked.pid);
    }
    p->text_bytes = 0;
    return kind == LINK_PROGRAM_RUN     ? linkd_program_run_request(linkd, p)
           : kind == LINK_PROGRAM_ENDED ? linkd_program_ended(linkd, p)
                                        : -EINVAL;
}

/* ---- the channel ------------------------------------------------------------------- */

static void linkd_program_end_channel(struct linkd *linkd, unsigned channel, int error)
{
    program_closed(linkd, channel);
    linkd_close(linkd, channel, error);
}

static void program_data(struct linkd *linkd, unsigned channel, const uint8_t *bytes, size_t count,
                         size_t offset, size_t total)
{
    struct linkd_program_channel *p = linkd->programs[channel];

    if (p->answering || total < sizeof(p->head) || total > sizeof(p->head) + LINK_PROGRAM_LINE) {
        linkd_program_end_channel(linkd, channel, p->answering ? -EBUSY : -EMSGSIZE);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = offset + i;

        if (at < sizeof(p->head)) {
            ((uint8_t *)&p->head)[at] = bytes[i];
        } else {
            p->text[at - sizeof(p->head)] = (char)bytes[i];
        }
    }
    linkd_taken(linkd, channel, count, offset);
    if (offset + count < total) {
        return;
    }
    p->text_bytes = total - sizeof(p->head);
    p->head.result = answer_to(linkd, p);
    p->answering = true;
    p->at = 0;
    int error = link_send(&linkd->link, channel, sizeof(p->head) + p->text_bytes);
    if (error) {
        linkd_program_end_channel(linkd, channel, error);
    }
}

static size_t program_fetch(struct linkd *linkd, unsigned channel, size_t most,
                            const uint8_t **bytes)
{
    struct linkd_program_channel *p = linkd->programs[channel];

    return linkd_fetch_next(&p->head, sizeof(p->head), p->text, p->text_bytes, &p->at, most, bytes);
}

static void program_sent(struct linkd *linkd, unsigned channel)
{
    linkd->programs[channel]->answering = false;
}

const struct linkd_service linkd_program = {
    .name = "program",
    .open = linkd_program_opened,
    .data = program_data,
    .fetch = program_fetch,
    .sent = program_sent,
    .closed = program_closed,
};
