/* SPDX-License-Identifier: BSD-2-Clause */
/* What the link does besides carrying messages: docs/reference/link.md, rule by rule. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/link/frame.h"
#include "test/lib/link/tests.h"

static void steps(struct pair *pair, int ms, bool quiet)
{
    for (int i = 0; i < ms; i++) {
        pair_step(pair, quiet);
    }
}

/* Opens a conversation and waits until both know of it. */
static unsigned open_one(struct pair *pair)
{
    char service[] = "s0";
    int channel = link_open(&pair->host.link, service, 1000);

    assert_true(channel >= 0);
    pair->host.talk[channel].open = true;
    pair->host.talk[channel].allowed = 1000;
    for (int ms = 0; !pair->target.talk[channel].open; ms++) {
        assert_true(ms < 1000);
        pair_step(pair, true);
    }
    steps(pair, 10, true);
    return (unsigned)channel;
}

/* A plug that is pulled: both find out, and meet again when it is back. */
void test_silence(void **state)
{
    struct pair *pair = pair_make(__func__);

    (void)state;
    pair_meet(pair);
    open_one(pair);
    pair->to_host.stalled_until = pair->to_target.stalled_until = pair->now + 60000;
    steps(pair, LINK_SILENCE_MS / 2, true);
    assert_true(link_is_up(&pair->host.link));
    steps(pair, LINK_SILENCE_MS, true);
    assert_false(link_is_up(&pair->host.link));
    assert_false(link_is_up(&pair->target.link));
    assert_int_equal(pair->host.why, LINK_SILENT);
    assert_int_equal(pair->target.why, LINK_SILENT);
    assert_false(pair->target.talk[0].open);
    pair->to_host.stalled_until = pair->to_target.stalled_until = pair->now;
    pair_settle(pair);
    uint32_t frames = link_stats(&pair->host.link)->frames_out;
    steps(pair, 20000, true); /* and keepalives keep it up, one a second */
    assert_int_equal(pair->host.downs, 1);
    assert_in_range(link_stats(&pair->host.link)->frames_out - frames, 15, 25);
    pair_free(pair);
}

/* A terminal line may echo: our own frames, good ones, come back. */
void test_echo_of_ourselves(void **state)
{
    struct pair *pair = pair_make(__func__);

    (void)state;
    for (int ms = 0; ms < 3000; ms++) {
        const uint8_t *bytes;
        size_t count = link_output(&pair->host.link, ++pair->now, &bytes);

        if (count > 0) {
            link_output_done(&pair->host.link, count);
            link_input(&pair->host.link, pair->now, bytes, count);
        }
        assert_false(link_is_up(&pair->host.link));
    }
    pair_free(pair);
}

/* The same while it is up and talks: a frame of ours with the number that we expect is
 * not theirs. */
void test_echo_while_up(void **state)
{
    struct pair *pair = pair_make(__func__);

    (void)state;
    pair_meet(pair);
    for (int ms = 0; ms < 20000; ms++) {
        const uint8_t *bytes;

        end_act(&pair->host, false);
        size_t count = link_output(&pair->host.link, pair->now, &bytes);
        if (count > 0 && bytes[0] == 0) { /* from its begin */
            uint8_t copy[LINK_LINE_MOST(END_FRAME_MOST)];

            memcpy(copy, bytes, count);
            bool is_window = pair->host.link.line_is_window;

            link_input(&pair->host.link, pair->now, "", 1);
            uint32_t good = link_stats(&pair->host.link)->frames_in;
            link_input(&pair->host.link, pair->now, copy, count);
            assert_true(!is_window || link_stats(&pair->host.link)->frames_in == good);
        }
        pair_step(pair, false);
    }
    pair_settle(pair);
    assert_int_equal(pair->host.downs, 0);
    assert_true(link_stats(&pair->host.link)->bad > 100);
    assert_true(pair->host.messages > 100);
    pair_free(pair);
}

/* Frames of an earlier session, whole and with a right check then, mean nothing now. */
void test_old_session_is_refused(void **state)
{
    struct pair *pair = pair_make(__func__);
    static uint8_t old[100000];
    size_t kept = 0;

    (void)state;
    pair_meet(pair);
    for (int ms = 0; ms < 3000; ms++) {
        if (kept < sizeof(old) / 2) {
            memcpy(old + kept, pair->to_target.byte, pair->to_target.bytes);
            kept += pair->to_target.bytes;
        }
        pair_step(pair, false);
    }
    end_start(&pair->host, "host", LINK_HOST, pair->now);
    pair_meet(pair);
    pair_settle(pair);
    uint32_t bad = link_stats(&pair->target.link)->bad;
    link_input(&pair->target.link, pair->now, "", 1);
    for (size_t at = 0; at < kept; at++) {
        link_input(&pair->target.link, pair->now, old + at, 1);
    }
    link_input(&pair->target.link, pair->now, "", 1);
    assert_true(link_stats(&pair->target.link)->bad > bad);
    pair_settle(pair);
    pair_free(pair);
}

