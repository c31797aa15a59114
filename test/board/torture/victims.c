/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Victims: processes that do ordinary work beside hostile ones, and lose nothing by it. They report
 * how much they have done, and end with status 1 when anything is not as it must be.
 *   server   receives checked messages of any size in pieces, and replies them changed; whatever
 *            else is sent to it gets an error
 *   client   two threads that send to it, and memory that nobody may have changed
 *   worker   a timer whose pulses and overruns add up to the time; two threads that pass numbers
 *            through a ring with semaphores, and take turns with a condition variable
 */
#include "test/board/torture/torture.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/include/kymo.h"

#define BYTES_MOST 3000
#define SERVERS 2 /* threads */
#define CLIENTS 2
#define BURST 8 /* messages between two pauses */

static struct torture_addresses told;
static int judge; /* connection */
static uint64_t first_random;

/* Something is wrong: says what, and ends the process. */
static void lost(const char *what, long is, long must_be)
{
    say("TORTURE LOST: %s: %ld, not %ld (errno %d)", what, is, must_be, errno);
    exit(1);
}

static void must_be(const char *what, long is, long want)
{
    if (is != want) {
        lost(what, is, want);
    }
}

/* ---- messages ----------------------------------------------------------------------------- */

struct head {
    uint64_t magic;
    uint32_t bytes; /* that follow */
    uint32_t sum;   /* of these */
    uint32_t number;
    uint32_t unused;
};
#define MESSAGE_MAGIC 0x6d657373616765u
#define CHANGED 0x5a

struct message {
    struct head head;
    uint8_t data[BYTES_MOST];
};

static uint32_t sum_of(const uint8_t *data, size_t bytes)
{
    uint32_t a = 1, b = 0;

    for (size_t i = 0; i < bytes; i++) {
        a += data[i];
        b += a;
    }
    return a ^ b << 16 ^ b >> 16;
}

/* Short ones mostly: their cost is the copies', which there are enough of. */
static uint32_t some_size(uint64_t *random)
{
    return torture_pick(random, 8) ? torture_pick(random, 200) : torture_pick(random, BYTES_MOST);
}

static void message_fill(struct message *m, uint64_t *random, uint32_t number)
{
    uint32_t begin = torture_random(random);

    m->head = (struct head){.magic = MESSAGE_MAGIC, .bytes = some_size(random), .number = number};
    for (uint32_t i = 0; i < m->head.bytes; i++) {
        m->data[i] = (uint8_t)(begin + i * 7);
    }
    m->head.sum = sum_of(m->data, m->head.bytes);
}

/* ---- the server --------------------------------------------------------------------------- */

static int served;

/* The part of the message that the receive had no room for. Returns whether it came: a client that
 * is not a victim may have ended, or have sent less than it said. */
static bool receive_rest(int rcvid, struct message *m, uint32_t have, uint64_t *random)
{
    uint32_t all = m->head.bytes, at = have - (uint32_t)sizeof(m->head);

    while (at < all) {
        uint32_t n = 1 + torture_pick(random, 1000);

        n = n < all - at ? n : all - at;
        if (MsgRead(rcvid, m->data + at, n, sizeof(m->head) + at) != (long)n) {
            return false;
        }
        at += n;
    }
    return true;
}

static void reply_changed(int rcvid, struct message *m, uint64_t *random)
{
    uint32_t all = m->head.bytes, at = torture_pick(random, all + 1);

    for (uint32_t i = 0; i < all; i++) {
        m->data[i] ^= CHANGED;
    }
    m->head.sum = sum_of(m->data, all);
    /* The end first, by itself; then the beginning with the reply. */
    if (at < all) {
        must_be("MsgWrite", MsgWrite(rcvid, m->data + at, all - at, sizeof(m->head) + at),
                (long)(all - at));
    }
    must_be("MsgReply", MsgReply(rcvid, (long)(m->head.number & 0xffff), m, sizeof(m->head) + at),
            0);
}

static void serve(int rcvid, struct message *m, uint32_t have, uint64_t *random)
{
    bool known =
        have >= sizeof(m->head) && m->head.magic == MESSAGE_MAGIC && m->head.bytes <= BYTES_MOST;

    if (!known || !receive_rest(rcvid, m, have, random)) {
        MsgError(rcvid, ENOTSUP); /* ESRCH: it has ended */
        return;
    }
    must_be("sum of a message received", (long)sum_of(m->data, m->head.bytes), (long)m->head.sum);
    reply_changed(rcvid, m, random);
}

/* Pulses are the kernel's, about clients that end or want to unblock, or any other process's. */
static void take_pulse(const struct _pulse *pulse)
{
    if (pulse->code == _PULSE_CODE_DISCONNECT) {
        ConnectDetach(pulse->scoid);
    } else if (pulse->code == _PULSE_CODE_UNBLOCK) {
        MsgError(pulse->value.sival_int, EINTR); /* it may have been replied to meanwhile */
    }
}

