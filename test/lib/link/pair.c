/* SPDX-License-Identifier: BSD-2-Clause */
/* Two ends and the line between them. See tests.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "test/lib/link/tests.h"

struct pair *pair_make(const char *test)
{
    const char *given = getenv("KYMO_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 1000003u + clock();
    struct pair *pair = calloc(1, sizeof(*pair));

    assert_non_null(pair);
    print_message("%s: KYMO_SEED=%llu\n", test, (unsigned long long)seed);
    random_seed(seed);
    pair->now = random_below(0xffffffff); /* it may wrap */
    pair->to_target.stalled_until = pair->to_host.stalled_until = pair->now;
    pair->to_target.bytes_per_ms = pair->to_host.bytes_per_ms = 400;
    end_start(&pair->host, "host", LINK_HOST, pair->now);
    end_start(&pair->target, "target", LINK_TARGET, pair->now);
    return pair;
}

void pair_free(struct pair *pair)
{
    assert_int_equal(pair->host.strangers + pair->target.strangers, 0);
    free(pair);
}

void pair_faults(struct pair *pair, struct line_faults faults)
{
    pair->to_target.faults = pair->to_host.faults = faults;
}

static void out(struct end *end, struct line *line, uint32_t now)
{
    const uint8_t *bytes;
    size_t count;

    while ((count = link_output(&end->link, now, &bytes)) > 0) {
        size_t taken = line_put(line, now, bytes, count);

        if (taken == 0) {
            return;
        }
        link_output_done(&end->link, taken);
    }
}

/* In pieces of any size, as a line gives them. */
static void in(struct end *end, struct line *line, uint32_t now)
{
    uint8_t bytes[LINE_ROOM];
    size_t count = line_get(line, now, bytes, sizeof(bytes));

    for (size_t at = 0; at < count;) {
        size_t part = 1 + random_below((uint32_t)(count - at));

        link_input(&end->link, now, bytes + at, part);
        at += part;
    }
}

void pair_step(struct pair *pair, bool quiet)
{
    pair->now++;
    end_act(&pair->host, quiet);
    end_act(&pair->target, quiet);
    out(&pair->host, &pair->to_target, pair->now);
    out(&pair->target, &pair->to_host, pair->now);
    in(&pair->target, &pair->to_target, pair->now);
    in(&pair->host, &pair->to_host, pair->now);
    assert_int_not_equal(pair->host.why, LINK_STRANGE);
    assert_int_not_equal(pair->target.why, LINK_STRANGE);
}

void pair_meet(struct pair *pair)
{
    for (int ms = 0; !(link_is_up(&pair->host.link) && link_is_up(&pair->target.link)); ms++) {
        assert_true(ms < 60000);
        pair_step(pair, true);
    }
}

static bool settled(const struct pair *pair)
{
    if (!end_is_done(&pair->host) || !end_is_done(&pair->target)) {
        return false;
    }
    for (unsigned i = 0; i < END_CHANNELS; i++) {
        const struct talk *host = &pair->host.talk[i], *target = &pair->target.talk[i];

        if (host->open != target->open ||
            (host->open && (host->number != target->number || host->sent != target->received ||
                            target->sent != host->received))) {
            return false;
        }
    }
    return true;
}

void pair_settle(struct pair *pair)
{
    pair_faults(pair, (struct line_faults){0});
    pair_meet(pair);
    for (int ms = 0; !settled(pair); ms++) {
        assert_true(ms < 60000);
        pair_step(pair, true);
    }
}