/* A receiver that takes nothing on one channel: the others go on, and the sender keeps still. */
void test_slow_channel_holds_nobody_up(void **state)
{
    struct pair *pair = pair_make(__func__);

    (void)state;
    pair_meet(pair);
    unsigned slow = open_one(pair), other = open_one(pair);
    struct talk *talk = &pair->target.talk[slow];

    pair->target.talk[other].number = pair->host.talk[other].number = 1;
    for (int ms = 0; ms < 5000; ms++) {
        for (unsigned c = slow; c <= other; c += other - slow) {
            struct talk *out = &pair->target.talk[c];

            if (!out->sending &&
                link_send(&pair->target.link, c,
                          end_message_bytes(out->number, LINK_TARGET, out->sent)) == 0) {
                out->sending = true;
            }
        }
        pair->host.talk[slow].owed = 0; /* never given back */
        pair_step(pair, true);
        pair->host.talk[slow].owed = 0;
    }
    assert_true(talk->sending);
    assert_true(pair->host.talk[other].received > 20);
    assert_true(pair->host.talk[slow].received < 20);
    pair_free(pair);
}

/* Two that always have something to send share the line: neither waits for the other to end. */
void test_channels_take_turns(void **state)
{
    struct pair *pair = pair_make(__func__);
    uint32_t used[2];

    (void)state;
    pair_meet(pair);
    unsigned channel[2] = {open_one(pair), open_one(pair)};
    struct link *link = &pair->target.link;
    for (unsigned i = 0; i < 2; i++) {
        struct link_channel *c = &link->config.channel[channel[i]];

        c->out_credit = c->out_used + 1000000; /* as if the host had room */
        used[i] = c->out_used;
        assert_int_equal(link_send(link, channel[i], 4000), 0);
        pair->target.talk[channel[i]].sending = true;
    }
    for (unsigned frames = 0; frames < 4; frames++) {
        assert_true(channels_make(link));
    }
    for (unsigned i = 0; i < 2; i++) {
        assert_true(link->config.channel[channel[i]].out_used > used[i]);
    }
    pair_free(pair);
}

void test_refusal(void **state)
{
    struct pair *pair = pair_make(__func__);

    (void)state;
    pair_meet(pair);
    pair->target.refuses = true;
    for (int i = 0; i < 100; i++) { /* numbers are used again and again */
        int channel = link_open(&pair->host.link, "s1", 100);

        assert_true(channel >= 0);
        pair->host.talk[channel].open = true;
        for (int ms = 0; pair->host.talk[channel].open; ms++) {
            assert_true(ms < 1000);
            pair_step(pair, true);
        }
        steps(pair, 3, true);
    }
    assert_int_equal(link_open(&pair->host.link, "", 1), -EINVAL);
    assert_int_equal(link_open(&pair->host.link, "a-name-of-twenty-five-chars", 1), -EINVAL);
    assert_int_equal(link_open(&pair->target.link, "s1", 1), -EINVAL);
    pair_free(pair);
}

/* A hello of another version is told, and answered by none of ours being up. */
void test_other_version(void **state)
{
    struct pair *pair = pair_make(__func__);
    const uint8_t *bytes;
    size_t count;

    (void)state;
    pair->target.link.config.hello_ms = 0;
    count = link_output(&pair->host.link, pair->now, &bytes);
    assert_true(count > 0);
    /* Made by the encoder, with another version and the right check. */
    uint8_t image[LINK_LINE_MOST(80)];
    uint8_t plain[6 + 68 + 4] = {1};
    struct cobs_encoder encoder;

    plain[6] = LINK_VERSION + 1;
    plain[7] = LINK_HOST;
    uint32_t check = link_check(0xffffffff, plain, 74);
    memcpy(plain + 74, &check, 4);
    cobs_begin(&encoder, image);
    cobs_put(&encoder, plain, sizeof(plain));
    size_t length = cobs_end(&encoder);
    image[length] = 0;
    link_input(&pair->target.link, pair->now, image, length + 1);
    assert_int_equal(pair->target.strangers, 1);
    assert_false(link_is_up(&pair->target.link));
    pair->target.strangers = 0;
    pair_free(pair);
}

