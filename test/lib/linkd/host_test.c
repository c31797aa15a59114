/* SPDX-License-Identifier: BSD-2-Clause */
/* Hello, the service source, hosts that follow each other, and one that sends anything. */
#include "test/lib/linkd/tests.h"

void fill(uint8_t *bytes, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++) {
        bytes[i] = link_source_byte(seed, (uint32_t)i);
    }
}

void test_hello(void **state)
{
    struct world *w = world_make(clean);

    (void)state;
    w->host_clock = 1700000000;
    world_host_new(w);
    int channel = host_open(w, "no such service");
    assert_int_equal(w->channel[channel].reason, -ENOENT);
    assert_string_equal(link_peer(&w->host)->board, "memory");
    assert_memory_equal(link_peer(&w->host)->build_id, "a build id, twenty b", 20);
    assert_int_equal(link_peer(&w->host)->channels, LINKD_CHANNELS);
    assert_true(w->host_time == UINT64_C(1700000000) * 1000000000);
    world_free(w);
}

/* Without a host nothing is due, and no timer runs. */
void test_sleeps(void **state)
{
    struct world *w = world_make(clean);

    (void)state;
    host_open(w, "console");
    assert_in_range(linkd_output(&w->linkd), 1, 1000);
    linkd_lost(&w->linkd);
    linkd_output(&w->linkd);
    w->now += 1000;
    linkd_output(&w->linkd); /* the hello that says it is there again */
    w->now += 1000;
    assert_int_equal(linkd_output(&w->linkd), LINKD_NO_TIMER);
    world_free(w);
}

static void source_is_exact(struct line_faults faults, uint32_t bytes)
{
    struct world *w = world_make(faults);
    int channel = host_open(w, "source");
    const struct link_source ask = {.bytes = bytes, .seed = 77};
    size_t got;

    for (int round = 0; round < 2; round++) {
        host_send(w, channel, &ask, sizeof(ask));
        uint8_t *message = host_message(w, channel, &got);
        assert_non_null(message);
        assert_int_equal(got, bytes);
        for (uint32_t i = 0; i < bytes; i++) {
            assert_int_equal(message[i], link_source_byte(77, i));
        }
        free(message);
    }
    assert_true(w->to_host.faults_made > 0 || faults.most == 0);
    world_free(w);
}

void test_source(void **state)
{
    (void)state;
    source_is_exact(clean, 300000);
    source_is_exact(clean, 0);
    source_is_exact(torn, 100000);
}

void test_source_refuses(void **state)
{
    struct world *w = world_make(clean);
    const struct link_source ask = {.bytes = LINK_MESSAGE_MOST + 1};
    int channel = host_open(w, "source");

    (void)state;
    host_send(w, channel, &ask, sizeof(ask));
    assert_int_equal(host_reason(w, channel), -EMSGSIZE);
    channel = host_open(w, "source");
    host_send(w, channel, &ask, sizeof(ask) - 1);
    assert_int_equal(host_reason(w, channel), -EINVAL);
    world_free(w);
}

void test_hosts_follow(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        struct world *w = world_make(way == 2 ? torn : clean);
        struct d_request request = {0};

        for (unsigned round = 1; round < 4; round++) {
            int d = host_open(w, "dtrace");

            d_create(w, d, &request);
            begin_capture(w, (int)round, host_open(w, "capture"));
            host_open(w, "console");
            if (way == 0) { /* it says goodbye; the others are killed */
                link_bye(&w->host);
                world_run(w, 50);
                assert_false(link_is_up(&w->linkd.link));
                for (int i = 0; i < D_CONSUMERS; i++) {
                    assert_int_equal(w->consumers[i], 0);
                }
            }
            world_host_new(w);
            d = host_open(w, "dtrace");
            d_create(w, d, &request);
            unsigned consumers = 0;
            for (int i = 0; i < D_CONSUMERS; i++) {
                consumers += w->consumers[i] != 0;
            }
            assert_int_equal(consumers, 1);
            client_kill(w, (int)round);
            world_host_new(w);
        }
        world_free(w);
    }
}

void test_anything(void **state)
{
    static const char *const services[] = {"dtrace", "console", "capture", "source", "program"};
    static uint8_t bytes[4000];
    struct world *w = world_make(clean);

    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        int channel = (int)random_below(LINKD_CHANNELS);
        struct host_channel *c = &w->channel[channel];

        if (!c->open && link_is_up(&w->host)) {
            channel = host_open(w, services[random_below(5)]);
            c = &w->channel[channel];
        }
        if (c->open && !c->sending) {
            for (size_t i = 0; i < sizeof(bytes); i++) {
                bytes[i] = random_below(3) ? 0 : (uint8_t)random_below(256);
            }
            bytes[0] = (uint8_t)random_below(24);
            host_send(w, channel, bytes, random_below(8) ? random_below(100) : random_below(4000));
        }
        if (random_below(10) == 0) {
            console_print(w, random_below(3000));
        }
        if (random_below(300) == 0) {
            world_host_new(w);
        }
        world_run(w, random_below(4));
    }
    world_free(w);
}
