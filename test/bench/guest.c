/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `make bench` measures, on the board: each operation between two marker no-ops, many times.
 * test/bench/count.c (in QEMU) records the instructions executed between them, test/bench/bench
 * counts; this program only runs. See test/bench/README.md for what each interval is.
 *
 *   bench server      replies to 8-byte messages; priority above the client's
 *   bench server4k    replies to messages of 4,096 bytes
 *   bench spin        opens interval INTERVAL_IRQ again and again; priority below everything
 *   bench client      calls, messages, events, in order
 *   bench interrupts  closes what the spinner opened
 *   bench map         maps and unmaps nearly all of RAM; a child ends with it (bench mapped)
 */
#include <errno.h>
#include <kymo.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>

#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "abi/sys/trace.h"
#include "lib/capture/check.h"
#include "test/bench/mark.h"
#include "trace/crc32c.h"
#include TEST_DEVICE_H /* of board.mk */

enum {
    INTERVAL_MSG = 1, /* guest_msg.c has the first */
    INTERVAL_IRQ,
    INTERVAL_EVENT,   /* the first ROUNDS with the event off, the rest with it on */
    INTERVAL_SUM = 6, /* guest_d.c has two; SUM_ROUNDS of each way to sum SUM_SLOTS slots */
    INTERVAL_LONG,    /* LONG_ROUNDS of each long call: msg_rt_4096, msg_rt_4096_odd, map_4k */
};

#define NAME "bench"
#define NAME_4K "bench4k"
#define LONG 4096
#define LONG_ROUNDS 20
#define SUM_ROUNDS 5
#define SUM_SLOTS 128
#define ROUNDS 100
#define EVENTS 1600 /* more than two buffers' high water, fewer than the buffers hold */
#define BUFFERS 8
#define NEAR_WRAP 1000000 /* cycles: some hundred events; a SysTick comes for itself later */
#define NEAR_EVENTS 1000  /* more than fill that */

static int failed(const char *what)
{
    printf("bench: %s: %s\n", what, strerror(errno));
    return 1;
}

static int server(const char *called, void *msg, size_t size)
{
    iov_t iov;
    name_attach_t *name = name_attach(NULL, called, 0);

    if (name == NULL) {
        return failed("name_attach");
    }
    SETIOV(&iov, msg, size);
    for (;;) {
        int rcvid = MsgReceivev(name->chid, &iov, 1, NULL);

        if (rcvid > 0) {
            MsgReplyv(rcvid, 0, &iov, 1);
        }
    }
}

static __attribute__((noreturn)) void spin(void)
{
    for (;;) {
        OPEN(INTERVAL_IRQ);
        for (volatile int i = 0; i < 20; i++) {
        }
    }
}

/* ---- a sum over slots: CHECK's, and two that it might have been -------------------- */

static __attribute__((noinline)) uint64_t fletcher(const struct trace_slot *slots, size_t count)
{
    uint32_t a = 0, b = 0;

    for (size_t i = 0; i < count; i++) {
        b += a += slots[i].header;
        b += a += slots[i].time;
        b += a += slots[i].d1;
        b += a += slots[i].d2;
    }
    return (uint64_t)b << 32 | a;
}

static uint64_t sum_once(unsigned way, const struct trace_slot *slots)
{
    switch (way) {
    case 0:
        return capture_sum_slots(CAPTURE_SUM_FIRST, slots, SUM_SLOTS);
    case 1:
        return fletcher(slots, SUM_SLOTS);
    default:
        return trace_crc(slots, SUM_SLOTS * sizeof(*slots));
    }
}

static int sums(void)
{
    static struct trace_slot slots[SUM_SLOTS];
    volatile uint64_t sum;

    for (unsigned i = 0; i < 3 * SUM_ROUNDS; i++) {
        OPEN(INTERVAL_SUM);
        sum = sum_once(i / SUM_ROUNDS, slots);
        CLOSE(INTERVAL_SUM);
    }
    (void)sum;
    return 0;
}