/* A hello is heard only at its full length: a shorter or a longer one with the right check is not,
 * whatever it says. */
void test_hello_of_every_length(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes <= 80; bytes++) {
        struct pair *pair = pair_make(__func__);
        uint8_t plain[6 + 80 + 4] = {LINK_HELLO}, image[LINK_LINE_MOST(80)];
        struct link_hello hello = {.version = LINK_VERSION,
                                   .role = LINK_HOST,
                                   .flags = LINK_HELLO_UP,
                                   .channels = 4,
                                   .frame_most = 200,
                                   .session = 77,
                                   .peer = pair->target.link.session};
        struct cobs_encoder encoder;

        for (size_t i = 0; i < bytes; i++) {
            plain[6 + i] = i < sizeof(hello) ? ((const uint8_t *)&hello)[i] : 1;
        }
        uint32_t check = link_check(0xffffffff, plain, 6 + bytes);
        memcpy(plain + 6 + bytes, &check, 4);
        cobs_begin(&encoder, image);
        cobs_put(&encoder, plain, 6 + bytes + 4);
        size_t length = cobs_end(&encoder);
        image[length] = 0;
        link_input(&pair->target.link, pair->now, image, length + 1);
        assert_int_equal(link_stats(&pair->target.link)->frames_in, 1);
        assert_int_equal(link_is_up(&pair->target.link), bytes == sizeof(hello));
        assert_int_equal(pair->target.link.peer_session, bytes == sizeof(hello) ? 77 : 0);
        pair_free(pair);
    }
}

void test_bye(void **state)
{
    struct pair *pair = pair_make(__func__);

    (void)state;
    pair_meet(pair);
    open_one(pair);
    link_bye(&pair->host.link);
    steps(pair, 20, true);
    assert_int_equal(pair->target.why, LINK_BYE);
    assert_int_equal(pair->target.downs, 1);
    pair_free(pair);
}

/* ---- an enemy who knows the session: right checks, right numbers, senseless contents ---- */

/* Mostly what would be right where the target is; at times not. */
static uint8_t enemy_type(const struct link_channel *channel)
{
    static const uint8_t any[] = {LINK_CREDIT, LINK_CREDIT, LINK_CLOSE};

    if (random_below(40) == 0) {
        return (uint8_t)(random_below(4) ? LINK_OPEN + random_below(6) : random_below(256));
    }
    if (channel->state != LINK_OPENED) {
        return channel->state == LINK_FREE ? LINK_OPEN : LINK_CLOSE;
    }
    if (random_below(5) == 0) {
        return any[random_below(3)];
    }
    return channel->receiving ? LINK_MORE : LINK_FIRST;
}

static size_t enemy_payload(const struct link_channel *channel, uint8_t type, uint8_t *payload)
{
    uint32_t left = channel->in_total - channel->in_at;
    uint32_t word = random_below(random_below(30) ? 400 : 0xffffffff);

    for (size_t i = 0; i < 204; i++) {
        payload[i] = (uint8_t)('a' + random_below(20));
    }
    if (random_below(60) == 0) {
        return random_below(204);
    }
    if (type == LINK_MORE) {
        return 1 + random_below(left < 200 ? left : 200);
    }
    memcpy(payload, &word, sizeof(word));
    if (type == LINK_FIRST) {
        return 4 + (word ? 1 + random_below(word < 200 ? word : 200) : 0);
    }
    return type == LINK_OPEN ? 5 + random_below(20) : 4;
}

static void enemy_frame(struct pair *pair)
{
    uint8_t frame[6 + 204 + 4], image[LINK_LINE_MOST(220)];
    uint8_t number = (uint8_t)random_below(END_CHANNELS);
    const struct link_channel *channel = &pair->target.link.config.channel[number];
    uint8_t type = enemy_type(channel);
    uint16_t ack = (uint16_t)(random_below(9) ? pair->target.link.sent_to : random_below(65536));
    struct cobs_encoder encoder;

    frame[0] = type;
    frame[1] = random_below(300) ? number : (uint8_t)random_below(256);
    memcpy(frame + 2, &pair->target.link.expected, 2);
    memcpy(frame + 4, &ack, 2);
    size_t bytes = 6 + enemy_payload(channel, type, frame + 6);
    uint32_t check = link_check(pair->target.link.key_in, frame, bytes);
    memcpy(frame + bytes, &check, 4);
    cobs_begin(&encoder, image);
    cobs_put(&encoder, frame, bytes + 4);
    bytes = cobs_end(&encoder);
    image[bytes++] = 0;
    link_input(&pair->target.link, pair->now, image, bytes);
}

