/* SPDX-License-Identifier: BSD-2-Clause */
/* The service console. */
#include <stdio.h>

#include "test/lib/linkd/tests.h"

/* Takes text until so many bytes of the console's have come; returns how many a note says are
 * lost. */
static uint64_t hear(struct world *w, int channel, uint64_t from, uint64_t to)
{
    uint64_t lost = 0;

    while (from < to) {
        unsigned long here = 0;
        size_t bytes, at = 0;
        uint8_t *text = host_message(w, channel, &bytes);

        assert_non_null(text);
        text[bytes] = '\0';
        if (sscanf((char *)text, "\n[%lu bytes lost]\n", &here) == 1) {
            at = (size_t)(strchr((char *)text + 1, '\n') + 1 - (char *)text);
        }
        lost += here;
        from += here;
        for (; at < bytes; at++) {
            assert_int_equal(text[at], console_byte(from++));
        }
        free(text);
    }
    assert_true(from == to);
    return lost;
}

void test_console(void **state)
{
    struct world *w = world_make(torn);

    (void)state;
    console_print(w, 5000); /* only the newest are kept */
    int channel = host_open(w, "console");
    assert_true(hear(w, channel, 5000 - CONSOLE_KEPT, 5000) == 0);
    console_print(w, 300);
    assert_true(hear(w, channel, 5000, 5300) == 0);
    world_run(w, 5);
    console_print(w, 700); /* one message's worth is on its way when the rest is overwritten */
    world_run(w, 1);
    console_print(w, 100000);
    assert_true(hear(w, channel, 5300, 106000) > 0);
    host_send(w, channel, "ls -l\n", 6);
    world_run(w, 2000);
    assert_int_equal(w->typed_bytes, 6);
    assert_memory_equal(w->typed, "ls -l\n", 6);
    world_free(w);
}

/* The kernel prints without an event: the console is asked from time to time. */
void test_console_tick(void **state)
{
    struct world *w = world_make(clean);
    int channel = host_open(w, "console");

    (void)state;
    world_run(w, 100);
    w->console_bytes += 10;
    world_run(w, 300);
    assert_non_null(w->channel[channel].first);
    assert_true(hear(w, channel, 0, 10) == 0);
    world_free(w);
}

void test_console_refuses(void **state)
{
    static const char much[LINK_CONSOLE_MOST + 1];
    struct world *w = world_make(clean);
    int channel[LINKD_CONSOLES];

    (void)state;
    for (int i = 0; i < LINKD_CONSOLES; i++) {
        channel[i] = host_open(w, "console");
        assert_true(w->channel[channel[i]].open);
    }
    int refused = host_open(w, "console");
    assert_int_equal(w->channel[refused].reason, -EAGAIN);
    host_send(w, channel[0], much, sizeof(much));
    assert_int_equal(host_reason(w, channel[0]), -EMSGSIZE);
    assert_int_equal(w->typed_bytes, 0);
    world_run(w, 100);
    assert_true(w->channel[host_open(w, "console")].open);
    world_free(w);
}
