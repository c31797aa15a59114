/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long an end waits for an acknowledgement before it sends again, on lines where that decides
 * how much gets through: very lossy ones, and one that becomes slow. Time is the line's, so the
 * bounds hold on any machine; each is some three times what seeds have shown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "test/lib/link/tests.h"

/* Milliseconds until so many frames are acknowledged in each direction, at most `most`. */
static uint32_t ms_for_frames(struct pair *pair, uint32_t frames, uint32_t most)
{
    uint32_t ms = 0, to_target = 0, to_host = 0;

    for (; to_target < frames || to_host < frames; ms++) {
        uint16_t host = pair->host.link.base, target = pair->target.link.base;

        assert_true(ms < most);
        pair_step(pair, false);
        to_target += (uint16_t)(pair->host.link.base - host);
        to_host += (uint16_t)(pair->target.link.base - target);
    }
    return ms;
}

/* The share of whole frames of 512 bytes that arrive is 29 %, 19 %, 12 % and 8 %. Where patience
 * stays doubled after a loss, each line takes three times its bound. */
void test_patience_on_lossy_lines(void **state)
{
    static const struct {
        unsigned chance;
        uint32_t most; /* ms */
    } lines[] = {{30, 54000}, {40, 96000}, {50, 170000}, {60, 270000}};

    (void)state;
    for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        unsigned chance = lines[i].chance;
        struct line_faults faults = {
            .drop = chance, .flip = 2 * chance, .twice = chance, .garbage = chance, .most = 200};
        struct pair *pair = pair_make(__func__);

        pair_meet(pair);
        pair_faults(pair, faults);
        print_message("  %u ms for 1000 frames\n", ms_for_frames(pair, 1000, lines[i].most));
        assert_int_equal(pair->host.downs + pair->target.downs, 0);
        pair_settle(pair);
        pair_free(pair);
    }
}

static uint32_t frames(const struct pair *pair, bool resent)
{
    const struct link_stats *host = link_stats(&pair->host.link);
    const struct link_stats *target = link_stats(&pair->target.link);

    return resent ? host->resent + target->resent : host->frames_out + target->frames_out;
}

/* What is not lost is not sent again for long, however much longer than before a round
 * trip takes. */
void test_patience_on_a_line_that_slows_down(void **state)
{
    (void)state;
    for (unsigned speed = 1; speed < 64; speed *= 2) {
        struct pair *pair = pair_make(__func__);

        pair_meet(pair);
        ms_for_frames(pair, 300, 10000);
        pair->to_target.bytes_per_ms = pair->to_host.bytes_per_ms = speed;
        ms_for_frames(pair, 300, 1000000);
        uint32_t resent = frames(pair, true), all = frames(pair, false);

        ms_for_frames(pair, 200, 1000000);
        resent = frames(pair, true) - resent;
        all = frames(pair, false) - all;
        print_message("  %u of %u sent again\n", resent, all);
        assert_true(resent * 5 < all);
        assert_int_equal(pair->host.downs + pair->target.downs, 0);
        pair_free(pair);
    }
}

/* Else two ends that send again and again, on a line that takes longer for that than their
 * patience, would never learn that all has arrived. */
void test_ack_goes_before_what_is_sent_again(void **state)
{
    struct pair *pair = pair_make(__func__);
    struct link *link = &pair->host.link;
    const uint8_t *bytes;

    (void)state;
    pair_meet(pair);
    while (link->base == link->sent_to || link->cursor != link->next || link->line_left > 0) {
        pair_step(pair, false);
    }
    link->cursor = link->base;
    link->ack_due = true;
    size_t count = link_output(link, pair->now, &bytes);
    assert_true(count > 0);
    assert_false(link->line_is_window || link->ack_due);
    link_output_done(link, count);
    assert_true(link_output(link, pair->now, &bytes) > 0);
    assert_true(link->line_is_window);
    pair_free(pair);
}