/* Whatever acks came: the window's numbers are in order. */
static void check_window(const struct link *link)
{
    uint16_t made = (uint16_t)(link->next - link->base);

    assert_true(made <= link->config.window);
    assert_true((uint16_t)(link->cursor - link->base) <= made);
    assert_true((uint16_t)(link->sent_to - link->base) <= made);
}

static uint32_t enemy_round(struct pair *pair)
{
    uint32_t frames = 0;

    for (; frames < 200 && link_is_up(&pair->target.link); frames++) {
        const uint8_t *bytes;

        enemy_frame(pair);
        end_act(&pair->target, random_below(2));
        pair->now += random_below(3);
        link_output_done(&pair->target.link, link_output(&pair->target.link, pair->now, &bytes));
        check_window(&pair->target.link);
    }
    return frames;
}

/* The target may fall, but not crash, loop or write where it may not; then it meets again. */
void test_hostile_frames(void **state)
{
    struct pair *pair = pair_make(__func__);
    uint32_t falls = 0, frames = 0;

    (void)state;
    pair->target.careless = true;
    for (int round = 0; round < 4000; round++) {
        pair->target.why = pair->host.why = 0;
        pair->host.link.hello_at = pair->target.link.hello_at = pair->now - 1000;
        pair_meet(pair);
        frames += enemy_round(pair);
        falls += !link_is_up(&pair->target.link);
        pair->host.why = pair->target.why = 0;
        end_start(&pair->host, "host", LINK_HOST, pair->now);
    }
    print_message("  %u frames, %u falls\n", frames, falls);
    assert_true(falls > 1000 && frames > 5 * falls);
    pair->target.careless = false;
    end_start(&pair->target, "target", LINK_TARGET, pair->now);
    pair_settle(pair);
    pair_free(pair);
}

/* What docs/reference/link.md says of a line of 115200 baud: 240 bytes a frame, above 90 % are
 * the message's. */
void test_overhead(void **state)
{
    struct pair *pair = pair_make(__func__);

    (void)state;
    pair->target.frame_most = 240;
    end_start(&pair->target, "target", LINK_TARGET, pair->now);
    pair_meet(pair);
    unsigned channel = open_one(pair);
    struct talk *talk = &pair->target.talk[channel];
    uint64_t before = link_stats(&pair->target.link)->bytes_out, bytes = 0;

    while (bytes < 200000) {
        size_t length = end_message_bytes(talk->number, LINK_TARGET, talk->sent);

        if (!talk->sending && link_send(&pair->target.link, channel, length) == 0) {
            talk->sending = true;
            bytes += length;
        }
        link_credit(&pair->host.link, channel, 10000);
        pair->host.talk[channel].allowed += 10000;
        pair->host.talk[channel].owed = 0;
        pair_step(pair, true);
    }
    pair_settle(pair);
    uint64_t line = link_stats(&pair->target.link)->bytes_out - before;
    print_message("  %llu of %llu bytes: %llu %%\n", (unsigned long long)bytes,
                  (unsigned long long)line, (unsigned long long)(bytes * 100 / line));
    assert_true(bytes * 100 > line * 85);
    pair_free(pair);
}

void test_bad_config(void **state)
{
    struct pair *pair = pair_make(__func__);
    struct link_config good = pair->host.link.config, bad = good;

    (void)state;
    bad.window = 3;
    assert_int_equal(link_init(&pair->host.link, &bad, 0), -EINVAL);
    bad = good;
    bad.window = 128;
    assert_int_equal(link_init(&pair->host.link, &bad, 0), -EINVAL);
    uint8_t *memory = malloc(LINK_MEMORY(END_FRAME_MOST, 64));
    bad = good;
    bad.window = 64;
    bad.memory = memory;
    assert_int_equal(link_init(&pair->host.link, &bad, 0), 0);
    free(memory);
    bad = good;
    bad.frame_most = LINK_FRAME_LEAST - 1;
    assert_int_equal(link_init(&pair->host.link, &bad, 0), -EINVAL);
    bad = good;
    bad.channels = 0;
    assert_int_equal(link_init(&pair->host.link, &bad, 0), -EINVAL);
    assert_int_equal(link_init(&pair->host.link, &good, 0), 0);
    pair_free(pair);
}
