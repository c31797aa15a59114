/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D's provider fbt: that entry and return say what they should, that all probes at once can be put
 * on and off again and again while messages flow, and that clauses which fault do no harm. With the
 * argument `hold`: puts all on and stays. Its D programs are test/boot/fbt.
 */
#include "test/boot/programs/check.h"

#include "kernel/abi/sys/dtrace.h"

#define IMAGE_MOST 8192
#define OUT_MOST 32768
#define SENDS 50

static uint64_t image[IMAGE_MOST / 8], out[OUT_MOST / 8];

static int control(struct kymo_d_call *call, unsigned command, size_t in_bytes, size_t out_bytes)
{
    call->command = command;
    call->in_bytes = (uint32_t)in_bytes;
    call->out_bytes = (uint32_t)out_bytes;
    return DtraceControl(call, image, out);
}

static uint64_t memory(void)
{
    struct kymo_d_call call = {0};

    EXPECT_EQ(control(&call, KYMO_D_INFO, 0, sizeof(struct kymo_d_info)), 0);
    return ((const struct kymo_d_info *)out)->memory;
}

static uint32_t create(const char *name)
{
    struct kymo_d_call call = {0};
    long n = ImageRead(name, 0, image, sizeof(image));

    EXPECT(n > 0);
    EXPECT_EQ(control(&call, KYMO_D_CREATE, n > 0 ? (size_t)n : 0, sizeof(out)), 0);
    return call.handle;
}

static void simple(uint32_t handle, unsigned command)
{
    struct kymo_d_call call = {.handle = handle};

    EXPECT_EQ(control(&call, command, 0, 0), 0);
}

/* struct d_snap (size, oldest, drops, errors, taken), then the bytes: those. */
static uint32_t snap(uint32_t handle, unsigned command, unsigned cpu)
{
    struct kymo_d_call call = {.handle = handle, .cpu = cpu};

    EXPECT_EQ(control(&call, command, 0, sizeof(out)), 0);
    EXPECT_EQ(out[2], 0);
    return call.out_bytes > 40 ? call.out_bytes - 40 : 0;
}

static void *serve(void *arg)
{
    int chid = *(int *)arg;

    for (int i = 0; i < SENDS; i++) {
        char text[8];
        int rcvid = MsgReceive(chid, text, sizeof(text), NULL);
        MsgReply(rcvid, 0, text, sizeof(text));
    }
    return NULL;
}

static void talk(void)
{
    char text[8] = "hello";
    struct link to = make_link(0);
    int tid = start_thread(serve, &to.chid, 0);

    for (int i = 0; i < SENDS; i++) {
        EXPECT_EQ(MsgSend(to.coid, text, sizeof(text), text, sizeof(text)), 0);
    }
    join(tid);
    drop_link(&to);
}

/* Both clauses record two ints and who called: header, 4 bytes each, 8 bytes. */
struct record {
    uint32_t epid, high, low;
    int32_t first, second;
    uint64_t caller;
};

static void t_values(void)
{
    uint32_t handle = create("fbt_one.dif");
    unsigned entries = 0, returns = 0;
    int chid[3];

    simple(handle, KYMO_D_GO);
    for (unsigned i = 0; i < COUNT(chid); i++) {
        chid[i] = ChannelCreate(0);
        EXPECT(chid[i] > 0);
    }
    simple(handle, KYMO_D_STOP);
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
        uint32_t n = snap(handle, KYMO_D_BUFFER, cpu) / (uint32_t)sizeof(struct record);
        const struct record *r = (const void *)&out[5];
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
    simple(handle, KYMO_D_DESTROY);
    for (unsigned i = 0; i < COUNT(chid); i++) {
        EXPECT_EQ(ChannelDestroy(chid[i]), 0);
    }
}

static void t_all(void)
{
    uint32_t handle = create("fbt_all.dif");
    uint32_t bytes = 0;

    simple(handle, KYMO_D_GO);
    talk();
    simple(handle, KYMO_D_STOP);
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
        bytes += snap(handle, KYMO_D_AGGREGATION, cpu);
    }
    simple(handle, KYMO_D_DESTROY);
    EXPECT(bytes > 1000);
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
        uint32_t handle = create(i % 2 ? "fbt_all.dif" : "fbt_bad.dif");
        simple(handle, KYMO_D_GO);
        sleep_ms(5);
        simple(handle, KYMO_D_DESTROY);
    }
    storm_over = true;
    for (unsigned i = 0; i < COUNT(tid); i++) {
        join(tid[i]);
    }
}

/* The probes are there by now: they stay. */
static void t_memory_is_back(void)
{
    uint64_t before = memory();

    for (int i = 0; i < 20; i++) {
        uint32_t handle = create("fbt_all.dif");
        simple(handle, KYMO_D_GO);
        simple(handle, KYMO_D_DESTROY);
    }
    EXPECT_EQ(memory(), before);
}

static const struct check table[] = {
    {"what entry and return say", t_values},
    {"all at once", t_all},
    {"on and off in a storm", t_on_and_off},
    {"memory comes back", t_memory_is_back},
};

static int hold(void)
{
    uint32_t handle = create("fbt_all.dif");

    simple(handle, KYMO_D_GO);
    for (;;) {
        struct kymo_d_call call = {.handle = handle};
        sleep_ms(500);
        control(&call, KYMO_D_STATUS, 0, sizeof(out)); /* says that somebody is there */
    }
    return 0;
}

int main(int argc, char **argv)
{
    (void)argv;
    return argc > 1 ? hold() : check_run("fbt", table, COUNT(table));
}
