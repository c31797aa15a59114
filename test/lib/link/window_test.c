/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The 16-bit numbers of frames where they wrap: losses, duplicates and frames out of order while
 * both directions go from 65535 to 0, and one run that gets there by itself. After each step what
 * the receiver expects lies among what the sender keeps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/link/frame.h"
#include "test/lib/link/tests.h"

static bool is_idle(const struct link *link)
{
    return link->base == link->next && link->line_left == 0 && !link->ack_due && !link->nak_due &&
           !link->hello_due;
}

/* The sender may not send more than its window, nor forget what the receiver still needs. */
static void check_direction(const struct link *from, const struct link *to)
{
    uint16_t kept = (uint16_t)(from->next - from->base);
    uint16_t sent = (uint16_t)(from->sent_to - from->base);
    uint16_t expected = (uint16_t)(to->expected - from->base);

    assert_true(kept <= from->config.window);
    assert_true(sent <= kept);
    assert_true((uint16_t)(from->cursor - from->base) <= kept);
    assert_true(expected <= sent);
}

static void check(const struct pair *pair)
{
    assert_int_equal(pair->host.downs + pair->target.downs, 0);
    check_direction(&pair->host.link, &pair->target.link);
    check_direction(&pair->target.link, &pair->host.link);
}

static void renumber(struct link *from, struct link *to, uint16_t number)
{
    from->base = from->next = from->cursor = from->sent_to = number;
    from->timing = false;
    to->expected = number;
    to->nak_made = false;
}

/* Both up, as if so many frames had gone each way. */
static struct pair *pair_at(const char *test, uint16_t to_target, uint16_t to_host)
{
    struct pair *pair = pair_make(test);

    pair_meet(pair);
    while (!is_idle(&pair->host.link) || !is_idle(&pair->target.link) || pair->to_host.bytes ||
           pair->to_target.bytes) {
        pair_step(pair, true);
    }
    renumber(&pair->host.link, &pair->target.link, to_target);
    renumber(&pair->target.link, &pair->host.link, to_host);
    return pair;
}

static uint16_t shortly_before_wrap(void)
{
    return (uint16_t)(0u - random_below(200));
}

static bool has_wrapped(const struct pair *pair)
{
    return pair->host.link.base < 0x8000 && pair->target.link.base < 0x8000 &&
           pair->host.link.base > 100 && pair->target.link.base > 100;
}

struct progress {
    uint16_t base;
    unsigned since; /* ms */
};

/* Checks that frames are still acknowledged. How fast is patience_test.c's. */
static void check_progress(struct progress *progress, uint16_t base)
{
    progress->since = base == progress->base ? progress->since + 1 : 0;
    progress->base = base;
    assert_true(progress->since < 600000);
}

static void wrap(const char *test, struct line_faults faults, unsigned rounds)
{
    uint64_t made = 0;

    for (unsigned i = 0; i < rounds; i++) {
        struct pair *pair = pair_at(test, shortly_before_wrap(), shortly_before_wrap());
        pair_faults(pair, faults);
        struct progress to_target = {0}, to_host = {0};
        while (!has_wrapped(pair)) {
            pair_step(pair, false);
            check(pair);
            check_progress(&to_target, pair->host.link.base);
            check_progress(&to_host, pair->target.link.base);
        }
        pair_settle(pair);
        check(pair);
        made += pair->to_host.faults_made + pair->to_target.faults_made;
        pair_free(pair);
    }
    assert_true(made > rounds || faults.most == 0);
}

void test_wrap_of_numbers(void **state)
{
    (void)state;
    wrap("clean", (struct line_faults){0}, 3);
    wrap("drops", (struct line_faults){.drop = 60, .most = 60}, 6);
    wrap("twice", (struct line_faults){.twice = 60, .most = 1200}, 6);
    wrap("all",
         (struct line_faults){.drop = 30, .flip = 60, .twice = 30, .garbage = 30, .most = 200}, 6);
}

