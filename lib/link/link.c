/* SPDX-License-Identifier: BSD-2-Clause */
/* One end of the link: its state, time, and the choice of the next frame. See link.h. */
#include "lib/link/link.h"

#include <errno.h>
#include <string.h>

#include "lib/link/crc32c.h"
#include "lib/link/frame.h"

static uint32_t session_new(const struct link *link)
{
    uint32_t n = (link->session + link->now) * 1664525u + 1013904223u;

    return n ? n : 1;
}

void link_begin_again(struct link *link)
{
    link->up = false;
    link->session = session_new(link);
    link->peer_session = 0;
    link->hello_due = true;
    link->bye_due = false;
    window_reset(link);
    receive_reset(link);
    channels_reset(link);
}

static bool config_is_good(const struct link_config *config)
{
    return config->user && config->memory && config->channel &&
           config->frame_most >= LINK_FRAME_LEAST && config->frame_most <= 60000 &&
           config->window > 0 && config->window <= 64 &&
           (config->window & (config->window - 1)) == 0 && config->channels > 0 &&
           config->channels <= LINK_CHANNELS_MOST;
}

int link_init(struct link *link, const struct link_config *config, uint32_t now)
{
    if (!config_is_good(config)) {
        return -EINVAL;
    }
    memset(link, 0, sizeof(*link));
    link->config = *config;
    link->now = now;
    link->session = config->seed;
    link->hello_at = now - LINK_HELLO_APART_MS;
    link->decoder.out =
        (uint8_t *)config->memory + config->window * LINK_LINE_MOST(config->frame_most);
    link->decoder.room = LINK_FRAME_HEAD + config->frame_most + LINK_FRAME_CHECK;
    cobs_decoder_reset(&link->decoder);
    link_begin_again(link);
    return 0;
}

void link_fall(struct link *link, enum link_down why)
{
    if (link->up) {
        link_begin_again(link);
        link->config.user->down(link->config.context, why);
    }
}

static void link_come_up(struct link *link, const struct link_hello *hello)
{
    bool host = link->config.role == LINK_HOST;
    uint32_t at_host = host ? link->session : hello->session;
    uint32_t at_target = host ? hello->session : link->session;

    link->key_out = link_key(at_host, at_target, link->config.role);
    link->key_in = link_key(at_host, at_target, hello->role);
    link->payload_most =
        hello->frame_most < link->config.frame_most ? hello->frame_most : link->config.frame_most;
    link->up = true;
    link->heard = link->said = link->now;
    link->config.user->up(link->config.context);
}

/* The other end may be down, up in this session, or up in an earlier one. */
void link_hello_came(struct link *link, const struct link_hello *hello)
{
    bool answers = hello->peer == link->session;

    if (hello->role == link->config.role || hello->session == 0 ||
        hello->frame_most < LINK_FRAME_LEAST) {
        return; /* our own, returned; or nonsense */
    }
    if (link->up && hello->session == link->peer_session) {
        if (answers) {
            link->heard = link->now;
            link->hello_due |= !(hello->flags & LINK_HELLO_UP);
        }
        return;
    }
    link_fall(link, LINK_RESTARTED);
    answers = hello->peer == link->session;
    link->peer = *hello;
    link->peer_session = hello->session;
    link->hello_due = !answers || !(hello->flags & LINK_HELLO_UP);
    if (answers) {
        link_come_up(link, hello);
    }
}

static void link_put_control(struct link *link, uint32_t key, const struct link_frame *frame,
                             const void *payload, size_t bytes)
{
    link->line = link->control;
    link->line_left = link_encode(key, frame, payload, bytes, NULL, 0, link->control);
    link->line_is_window = false;
}

static void hello_out(struct link *link)
{
    struct link_frame frame = {.type = LINK_HELLO};
    struct link_hello hello = {
        .version = LINK_VERSION,
        .role = link->config.role,
        .flags = link->up ? LINK_HELLO_UP : 0,
        .channels = link->config.channels,
        .frame_most = link->config.frame_most,
        .session = link->session,
        .peer = link->peer_session,
    };

    if (link->config.board) {
        strncpy(hello.board, link->config.board, sizeof(hello.board) - 1);
    }
    if (link->config.build_id) {
        memcpy(hello.build_id, link->config.build_id, sizeof(hello.build_id));
    }
    link_put_control(link, CRC32C_START, &frame, &hello, sizeof(hello));
    link->hello_due = false;
    link->hello_at = link->now;
}