static int round_trips(void)
{
    uint32_t out[2] = {1, 2}, in[2];
    int coid = name_open(NAME, 0);
    iov_t siov, riov;

    if (coid < 0) {
        return failed("name_open");
    }
    SETIOV(&siov, out, sizeof(out));
    SETIOV(&riov, in, sizeof(in));
    for (int i = 0; i < ROUNDS; i++) {
        OPEN(INTERVAL_MSG);
        long status = MsgSendv(coid, &siov, 1, &riov, 1);
        CLOSE(INTERVAL_MSG);
        if (status != 0) {
            return failed("MsgSendv");
        }
    }
    return 0;
}

static char long_message[LONG + 8] __attribute__((aligned(64)));
static char long_reply[LONG] __attribute__((aligned(64)));

static int long_trips(int coid, const char *message)
{
    for (int i = 0; i < LONG_ROUNDS; i++) {
        OPEN(INTERVAL_LONG);
        long status = MsgSend(coid, message, LONG, long_reply, LONG);
        CLOSE(INTERVAL_LONG);
        if (status != 0) {
            return failed("MsgSend");
        }
    }
    return 0;
}

static int maps(void)
{
    for (int i = 0; i < LONG_ROUNDS; i++) {
        struct kymo_map map = {.len = 4096, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};

        OPEN(INTERVAL_LONG);
        int error = MemMap(&map);
        CLOSE(INTERVAL_LONG);
        if (error < 0 || MemUnmap((void *)(uintptr_t)map.vaddr, (size_t)map.len) < 0) {
            return failed("MemMap");
        }
    }
    return 0;
}

static int long_calls(void)
{
    int coid = name_open(NAME_4K, 0);

    if (coid < 0) {
        return failed("name_open");
    }
    return long_trips(coid, long_message) || long_trips(coid, long_message + 1) || maps();
}

/* ---- interrupt to thread: the spinner opens, this thread closes -------------------- */

static int interrupts(void)
{
    struct kymo_map map = {
        .phys = DEVICE, .len = 4096, .flags = KYMO_MAP_DEVICE | KYMO_PROT_READ | KYMO_PROT_WRITE};
    struct sigevent event;
    volatile uint32_t *regs;
    int id;

    if (MemMap(&map) < 0) {
        return failed("MemMap");
    }
    regs = (volatile uint32_t *)(uintptr_t)map.vaddr;
    SIGEV_INTR_INIT(&event);
    id = InterruptAttachEvent(DEVICE_IRQ, &event, 0);
    if (id < 0) {
        return failed("InterruptAttachEvent");
    }
    for (int i = 0; i < 5; i++) {
        device_fire(regs);
        InterruptWait(0, NULL);
        CLOSE(INTERVAL_IRQ);
        device_quiet(regs);
        InterruptUnmask(DEVICE_IRQ, id);
    }
    InterruptDetach(id);
    return 0;
}

/* ---- one event: a pulse sent to nobody is exactly one COMM event ------------------- */

static int pulses(int coid, int chid, int n)
{
    struct _pulse pulse;

    for (int i = 0; i < n; i++) {
        OPEN(INTERVAL_EVENT);
        int error = MsgSendPulse(coid, 10, 1, i);
        CLOSE(INTERVAL_EVENT);
        if (error != 0 || MsgReceivePulse(chid, &pulse, sizeof(pulse), NULL) != 0) {
            return failed("pulse");
        }
    }
    return 0;
}

static void sleep_ns(uint64_t ns)
{
    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);
}

/* TIME before an event: because the clock's interrupt has found that it wrapped, or before it has
 * (on a clock of 64 bits the same). */
static int wraps(int coid, int chid)
{
    uint64_t per_sec = kymo_cycles_per_sec(), wrap = UINT64_C(1) << 32;
    int status = 0;

    for (int i = 0; i < 6; i++) {
        sleep_ns(wrap * 1000 / per_sec * 1000000 / 2);
        status |= pulses(coid, chid, 3);
    }
    for (int i = 0; i < 2; i++) {
        uint64_t left = wrap - (uint32_t)ClockCycles();

        if (left > NEAR_WRAP) {
            sleep_ns((left - NEAR_WRAP) * 1000 / per_sec * 1000000);
        }
        for (int n = 0; n < NEAR_EVENTS && (uint32_t)ClockCycles() >> 31; n++) {
            status |= pulses(coid, chid, 1);
        }
        status |= pulses(coid, chid, 3);
    }
    return status;
}