/* ---- frames out of order ----------------------------------------------------------- */

enum { AIR = 12 };

struct air { /* frames on their way, which arrive in any order, some twice or never */
    uint8_t frame[AIR][LINK_LINE_MOST(END_FRAME_MOST)];
    size_t bytes[AIR];
    unsigned n;
    uint64_t disturbed;
};

static void send(struct end *end, struct air *air, uint32_t now)
{
    const uint8_t *bytes;
    size_t count;

    while (air->n < AIR && (count = link_output(&end->link, now, &bytes)) > 0) {
        memcpy(air->frame[air->n], bytes, count);
        air->bytes[air->n++] = count;
        link_output_done(&end->link, count);
    }
}

static void arrive(struct end *end, struct air *air, uint32_t now, bool faults)
{
    while (air->n && (!faults || random_below(4))) {
        unsigned which = faults && random_below(3) == 0 ? random_below(air->n) : 0;
        unsigned fate = faults ? random_below(20) : 2; /* 0: lost, 1: comes again later */

        air->disturbed += which != 0 || fate < 2;
        if (fate != 0) {
            link_input(&end->link, now, air->frame[which], air->bytes[which]);
        }
        if (fate != 1) {
            air->n--;
            memmove(air->frame[which], air->frame[which + 1],
                    (air->n - which) * sizeof(air->frame[0]));
            memmove(&air->bytes[which], &air->bytes[which + 1],
                    (air->n - which) * sizeof(air->bytes[0]));
        }
    }
}

void test_wrap_out_of_order(void **state)
{
    struct air *up = calloc(1, sizeof(*up)), *down = calloc(1, sizeof(*down));

    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        struct pair *pair = pair_at(__func__, shortly_before_wrap(), shortly_before_wrap());
        for (unsigned ms = 0; !has_wrapped(pair) || up->n || down->n; ms++) {
            bool faults = !has_wrapped(pair);
            assert_true(ms < 200000);
            pair->now++;
            end_act(&pair->host, false);
            end_act(&pair->target, false);
            if (faults) {
                send(&pair->host, down, pair->now);
                send(&pair->target, up, pair->now);
            }
            arrive(&pair->target, down, pair->now, faults);
            arrive(&pair->host, up, pair->now, faults);
            check(pair);
        }
        pair_settle(pair);
        check(pair);
        pair_free(pair);
    }
    assert_true(up->disturbed > 100 && down->disturbed > 100);
    free(up);
    free(down);
}

/* ---- a long line ------------------------------------------------------------------- */

enum { ON_WAY = 512 };

struct way { /* frames arrive in order, so many ms after they were sent */
    struct {
        uint8_t byte[LINK_LINE_MOST(END_FRAME_MOST)];
        size_t bytes;
        uint32_t at;
    } frame[ON_WAY];
    unsigned first, n;
    bool lose; /* the next frame that goes for the first time */
};

static void way_put(struct way *way, struct end *end, uint32_t at, uint32_t now)
{
    const uint8_t *bytes;
    size_t count;

    while ((count = link_output(&end->link, now, &bytes)) > 0) {
        bool is_first =
            end->link.line_is_window && (uint16_t)(end->link.line_frame + 1) == end->link.sent_to;

        assert_true(way->n < ON_WAY);
        if (way->lose && is_first) {
            way->lose = false;
        } else {
            unsigned i = (way->first + way->n++) % ON_WAY;

            memcpy(way->frame[i].byte, bytes, count);
            way->frame[i].bytes = count;
            way->frame[i].at = at;
        }
        link_output_done(&end->link, count);
    }
}

static void way_take(struct way *way, struct end *end, uint32_t now)
{
    while (way->n > 0 && way->frame[way->first].at == now) {
        link_input(&end->link, now, way->frame[way->first].byte, way->frame[way->first].bytes);
        way->first = (way->first + 1) % ON_WAY;
        way->n--;
    }
}

