/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames in transit: kept, as sent, until the other end has acknowledged them. After a loss
 * everything from the lost one on is sent again ("go back n"), so the receiver stores none. That
 * happens when the other end reports a missing frame, or was silent for too long.
 */
#include "lib/link/frame.h"

#define PATIENCE_START 500 /* ms: before a round trip was measured */

static uint16_t window_slot_of(const struct link *link, uint16_t number)
{
    return number & (link->config.window - 1);
}

static uint8_t *link_window_frame_slot(const struct link *link, uint16_t number)
{
    return (uint8_t *)link->config.memory +
           (size_t)window_slot_of(link, number) * LINK_LINE_MOST(link->config.frame_most);
}

/* Returns whether a is before b. */
static bool link_window_is_before(uint16_t a, uint16_t b)
{
    return (int16_t)(uint16_t)(a - b) < 0;
}

void window_reset(struct link *link)
{
    link->base = link->next = link->cursor = link->sent_to = 0;
    link->gone_back = false;
    link->timing = link->measured = false;
    link->round_trip = 0;
    link->patience = PATIENCE_START;
    if (link->line_is_window) {
        link->line_left = 0; /* interrupted; the next frame begins with a 0 */
    }
}

/* A frame acknowledged during its retransmission still needs its slot. */
bool window_has_room(const struct link *link)
{
    bool line_has_one = link->line_is_window && link->line_left > 0;
    uint16_t oldest = line_has_one && link_window_is_before(link->line_frame, link->base)
                          ? link->line_frame
                          : link->base;

    return (uint16_t)(link->next - oldest) < link->config.window;
}

bool window_repeats(const struct link *link)
{
    return link_window_is_before(link->cursor, link->sent_to);
}

void window_put(struct link *link, uint8_t type, unsigned channel, const void *first, size_t nfirst,
                const void *second, size_t nsecond)
{
    struct link_frame frame = {
        .type = type, .channel = (uint8_t)channel, .number = link->next, .ack = link->expected};

    link->lengths[window_slot_of(link, link->next)] =
        (uint16_t)link_encode(link->key_out, &frame, first, nfirst, second, nsecond,
                              link_window_frame_slot(link, link->next));
    if (link->base == link->next) {
        link->progress = link->now;
    }
    link->next++;
    link->ack_due = false;
}

static void go_back(struct link *link)
{
    link->cursor = link->base;
    link->timing = false;
    link->gone_back = true;
    link->went_back = link->progress = link->now;
}

static void link_window_measure_trip(struct link *link)
{
    uint32_t took = link->now - link->timed_at;

    link->timing = false;
    link->round_trip = link->measured ? (3 * link->round_trip + took) / 4 : took;
    link->measured = true;
}

static void set_patience(struct link *link)
{
    uint32_t ms = link->measured ? 4 * link->round_trip : PATIENCE_START;

    ms = ms < LINK_PATIENCE_LEAST ? LINK_PATIENCE_LEAST : ms;
    link->patience = ms < LINK_PATIENCE_MOST ? ms : LINK_PATIENCE_MOST;
}

static void link_window_advance_to(struct link *link, uint16_t ack)
{
    if (link->timing && link_window_is_before(link->timed, ack)) {
        link_window_measure_trip(link);
        set_patience(link);
    }
    link->base = ack;
    if (link_window_is_before(link->cursor, ack)) {
        link->cursor = ack;
    }
    link->gone_back = false;
    link->progress = link->now;
}

/*
 * The ack of a frame that was sent more than once may answer any of the transmissions, so it
 * measures no round trip (Karn's rule), and the timeout keeps the value to which silence has
 * doubled it: forever, on a line that loses most frames. But `missing` shows that frames were lost
 * and that the line is no slower: then the timeout is that of the latest measured round trip.
 *
 * An ack of frames that were never sent breaks the protocol, and is ignored.
 */
void window_ack(struct link *link, uint16_t ack, bool missing)
{
    uint16_t moved = (uint16_t)(ack - link->base);

    if (moved > (uint16_t)(link->sent_to - link->base)) {
        return;
    }
    if (moved > 0) {
        link_window_advance_to(link, ack);
    }
    if (missing) {
        set_patience(link);
    }
    /* A frame that was requested within a round trip may already be in transit. */
    if (missing && link->base != link->sent_to &&
        !(link->gone_back && link->now - link->went_back <= link->round_trip)) {
        go_back(link);
    }
}

/* There is no timeout while the line still takes a frame. */
void window_check_time(struct link *link)
{
    if (link->base == link->sent_to || link->cursor != link->next ||
        link->now - link->progress < link->patience) {
        return;
    }
    link->patience =
        2 * link->patience < LINK_PATIENCE_MOST ? 2 * link->patience : LINK_PATIENCE_MOST;
    go_back(link);
}

uint32_t window_wait(const struct link *link)
{
    uint32_t since = link->now - link->progress;

    if (link->base == link->sent_to) {
        return LINK_PATIENCE_MOST;
    }
    return since < link->patience ? link->patience - since : 0;
}

bool window_next(struct link *link)
{
    uint16_t number = link->cursor;

    if (number == link->next) {
        return false;
    }
    link->line = link_window_frame_slot(link, number);
    link->line_left = link->lengths[window_slot_of(link, number)];
    link->line_is_window = true;
    link->line_frame = number;
    link->cursor++;
    if (link_window_is_before(number, link->sent_to)) {
        link->stats.resent++;
        return true;
    }
    link->sent_to = link->cursor;
    if (!link->timing) {
        link->timing = true;
        link->timed = number;
        link->timed_at = link->now;
    }
    return true;
}
