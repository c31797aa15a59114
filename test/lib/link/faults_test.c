/* SPDX-License-Identifier: BSD-2-Clause */
/* Random talk over lines with faults: every message arrives once, in order, unchanged (end.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "test/lib/link/tests.h"

static uint32_t rounds(void)
{
    const char *given = getenv("KYMO_ROUNDS");

    return given ? (uint32_t)strtoul(given, NULL, 0) : 1;
}

/* The talk lasts so many ms of the line's time; how many faults there were is said. */
static void talk(const char *test, struct line_faults faults, uint32_t ms, uint16_t frame_most)
{
    struct pair *pair = pair_make(test);

    pair->target.frame_most = frame_most;
    end_start(&pair->target, "target", LINK_TARGET, pair->now);
    pair_meet(pair);
    pair_faults(pair, faults);
    for (uint32_t i = 0; i < ms * rounds(); i++) {
        pair_step(pair, false);
    }
    pair_settle(pair);
    print_message("  %llu messages, %llu faults, %u downs; %u bad, %u again, %u resent\n",
                  (unsigned long long)(pair->host.messages + pair->target.messages),
                  (unsigned long long)(pair->to_host.faults_made + pair->to_target.faults_made),
                  pair->host.downs + pair->target.downs, link_stats(&pair->host.link)->bad,
                  link_stats(&pair->host.link)->again, link_stats(&pair->host.link)->resent);
    assert_true(pair->host.messages > 100 && pair->target.messages > 100);
    if (faults.most > 0) {
        assert_true(pair->to_host.faults_made > 20);
    } else {
        assert_int_equal(pair->host.downs + pair->target.downs, 0);
        assert_int_equal(link_stats(&pair->host.link)->bad, 0);
        assert_int_equal(link_stats(&pair->target.link)->bad, 0);
    }
    pair_free(pair);
}

void test_clean_line(void **state)
{
    (void)state;
    talk(__func__, (struct line_faults){0}, 20000, END_FRAME_MOST);
}

void test_drops(void **state)
{
    (void)state;
    talk(__func__, (struct line_faults){.drop = 20, .most = 40}, 40000, END_FRAME_MOST);
}

void test_flips(void **state)
{
    (void)state;
    talk(__func__, (struct line_faults){.flip = 40, .most = 1}, 40000, END_FRAME_MOST);
}

void test_twice(void **state)
{
    (void)state;
    talk(__func__, (struct line_faults){.twice = 40, .most = 1200}, 40000, END_FRAME_MOST);
}

void test_garbage(void **state)
{
    (void)state;
    talk(__func__, (struct line_faults){.garbage = 20, .most = 300}, 40000, END_FRAME_MOST);
}

void test_stalls(void **state)
{
    (void)state;
    talk(__func__, (struct line_faults){.stall = 2, .drop = 2, .most = 600}, 60000, END_FRAME_MOST);
}

void test_everything(void **state)
{
    static const struct line_faults all = {
        .drop = 10, .flip = 20, .twice = 10, .garbage = 10, .stall = 1, .most = 200};

    (void)state;
    talk(__func__, all, 60000, END_FRAME_MOST);
}

void test_everything_small_frames(void **state)
{
    static const struct line_faults all = {
        .drop = 60, .flip = 100, .twice = 60, .garbage = 60, .stall = 1, .most = 100};

    (void)state;
    talk(__func__, all, 60000, LINK_FRAME_LEAST);
}

/* Either process ends and begins again, at any moment. */
void test_restarts(void **state)
{
    struct pair *pair = pair_make(__func__);

    (void)state;
    pair_faults(pair, (struct line_faults){.flip = 10, .drop = 5, .most = 20});
    for (int i = 0; i < 60000; i++) {
        if (random_below(1500) == 0) {
            end_start(&pair->target, "target", LINK_TARGET, pair->now);
        }
        if (random_below(1500) == 0) {
            pair->host.conversations += 1000;
            end_start(&pair->host, "host", LINK_HOST, pair->now);
        }
        pair_step(pair, false);
    }
    pair_settle(pair);
    assert_true(pair->host.ups > 20 && pair->target.ups > 20);
    pair_free(pair);
}