static void *server_thread(void *arg)
{
    static struct message buffers[SERVERS];
    struct message *m = &buffers[(uintptr_t)arg];
    uint64_t random = first_random + (uintptr_t)arg;

    for (;;) {
        struct _msg_info info;
        uint32_t room = (uint32_t)sizeof(m->head) + torture_pick(&random, BYTES_MOST);
        int rcvid = MsgReceive(served, m, room, &info);

        if (rcvid > 0) {
            serve(rcvid, m, info.msglen, &random);
        } else if (rcvid == 0) {
            take_pulse((const struct _pulse *)m);
        } else if (errno != EFAULT && errno != ESRCH) {
            lost("MsgReceive", errno, 0);
        }
    }
    return NULL;
}

static int server_main(void)
{
    struct torture_report done = {.magic = REPORT_MAGIC};

    served = ChannelCreate(_NTO_CHF_DISCONNECT);
    done.of[0] = (uint32_t)served;
    for (uintptr_t i = 0; i < SERVERS; i++) {
        must_be("a thread", start_thread(server_thread, (void *)i, 0) > 0, 1);
    }
    while (report(judge, &done)) {
        sleep_ms(3 * told.pace);
    }
    return 0;
}

/* ---- clients ------------------------------------------------------------------------------ */

#define UNTOUCHED 4096
static uint8_t untouched[UNTOUCHED];
static int server; /* connection */

static void check_untouched(void)
{
    for (unsigned i = 0; i < UNTOUCHED; i++) {
        if (untouched[i] != (uint8_t)(i * 13 + 1)) {
            lost("a byte of memory", untouched[i], (uint8_t)(i * 13 + 1));
        }
    }
}

/* In one to three parts, or as a buffer. */
static long send_somehow(struct message *m, uint64_t *random)
{
    size_t all = sizeof(m->head) + m->head.bytes, cut = torture_pick(random, (uint32_t)all + 1);
    iov_t parts[3];

    SETIOV(&parts[0], m, cut);
    SETIOV(&parts[1], (uint8_t *)m + cut, (all - cut) / 2);
    SETIOV(&parts[2], (uint8_t *)m + cut + (all - cut) / 2, all - cut - (all - cut) / 2);
    switch (torture_pick(random, 4)) {
    case 0:
        return MsgSendv(server, parts, 3, parts, 3);
    case 1:
        return MsgSendsv(server, m, all, parts, 3);
    default:
        return MsgSend(server, m, all, m, all);
    }
}

static void exchange(struct message *m, uint64_t *random, uint32_t number)
{
    message_fill(m, random, number);
    uint8_t first = m->data[0];
    long status = send_somehow(m, random);

    must_be("the reply's status", status, (long)(number & 0xffff));
    must_be("the reply's number", (long)m->head.number, (long)number);
    must_be("the reply's sum", (long)sum_of(m->data, m->head.bytes), (long)m->head.sum);
    if (m->head.bytes > 0) {
        must_be("the reply's first byte", m->data[0], first ^ CHANGED);
    }
}

static void *client_thread(void *arg)
{
    static struct message buffers[CLIENTS];
    struct message *m = &buffers[(uintptr_t)arg];
    struct torture_report done = {.magic = REPORT_MAGIC};
    uint64_t random = first_random + (uintptr_t)arg;
    uint32_t number = 0;

    for (unsigned i = 0; i < UNTOUCHED; i++) {
        untouched[i] = (uint8_t)(i * 13 + 1);
    }
    do {
        for (unsigned i = 0; i < BURST; i++) {
            exchange(m, &random, number++);
        }
        check_untouched();
        sleep_ms(2 * told.pace);
        done.of[0] = BURST;
    } while (report(judge, &done));
    return NULL;
}

static int client_main(void)
{
    pthread_t thread;

    server = ConnectAttach(0, told.server_pid, told.server_chid, _NTO_SIDE_CHANNEL, 0);
    must_be("ConnectAttach", server >= 0, 1);
    must_be("pthread_create", pthread_create(&thread, NULL, client_thread, (void *)1), 0);
    client_thread((void *)0);
    must_be("pthread_join", pthread_join(thread, NULL), 0);
    return 0;
}

/* ---- worker: semaphores and a condition variable ------------------------------------------- */

#define RING 8
#define LAP 32 /* numbers between two handshakes */
static struct {
    uint32_t number[RING];
    sem_t full, empty;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint32_t laps; /* [mutex] that the taker has finished */
} ring;