/* The mark is passed, buffers end without one, the time wraps. */
static int events(void)
{
    int chid = ChannelCreate(0);
    int coid = ConnectAttach(0, 0, chid, _NTO_SIDE_CHANNEL, 0);
    uint64_t paddr;
    int status;

    if (TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, BUFFERS, &paddr) < 0) {
        return failed("ALLOCBUFFER");
    }
    TraceEvent((int)_NTO_TRACE_DELALLCLASSES);
    TraceEvent((int)_NTO_TRACE_ADDEVENT, _NTO_TRACE_COMM, 1); /* SND_PULSE */
    status = pulses(coid, chid, ROUNDS);
    TraceEvent((int)_NTO_TRACE_STARTNOSTATE);
    status |= pulses(coid, chid, EVENTS);
    status |= wraps(coid, chid);
    TraceEvent((int)_NTO_TRACE_FLUSHBUFFER);
    TraceEvent((int)KYMO_TRACE_SETHIGHWATER, 1024);
    status |= pulses(coid, chid, EVENTS);
    TraceEvent((int)_NTO_TRACE_STOP);
    TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER);
    return status;
}

/* ---- nearly all of RAM: the interval is read for its longest masked stretch -------- */

#define PIECE_MOST (UINT64_C(1) << 30)
#define PIECE_STEP (UINT64_C(1) << 20)

/* Maps the largest piece of RAM that there is, or a little less, of odd length. */
static int map_most(struct kymo_map *map)
{
    uint64_t len = PIECE_MOST;

    do {
        len -= PIECE_STEP;
        *map = (struct kymo_map){.len = len - 4096, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
    } while (MemMap(map) != 0 && len > PIECE_STEP);
    return len > PIECE_STEP ? 0 : failed("MemMap");
}

static int unmap(const struct kymo_map *map)
{
    return MemUnmap((void *)(uintptr_t)map->vaddr, (size_t)map->len) ? failed("MemUnmap") : 0;
}

/* Pages of a table of their own, beside the piece. */
static int map_beside(void)
{
    struct kymo_map page = {.len = 4096, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};

    return MemMap(&page) ? failed("MemMap of a page") : unmap(&page);
}

static int map_and_end(void)
{
    char *const argv[] = {"bench", "mapped", NULL};
    struct kymo_spawn_attr attr = {
        .priority = 10, .ability = ABILITY_KILL, .limits = 1u << KYMO_LIMIT_RAM};

    attr.limit[KYMO_LIMIT_RAM] = KYMO_LIMIT_MOST;
    int pid = kymo_spawn("bench", argv, &attr), status = 0;

    return pid < 0 || ProcWait(pid, &status, 0) != pid || status ? failed("bench mapped") : 0;
}

static int map_all(void)
{
    struct kymo_map map;

    OPEN(INTERVAL_LONG);
    int error = map_most(&map);
    error = error || map_beside();
    error = error || MemProtect((void *)(uintptr_t)map.vaddr, (size_t)map.len, KYMO_PROT_READ);
    error = error || unmap(&map);
    error = error || map_and_end();
    CLOSE(INTERVAL_LONG);
    printf("bench: mapped %lu MB\n", (unsigned long)(map.len >> 20));
    return error;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "server") == 0) {
        uint32_t msg[2];

        return server(NAME, msg, sizeof(msg));
    }
    if (argc >= 2 && strcmp(argv[1], "server4k") == 0) {
        return server(NAME_4K, long_message, LONG);
    }
    if (argc >= 2 && strcmp(argv[1], "spin") == 0) {
        spin();
    }
    if (argc >= 2 && strcmp(argv[1], "map") == 0) {
        return map_all();
    }
    if (argc >= 2 && strcmp(argv[1], "mapped") == 0) {
        struct kymo_map map;

        return map_most(&map);
    }
    if (argc >= 2 && strcmp(argv[1], "interrupts") == 0) {
        return interrupts();
    }
    return sums() != 0 || round_trips() != 0 || long_calls() != 0 || events() != 0;
}
