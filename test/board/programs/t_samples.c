/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workloads whose share of kernel and program is known to the instruction, sampled by D's profile;
 * `t_samples off`: the same ones, not sampled. The marks open and close what count.c counts, an
 * interval each kind of work. test/board/samples.py boots both and compares.
 *
 * Prints of each kind how many samples found the CPU at each address: `SAMPLES kind address count`.
 */
#include "test/bench/mark.h"
#include "test/board/programs/dcalls.h"

enum { ROUNDS = 8, RECORD = 48, DATA = 16, PLACES = 4096 };
enum { SPIN, MESSAGES, COPIES, CALLS, KINDS };

static struct link to_server;
static unsigned kind;
static volatile unsigned turns;
static uint32_t seed = 1;
static char text[8192];

/* ---- work -------------------------------------------------------------------------- */

/* Of a length that nothing else has a rhythm with. */
static void spin(unsigned most)
{
    seed = seed * 1664525 + 1013904223;
    for (turns = (seed >> 16) % most + 1; turns; turns--) {
    }
}

static void *server(void *unused)
{
    static char buffer[sizeof(text)];
    int rcvid;

    while ((rcvid = MsgReceive(to_server.chid, buffer, sizeof(buffer), NULL)) > 0) {
        MsgReply(rcvid, 0, buffer, 8);
    }
    return unused;
}

static void send(unsigned messages, unsigned bytes, unsigned most)
{
    char answer[8];

    for (unsigned n = 0; n < messages; n++) {
        spin(most);
        MsgSend(to_server.coid, text, n % 8 ? 8 : bytes, answer, sizeof(answer));
    }
}

static void *work(void *unused)
{
    switch (kind) {
    case SPIN:
        OPEN(SPIN);
        for (unsigned n = 0; n < 3000; n++) {
            spin(600);
        }
        CLOSE(SPIN);
        break;
    case MESSAGES:
        OPEN(MESSAGES);
        send(3000, 200, 200);
        CLOSE(MESSAGES);
        break;
    case COPIES:
        OPEN(COPIES);
        send(2500, sizeof(text), 100);
        CLOSE(COPIES);
        break;
    default:
        OPEN(CALLS);
        send(1000, 8, 400);
        CLOSE(CALLS);
    }
    return unused;
}

/* ---- samples ----------------------------------------------------------------------- */

static struct place {
    uint32_t count, kind;
    uint64_t at;
} places[PLACES];
static uint64_t most_late, missed, seen;

static void note(uint64_t at)
{
    unsigned i = (unsigned)(at >> 1) % PLACES;

    for (unsigned n = 0; n < PLACES; n++, i = (i + 1) % PLACES) {
        struct place *p = &places[i];
        if (p->count == 0 || (p->at == at && p->kind == kind)) {
            p->at = at;
            p->kind = kind;
            p->count++;
            return;
        }
    }
    EXPECT(false);
}

static void take(uint32_t handle)
{
    uint32_t bytes = d_take(handle, KYMO_D_BUFFER, 0);
    const char *all = (const char *)&d_out[5];

    EXPECT_EQ(d_out[2], 0); /* drops */
    for (uint32_t at = 0; at + RECORD <= bytes;) {
        const uint64_t *args = (const void *)(all + at + DATA);
        if (*(const uint32_t *)(const void *)(all + at) == 0) {
            at += 4;
            continue;
        }
        EXPECT((args[0] == 0) != (args[1] == 0));
        note(args[0] ? args[0] : args[1]);
        most_late = args[2] > most_late ? args[2] : most_late;
        missed += args[3];
        seen++;
        at += RECORD;
    }
}

static void one_kind(uint32_t handle)
{
    uint32_t other = kind == CALLS ? d_create("samples_calls.dif") : 0;

    if (other) {
        d_do(other, KYMO_D_GO);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        join(start_thread(work, NULL, own_priority() - 1));
        if (handle) {
            take(handle);
        }
    }
    if (other) {
        d_do(other, KYMO_D_DESTROY);
    }
}

static void all_kinds(bool sampled)
{
    uint32_t handle = sampled ? d_create("samples.dif") : 0;

    to_server = make_link(0);
    start_thread(server, NULL, 0);
    if (handle) {
        d_do(handle, KYMO_D_GO);
    }
    for (kind = 0; kind < KINDS; kind++) {
        one_kind(handle);
    }
    if (handle) {
        d_do(handle, KYMO_D_DESTROY);
    }
    for (unsigned i = 0; i < PLACES; i++) {
        if (places[i].count) {
            say("SAMPLES %u %lx %u", (unsigned)places[i].kind, (unsigned long)places[i].at,
                (unsigned)places[i].count);
        }
    }
    say("samples: %u, %u left out, at most %u ns late", (unsigned)seen, (unsigned)missed,
        (unsigned)most_late);
}

static void t_on(void)
{
    all_kinds(true);
}

static void t_off(void)
{
    all_kinds(false);
}

/* ---- the account ------------------------------------------------------------------- */

/* However long the kernel is busy, and however slow other clauses are: what fired and what was left
 * out is as much as the time has intervals. */
static void t_account(void)
{
    uint32_t slow = d_create("life_slow.dif"), handle = d_create("samples_account.dif");
    uint64_t times[2];

    d_do(handle, KYMO_D_GO);
    for (unsigned n = 0; n < 6; n++) {
        if (n == 3) {
            d_do(slow, KYMO_D_GO);
        }
        send(100, sizeof(text), 1000);
        sleep_ms(15);
    }
    d_do(slow, KYMO_D_DESTROY);
    sleep_ms(1500); /* until the last sample is in time again */
    d_do(handle, KYMO_D_STOP);
    struct counts n = d_counts(handle);
    uint32_t bytes = d_take(handle, KYMO_D_BUFFER, 0);
    EXPECT(bytes >= sizeof(times));
    memcpy(times, (const char *)&d_out[5] + bytes - sizeof(times), sizeof(times));
    uint64_t intervals = (times[1] - times[0]) / (1000000000 / 1999);
    EXPECT(n.of[1] > 20 && n.of[2] > 20);
    EXPECT(n.of[1] + n.of[2] >= intervals - 1 && n.of[1] + n.of[2] <= intervals + 3);
    say("account: %u samples, %u left out, %u intervals", (unsigned)n.of[1], (unsigned)n.of[2],
        (unsigned)intervals);
    d_do(handle, KYMO_D_DESTROY);
}

static const struct check on[] = {{"sampled", t_on}, {"the account", t_account}};
static const struct check off[] = {{"not sampled", t_off}};

int main(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "off") == 0 ? check_run("samples", off, COUNT(off))
                                                   : check_run("samples", on, COUNT(on));
}