static void *giver(void *unused)
{
    for (uint32_t n = 0;; n++) {
        must_be("sem_wait", sem_wait(&ring.empty), 0);
        ring.number[n % RING] = n;
        must_be("sem_post", sem_post(&ring.full), 0);
        if ((n + 1) % LAP == 0) {
            pthread_mutex_lock(&ring.mutex);
            while (ring.laps < (n + 1) / LAP) {
                pthread_cond_wait(&ring.cond, &ring.mutex);
            }
            pthread_mutex_unlock(&ring.mutex);
            sleep_ms(told.pace);
        }
    }
    return unused;
}

static volatile uint32_t taken;

static void *taker(void *unused)
{
    for (uint32_t n = 0;; n++) {
        must_be("sem_wait", sem_wait(&ring.full), 0);
        must_be("a number from the ring", (long)ring.number[n % RING], (long)n);
        must_be("sem_post", sem_post(&ring.empty), 0);
        taken = n + 1;
        if ((n + 1) % LAP == 0) {
            pthread_mutex_lock(&ring.mutex);
            ring.laps++;
            pthread_cond_signal(&ring.cond);
            pthread_mutex_unlock(&ring.mutex);
        }
    }
    return unused;
}

/* ---- worker: a timer ------------------------------------------------------------------- */

#define PERIOD_NS (2 * told.pace * MS)
static struct {
    struct link to;
    int id;
    uint32_t ticks; /* pulses and overruns */
    uint64_t first; /* ns: when it expired for the first time, as the first look at it says */
} clockwork;

static void clockwork_start(void)
{
    struct sigevent event;
    struct _itimer every = {PERIOD_NS, PERIOD_NS};

    clockwork.to = make_link(0);
    SIGEV_PULSE_INIT(&event, clockwork.to.coid, PRIORITY_VICTIM, 1, 0);
    clockwork.id = TimerCreate(CLOCK_MONOTONIC, &event);
    must_be("TimerCreate", clockwork.id >= 0, 1);
    must_be("TimerSettime", TimerSettime(clockwork.id, 0, &every, NULL), 0);
}

/* The number of expiries that lie before the next one, and what was received: they are the same,
 * but for one that waits in the queue now, or did at the first look. How late an expiry is served
 * has no part in it: where that makes the next one uncertain, nothing is compared. */
static void clockwork_check(uint64_t before, uint64_t after, uint64_t left)
{
    uint64_t next = before + left;

    if (after - before > PERIOD_NS / 4 || left < PERIOD_NS / 4) {
        return;
    }
    if (clockwork.first == 0) {
        clockwork.first = next - clockwork.ticks * PERIOD_NS;
    }
    uint64_t expired = (next - clockwork.first + PERIOD_NS / 2) / PERIOD_NS;
    if (expired + 1 < clockwork.ticks || expired > clockwork.ticks + 1) {
        lost("ticks of a timer", (long)clockwork.ticks, (long)expired);
    }
}

/* Anybody can send to the channel: only the timer's pulses count. */
static void clockwork_tick(int own_scoid)
{
    struct _timer_info info = {0};
    struct _pulse pulse;

    do {
        must_be("MsgReceivePulse", MsgReceivePulse(clockwork.to.chid, &pulse, sizeof(pulse), NULL),
                0);
    } while (!kymo_pulse_trusted(own_scoid, &pulse) || pulse.code != 1);
    uint64_t before = now_ns();
    must_be("TimerInfo", TimerInfo(0, clockwork.id, (int)_NTO_TIMER_RESET_OVERRUNS, &info) >= 0, 1);
    clockwork.ticks += 1 + info.overruns;
    clockwork_check(before, now_ns(), info.itime.nsec);
}

static int worker_main(void)
{
    struct torture_report done = {.magic = REPORT_MAGIC};
    uint32_t before = 0;

    must_be("sem_init", sem_init(&ring.full, 0, 0) + sem_init(&ring.empty, 0, RING), 0);
    must_be("pthread_mutex_init", pthread_mutex_init(&ring.mutex, NULL), 0);
    must_be("pthread_cond_init", pthread_cond_init(&ring.cond, NULL), 0);
    must_be("a thread", start_thread(giver, NULL, 0) > 0 && start_thread(taker, NULL, 0) > 0, 1);
    clockwork_start();
    int own_scoid = kymo_own_scoid(clockwork.to.coid);
    do {
        clockwork_tick(own_scoid);
        done.of[0] = 1;
        done.of[1] = taken - before;
        before += done.of[1];
    } while (report(judge, &done));
    return 0;
}

int victim_main(const char *role, uint64_t seed, const struct torture_addresses *addresses)
{
    told = *addresses;
    first_random = seed;
    judge = ConnectAttach(0, told.judge_pid, told.judge_chid, _NTO_SIDE_CHANNEL, 0);
    must_be("ConnectAttach", judge >= 0, 1);
    if (strcmp(role, "server") == 0) {
        return server_main();
    }
    return strcmp(role, "client") == 0 ? client_main() : worker_main();
}
