/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service "console": the console's text, from the oldest that is still kept on, and the host's
 * typed input. Each channel reads the text at its own pace; gaps are reported in the text. The
 * console is asked only after its pulse, so it never waits for the host.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>

#include "apps/console/protocol.h"
#include "abi/sys/neutrino.h"
#include "apps/linkd/linkd.h"
#include "lib/link/service.h"

#define EARS 4 /* channels at once */
#define NOTE 40
#define KERNEL_MS 250 /* how often it is asked for what the kernel has printed */

static struct ear {
    bool open, sending;
    unsigned channel;
    uint64_t position; /* of the console's text: the next to be fetched */
    size_t bytes, at;
    uint8_t text[NOTE + LINK_CONSOLE_MOST];
    size_t typed; /* of the host's message */
    uint8_t typing[LINK_CONSOLE_MOST];
} ears[EARS];

static int console; /* connection to the console server, 0: none yet */

static struct ear *ear_of(unsigned channel)
{
    for (unsigned i = 0; i < EARS; i++) {
        if (ears[i].open && ears[i].channel == channel) {
            return &ears[i];
        }
    }
    return NULL;
}

static void hang_up(struct ear *ear, int error)
{
    ear->open = false;
    serve_close(ear->channel, error);
}

/* How much of the text was lost to this ear, as a line in its text. */
static size_t note_gap(struct ear *ear, uint64_t found)
{
    uint64_t lost = ear->position ? found - ear->position : 0;

    ear->position = found;
    return lost == 0 ? 0
                     : (size_t)snprintf((char *)ear->text, NOTE, "\n[%lu bytes lost]\n",
                                        (unsigned long)lost);
}

/* Asks the console for text; none: it will send a pulse. */
static void ear_next(struct ear *ear)
{
    const struct console_listen ask = {.type = CONSOLE_LISTEN,
                                       .chid = linkd_chid,
                                       .code = PULSE_CONSOLE,
                                       .position = ear->position};
    struct console_heard heard;
    uint8_t text[LINK_CONSOLE_MOST];
    iov_t send, parts[2];

    SETIOV(&send, &ask, sizeof(ask));
    SETIOV(&parts[0], &heard, sizeof(heard));
    SETIOV(&parts[1], text, sizeof(text));
    long count = MsgSendv(console, &send, 1, parts, 2);
    if (count < 0) {
        hang_up(ear, -errno);
        return;
    }
    if (count == 0) {
        return;
    }
    size_t note = note_gap(ear, heard.position);
    memcpy(ear->text + note, text, (size_t)count);
    ear->position += (uint64_t)count;
    ear->bytes = note + (size_t)count;
    ear->at = 0;
    ear->sending = link_send(&linkd_link, ear->channel, ear->bytes) == 0;
}

void console_pulse(void)
{
    for (unsigned i = 0; i < EARS; i++) {
        if (ears[i].open && !ears[i].sending) {
            ear_next(&ears[i]);
        }
    }
}

static bool somebody_hears(void)
{
    bool open = false;

    for (unsigned i = 0; i < EARS; i++) {
        open |= ears[i].open;
    }
    return open;
}

/* The kernel sends no pulse when it prints. */
uint64_t console_tick(uint64_t now)
{
    static uint64_t due;

    if (!somebody_hears()) {
        return UINT64_MAX;
    }
    if (now >= due) {
        due = now + KERNEL_MS;
        console_pulse();
    }
    return due - now;
}

static long console_open(unsigned channel)
{
    for (unsigned i = 0; i < EARS; i++) {
        if (!ears[i].open) {
            if (console == 0) {
                int coid = name_open("console", 0);

                if (coid < 0) {
                    return -ENOENT;
                }
                console = coid;
            }
            memset(&ears[i], 0, sizeof(ears[i]));
            ears[i].open = true;
            ears[i].channel = channel;
            MsgSendPulse(linkd_coid, SIGEV_PULSE_PRIO_INHERIT, PULSE_CONSOLE, 0);
            return LINKD_CREDIT;
        }
    }
    return -EAGAIN;
}

static void console_closed(unsigned channel)
{
    struct ear *ear = ear_of(channel);

    if (ear) {
        ear->open = false;
    }
}

static void type(struct ear *ear)
{
    const struct console_listen head = {.type = CONSOLE_TYPE, .bytes = (uint32_t)ear->typed};
    iov_t parts[2];

    SETIOV(&parts[0], &head, sizeof(head));
    SETIOV(&parts[1], ear->typing, ear->typed);
    if (MsgSendv(console, parts, 2, NULL, 0) < 0) {
        hang_up(ear, -errno);
    }
}

static void console_data(unsigned channel, const uint8_t *bytes, size_t count, size_t offset,
                         size_t total)
{
    struct ear *ear = ear_of(channel);

    if (total > LINK_CONSOLE_MOST) {
        hang_up(ear, -EMSGSIZE);
        return;
    }
    memcpy(ear->typing + offset, bytes, count);
    link_credit(&linkd_link, channel, link_cost(count, offset));
    ear->typed = offset + count;
    if (ear->typed == total && total > 0) {
        type(ear);
    }
}

static size_t console_fetch(unsigned channel, size_t most, const uint8_t **bytes)
{
    struct ear *ear = ear_of(channel);
    size_t left = ear->bytes - ear->at;
    size_t count = most < left ? most : left;

    *bytes = ear->text + ear->at;
    ear->at += count;
    return count;
}

static void console_sent(unsigned channel)
{
    struct ear *ear = ear_of(channel);

    ear->sending = false;
    MsgSendPulse(linkd_coid, SIGEV_PULSE_PRIO_INHERIT, PULSE_CONSOLE, 0);
}

const struct service service_console = {
    .name = "console",
    .open = console_open,
    .data = console_data,
    .fetch = console_fetch,
    .sent = console_sent,
    .closed = console_closed,
};