static void short_out(struct link *link, uint8_t type, bool missing)
{
    struct link_frame frame = {.type = type, .channel = missing, .ack = link->expected};

    link_put_control(link, link->key_out, &frame, NULL, 0);
}

static bool hello_is_time(const struct link *link)
{
    uint32_t since = link->now - link->hello_at;

    if (link->hello_due) {
        return since >= LINK_HELLO_APART_MS;
    }
    return !link->up && link->config.hello_ms && since >= link->config.hello_ms;
}

static void ack_out(struct link *link)
{
    short_out(link, LINK_ACK, link->nak_due);
    link->ack_due = link->nak_due = false;
}

/* Returns whether everything sent before the farewell should have arrived. */
static bool bye_is_time(const struct link *link)
{
    return link->bye_due &&
           (link->base == link->next || link->now - link->bye_at >= LINK_FAREWELL_MS);
}

static void bye_out(struct link *link)
{
    short_out(link, LINK_GOODBYE, false);
    link_fall(link, LINK_CLOSED);
    link->hello_due = false;
    link->hello_at = link->now;
}

/* Chooses the next frame for the line; if there is none, line_left stays 0. A retransmitted frame
 * has its original ack: if both ends had only such frames to send, neither would learn what the
 * other one has received. */
static void link_choose_frame(struct link *link)
{
    if (hello_is_time(link)) {
        hello_out(link);
    } else if (!link->up) {
        return;
    } else if (link->nak_due || (link->ack_due && window_repeats(link))) {
        ack_out(link);
    } else if (!window_next(link) &&
               !(window_has_room(link) && channels_make(link) && window_next(link))) {
        if (bye_is_time(link)) {
            bye_out(link);
        } else if (link->ack_due || link->now - link->said >= LINK_KEEPALIVE_MS) {
            ack_out(link);
        }
    }
}

size_t link_output(struct link *link, uint32_t now, const uint8_t **bytes)
{
    link->now = now;
    if (link->up && now - link->heard > LINK_SILENCE_MS) {
        link_fall(link, LINK_SILENT);
    }
    if (link->line_left == 0) {
        window_check_time(link);
        link_choose_frame(link);
        if (link->line_left > 0) {
            link->said = now;
            link->stats.frames_out++;
        }
    }
    *bytes = link->line;
    return link->line_left;
}

void link_output_done(struct link *link, size_t bytes)
{
    bytes = bytes < link->line_left ? bytes : link->line_left;
    link->line += bytes;
    link->line_left -= bytes;
    link->stats.bytes_out += bytes;
}

static uint32_t link_sooner_of(uint32_t wait, uint32_t since, uint32_t period)
{
    uint32_t left = since < period ? period - since : 0;

    return left < wait ? left : wait;
}

uint32_t link_wait(const struct link *link, uint32_t now)
{
    uint32_t wait = 60000;

    if (link->hello_due) {
        wait = link_sooner_of(wait, now - link->hello_at, LINK_HELLO_APART_MS);
    }
    if (!link->up) {
        return link->config.hello_ms
                   ? link_sooner_of(wait, now - link->hello_at, link->config.hello_ms)
                   : wait;
    }
    wait = link_sooner_of(wait, now - link->heard, LINK_SILENCE_MS + 1);
    wait = link_sooner_of(wait, now - link->said, LINK_KEEPALIVE_MS);
    return link_sooner_of(wait, 0, window_wait(link));
}

void link_lost(struct link *link)
{
    link->line_left = 0;
    link_fall(link, LINK_CLOSED);
}

void link_bye(struct link *link)
{
    link->bye_due = link->up;
    link->bye_at = link->now;
}

bool link_is_up(const struct link *link)
{
    return link->up;
}

const struct link_hello *link_peer(const struct link *link)
{
    return &link->peer;
}

const struct link_stats *link_stats(const struct link *link)
{
    return &link->stats;
}
