/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service "console": the console's text, from the oldest that is still kept, and the host's
 * typed input. Each channel reads the text at its own pace; gaps are reported in the text. The
 * console is read only after its event, so it never waits for the host. Refuses a fifth channel
 * (EAGAIN) and input above LINK_CONSOLE_MOST (EMSGSIZE).
 */
#include <stdio.h>
#include <string.h>

#include "abi/errno.h"
#include "lib/linkd/service.h"

#define KERNEL_MS 250 /* interval of reading the kernel's own text from the console */

static struct linkd_console_channel *linkd_console_find_channel(struct linkd *linkd,
                                                                unsigned channel)
{
    for (unsigned i = 0; i < LINKD_CONSOLES; i++) {
        if (linkd->consoles[i].open && linkd->consoles[i].channel == channel) {
            return &linkd->consoles[i];
        }
    }
    return NULL;
}

static void linkd_console_end_channel(struct linkd *linkd, struct linkd_console_channel *c,
                                      int error)
{
    c->open = false;
    linkd_close(linkd, c->channel, error);
}

/* Sends the next text, after a note about text that was lost before it. */
static void send_text(struct linkd *linkd, struct linkd_console_channel *c)
{
    uint8_t text[LINK_CONSOLE_MOST];
    uint64_t position = c->position;
    long count =
        linkd->config.port->console_read(linkd->config.context, &position, text, sizeof(text));
    size_t note = 0;

    if (count < 0) {
        linkd_console_end_channel(linkd, c, (int)count);
        return;
    }
    if (count == 0) {
        return;
    }
    if (c->position != 0 && position != c->position) {
        note = (size_t)snprintf((char *)c->text, LINKD_NOTE, "\n[%lu bytes lost]\n",
                                (unsigned long)(position - c->position));
    }
    memcpy(c->text + note, text, (size_t)count);
    c->position = position + (uint64_t)count;
    c->bytes = note + (size_t)count;
    c->at = 0;
    c->sending = link_send(&linkd->link, c->channel, c->bytes) == 0;
}

void linkd_console_event(struct linkd *linkd)
{
    for (unsigned i = 0; i < LINKD_CONSOLES; i++) {
        if (linkd->consoles[i].open && !linkd->consoles[i].sending) {
            send_text(linkd, &linkd->consoles[i]);
        }
    }
}

uint32_t linkd_console_tick(struct linkd *linkd, uint32_t now)
{
    bool open = false;

    for (unsigned i = 0; i < LINKD_CONSOLES; i++) {
        open |= linkd->consoles[i].open;
    }
    if (!open) {
        linkd->console_due = now;
        return LINKD_NO_TIMER;
    }
    if ((int32_t)(now - linkd->console_due) >= 0) {
        linkd->console_due = now + KERNEL_MS;
        linkd_console_event(linkd);
    }
    return linkd->console_due - now;
}

static long linkd_console_opened(struct linkd *linkd, unsigned channel)
{
    const struct linkd_port *port = linkd->config.port;
    struct linkd_console_channel *c = linkd->consoles;

    while (c->open) {
        if (++c == linkd->consoles + LINKD_CONSOLES) {
            return -EAGAIN;
        }
    }
    int error = port->console_open(linkd->config.context);
    if (error) {
        return error;
    }
    memset(c, 0, sizeof(*c));
    c->open = true;
    c->channel = channel;
    port->defer(linkd->config.context, LINKD_EVENT_CONSOLE);
    return LINKD_CREDIT;
}

static void console_data(struct linkd *linkd, unsigned channel, const uint8_t *bytes, size_t count,
                         size_t offset, size_t total)
{
    struct linkd_console_channel *c = linkd_console_find_channel(linkd, channel);

    if (total > LINK_CONSOLE_MOST) {
        linkd_console_end_channel(linkd, c, -EMSGSIZE);
        return;
    }
    memcpy(c->typing + offset, bytes, count);
    linkd_taken(linkd, channel, count, offset);
    c->typed = offset + count;
    if (c->typed == total && total > 0) {
        int error = linkd->config.port->console_type(linkd->config.context, c->typing, c->typed);

        if (error) {
            linkd_console_end_channel(linkd, c, error);
        }
    }
}

static size_t console_fetch(struct linkd *linkd, unsigned channel, size_t most,
                            const uint8_t **bytes)
{
    struct linkd_console_channel *c = linkd_console_find_channel(linkd, channel);

    return linkd_fetch_next(NULL, 0, c->text, c->bytes, &c->at, most, bytes);
}

static void console_sent(struct linkd *linkd, unsigned channel)
{
    linkd_console_find_channel(linkd, channel)->sending = false;
    linkd->config.port->defer(linkd->config.context, LINKD_EVENT_CONSOLE);
}

static void console_closed(struct linkd *linkd, unsigned channel)
{
    struct linkd_console_channel *c = linkd_console_find_channel(linkd, channel);

    if (c) {
        c->open = false;
    }
}

const struct linkd_service linkd_console = {
    .name = "console",
    .open = linkd_console_opened,
    .data = console_data,
    .fetch = console_fetch,
    .sent = console_sent,
    .closed = console_closed,
};