static void long_line(struct pair *pair, struct way *up, struct way *down, uint32_t takes, int ms)
{
    for (; ms > 0; ms--) {
        pair->now++;
        end_act(&pair->host, false);
        end_act(&pair->target, false);
        way_put(down, &pair->host, pair->now + takes, pair->now);
        way_put(up, &pair->target, pair->now + takes, pair->now);
        way_take(down, &pair->target, pair->now);
        way_take(up, &pair->host, pair->now);
        check(pair);
    }
}

/* The receiver asks for a lost frame again and again while the answer is on its way: a window goes
 * again, once. And nothing goes twice while nothing is lost. */
void test_one_loss_goes_once(void **state)
{
    struct way *up = calloc(1, sizeof(*up)), *down = calloc(1, sizeof(*down));

    (void)state;
    for (uint32_t takes = 20; takes <= 200; takes += 30) {
        struct pair *pair = pair_at(__func__, shortly_before_wrap(), shortly_before_wrap());

        long_line(pair, up, down, takes, 5000);
        for (unsigned i = 0; i < 10; i++) {
            uint32_t before = link_stats(&pair->target.link)->resent;

            long_line(pair, up, down, takes, 1000);
            assert_int_equal(link_stats(&pair->target.link)->resent, before);
            up->lose = true;
            long_line(pair, up, down, takes, 3000);
            assert_false(up->lose);
            assert_in_range(link_stats(&pair->target.link)->resent - before, 1, END_WINDOW);
        }
        up->n = down->n = 0;
        pair_free(pair);
    }
    free(up);
    free(down);
}

/* Whatever number the receiver expects: of a frame that is ahead it asks for the missing one, at
 * once; of one that came before, it doesn't. */
void test_ahead_at_every_number(void **state)
{
    struct pair *pair = pair_at(__func__, 0, 0);
    struct link *link = &pair->target.link;

    (void)state;
    for (uint32_t expected = 0; expected < 65536; expected += 1 + random_below(50)) {
        for (int by = -END_WINDOW; by <= END_WINDOW; by++) {
            struct link_frame frame = {.type = LINK_CREDIT, .ack = link->base};
            uint8_t image[LINK_LINE_MOST(4)], credit[4] = {0};

            if (by == 0) {
                continue;
            }
            frame.number = (uint16_t)(expected + (uint32_t)by);
            link->expected = (uint16_t)expected;
            link->nak_due = link->nak_made = false;
            size_t bytes = link_encode(link->key_in, &frame, credit, 4, NULL, 0, image);
            link_input(link, pair->now, image, bytes);
            assert_int_equal(link->expected, expected);
            assert_int_equal(link->nak_due, by > 0);
        }
    }
    pair_free(pair);
}

/* ---- all the way ------------------------------------------------------------------- */

/* Without touching the numbers: more than 65536 frames each way. */
void test_wrap_all_the_way(void **state)
{
    struct pair *pair = pair_make(__func__);
    uint64_t to_target = 0, to_host = 0;

    (void)state;
    pair->target.frame_most = LINK_FRAME_LEAST; /* many frames for few bytes */
    end_start(&pair->target, "target", LINK_TARGET, pair->now);
    pair_meet(pair);
    pair->to_target.bytes_per_ms = pair->to_host.bytes_per_ms = LINE_ROOM;
    pair_faults(pair, (struct line_faults){.drop = 3, .flip = 3, .twice = 3, .most = 300});
    for (unsigned ms = 0; to_target < 70000 || to_host < 70000; ms++) {
        uint16_t host = pair->host.link.base, target = pair->target.link.base;

        assert_true(ms < 2000000);
        pair_step(pair, false);
        check(pair);
        to_target += (uint16_t)(pair->host.link.base - host);
        to_host += (uint16_t)(pair->target.link.base - target);
    }
    pair_settle(pair);
    check(pair);
    assert_true(pair->to_host.faults_made > 20 && pair->to_target.faults_made > 20);
    pair_free(pair);
}
