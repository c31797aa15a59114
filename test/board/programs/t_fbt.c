/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D's provider fbt: that entry and return say what they should, that all probes at once can be put
 * on and off again and again while messages flow, and that clauses which fault do no harm. With the
 * argument `hold`: puts all on and stays. Its D programs are test/board/fbt.
 */
#include "test/board/programs/dcalls.h"

/* Both clauses record two ints and who called: header, 4 bytes each, 8 bytes. */
struct record {
    uint32_t epid, high, low;
    int32_t first, second;
    uint64_t caller;
};

static void t_values(void)
{
    uint32_t handle = d_create("fbt_one.dif");
    unsigned entries = 0, returns = 0;
    int chid[3];

    d_do(handle, KYMO_D_GO);
    for (unsigned i = 0; i < COUNT(chid); i++) {
        chid[i] = ChannelCreate(0);
        EXPECT(chid[i] > 0);
    }
    d_do(handle, KYMO_D_STOP);
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        uint32_t n = d_take(handle, KYMO_D_BUFFER, cpu) / (uint32_t)sizeof(struct record);
        const struct record *r = (const void *)&d_out[5];
        EXPECT_EQ(d_out[2], 0);
        for (; n > 0; n--, r++) {
            bool entry = r->epid == 1;
            EXPECT_EQ(r->first, 1);
            EXPECT_EQ(r->second, entry ? 0 : chid[returns]);
            EXPECT(r->caller != 0);
            entries += entry;
            returns += !entry;
        }
    }
    EXPECT_EQ(entries, COUNT(chid));
    EXPECT_EQ(returns, COUNT(chid));
    d_do(handle, KYMO_D_DESTROY);
    for (unsigned i = 0; i < COUNT(chid); i++) {
        EXPECT_EQ(ChannelDestroy(chid[i]), 0);
    }
}

static void t_all(void)
{
    uint32_t handle = d_create("fbt_all.dif");
    uint32_t bytes = 0;

    d_do(handle, KYMO_D_GO);
    d_talk(50);
    d_do(handle, KYMO_D_STOP);
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        bytes += d_take(handle, KYMO_D_AGGREGATION, cpu);
        EXPECT_EQ(d_out[2], 0);
        d_take(handle, KYMO_D_BUFFER, cpu);
        EXPECT_EQ(d_out[2], 0); /* none of them is called while one fires */
    }
    d_do(handle, KYMO_D_DESTROY);
    EXPECT(bytes > 1000);
}

enum { SENDS = 100, CALLS = 3, SERVER_PRIORITY = 12 };

/* Messages of one part to a waiting server of higher priority: they take the fast path. */
static void *serve_parts(void *arg)
{
    static uint32_t words[2];
    const struct link *to = arg;
    iov_t iov;

    SETIOV(&iov, words, sizeof(words));
    for (unsigned i = 0; i < SENDS; i++) {
        int rcvid = MsgReceivev(to->chid, &iov, 1, NULL);
        EXPECT_EQ(MsgReplyv(rcvid, 0, &iov, 1), 0);
    }
    return NULL;
}

static void send_parts(void)
{
    static uint32_t words[2];
    struct link to = make_link(0);
    int tid = start_thread(serve_parts, &to, SERVER_PRIORITY);
    iov_t iov;

    SETIOV(&iov, words, sizeof(words));
    for (unsigned i = 0; i < SENDS; i++) {
        EXPECT_EQ(MsgSendv(to.coid, &iov, 1, &iov, 1), 0);
    }
    join(tid);
    drop_link(&to);
}

static struct counts count(const char *program)
{
    uint32_t handle = d_create(program);

    d_do(handle, KYMO_D_GO);
    send_parts();
    d_do(handle, KYMO_D_STOP);
    struct counts n = d_counts(handle);
    d_do(handle, KYMO_D_DESTROY);
    return n;
}

/* While nothing but fbt is enabled: no event says that the fast path must be left. */
static void t_each_message(void)
{
    struct counts n = count("fbt_messages.dif");

    for (unsigned call = 1; call <= CALLS; call++) {
        EXPECT_EQ(n.of[call], SENDS);
        EXPECT_EQ(n.of[CALLS + call], SENDS);
    }
}

/* The event of a call's entry is one that the fast path makes, too: what it counts, fbt counts. */
static void t_calls_and_functions(void)
{
    struct counts n = count("fbt_calls.dif");

    for (unsigned call = 1; call <= CALLS; call++) {
        EXPECT_EQ(n.of[call], SENDS);
        EXPECT_EQ(n.of[CALLS + call], SENDS);
    }
}

static volatile bool storm_over;

static void *storm(void *arg)
{
    (void)arg;
    while (!storm_over) {
        struct _pulse pulse;
        struct link to = make_link(0);
        EXPECT_EQ(MsgSendPulse(to.coid, 10, 1, 2), 0);
        EXPECT_EQ(MsgReceivePulse(to.chid, &pulse, sizeof(pulse), NULL), 0);
        drop_link(&to);
    }
    return NULL;
}

static void t_on_and_off(void)
{
    int tid[3];

    storm_over = false;
    for (unsigned i = 0; i < COUNT(tid); i++) {
        tid[i] = start_thread(storm, NULL, 0);
    }
    for (int i = 0; i < 10; i++) {
        uint32_t handle = d_create(i % 2 ? "fbt_all.dif" : "fbt_bad.dif");
        d_do(handle, KYMO_D_GO);
        sleep_ms(5);
        d_do(handle, KYMO_D_DESTROY);
    }
    storm_over = true;
    for (unsigned i = 0; i < COUNT(tid); i++) {
        join(tid[i]);
    }
}

/* The probes are there by now: they stay. */
static void t_memory_is_back(void)
{
    uint64_t before = d_memory();

    for (int i = 0; i < 20; i++) {
        uint32_t handle = d_create("fbt_all.dif");
        d_do(handle, KYMO_D_GO);
        d_do(handle, KYMO_D_DESTROY);
    }
    EXPECT_EQ(d_memory(), before);
}

static const struct check table[] = {
    {"what entry and return say", t_values}, {"all at once", t_all},
    {"each message", t_each_message},        {"calls and functions", t_calls_and_functions},
    {"on and off in a storm", t_on_and_off}, {"memory comes back", t_memory_is_back},
};

static int hold(void)
{
    uint32_t handle = d_create("fbt_all.dif");

    d_do(handle, KYMO_D_GO);
    for (;;) {
        struct kymo_d_call call = {.handle = handle};
        sleep_ms(500);
        d_call(&call, KYMO_D_STATUS, 0, sizeof(d_out)); /* says that somebody is there */
    }
    return 0;
}

int main(int argc, char **argv)
{
    (void)argv;
    return argc > 1 ? hold() : check_run("fbt", table, COUNT(table));
}
