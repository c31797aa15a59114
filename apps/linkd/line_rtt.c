/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link over RTT: two rings in RAM that a debug probe reads and writes while the CPU runs, for
 * boards without a UART to spare. SEGGER's layout: a control block that begins with 16 known bytes
 * has the rings; openocd, J-Link and probe-rs search for these bytes. Channel 0 of either direction
 * is the link, docs/guide/port.md has openocd's lines.
 *
 * A probe raises no interrupt, so a timer polls: often while bytes move, otherwise rarely. The
 * memory is mapped only if this line is used. Cortex-M: addresses of 32 bits, no cache, and a
 * debugger sees the program's addresses.
 */
#include <stdio.h>
#include <string.h>

#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "apps/linkd/line.h"

#ifndef LINK_RTT_BYTES
#define LINK_RTT_BYTES 2048 /* the block and its rings */
#endif
#define DOWN_BYTES (LINK_RTT_BYTES / 8)
#define UP_BYTES (LINK_RTT_BYTES - DOWN_BYTES - 72)

#define POLL_MOVING UINT64_C(1000000) /* ns */
#define POLL_IDLE UINT64_C(10000000)
#define STILL_POLLS 100 /* after so many polls without bytes it polls rarely */

/* The writer of a ring changes `written`, the reader `read`: offsets below `size`. Equal: empty. */
struct rtt_ring {
    const char *name;
    volatile uint8_t *bytes;
    uint32_t size;
    volatile uint32_t written, read;
    uint32_t flags; /* 0: data that doesn't fit is left out, which never happens here */
};

struct rtt {
    volatile char id[16];
    int32_t ups, downs;
    struct rtt_ring up, down; /* to the host, to the target */
    volatile uint8_t up_bytes[UP_BYTES], down_bytes[DOWN_BYTES];
};
_Static_assert(sizeof(void *) == 4 && sizeof(struct rtt) == LINK_RTT_BYTES, "as the probe sees it");

static struct rtt *line_rtt_block;
static int line_rtt_timer;
static unsigned line_rtt_quiet_rounds; /* polls in which no byte moved */
static uint32_t up_read;               /* up.read at the previous poll */

/* The known bytes are written last, and are nowhere else in memory: the program has them in
 * reverse. */
static void line_rtt_show_block(void)
{
    static const char reverse[] = "TTR REGGES";

    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < sizeof(reverse) - 1; i++) {
        line_rtt_block->id[i] = reverse[sizeof(reverse) - 2 - i];
    }
}

static void line_rtt_rearm(void)
{
    const uint32_t read = line_rtt_block->up.read;
    struct _itimer when = {0};

    line_rtt_quiet_rounds =
        read != up_read ? 0 : line_rtt_quiet_rounds + (line_rtt_quiet_rounds < STILL_POLLS);
    up_read = read;
    when.nsec = line_rtt_quiet_rounds < STILL_POLLS ? POLL_MOVING : POLL_IDLE;
    TimerSettime(line_rtt_timer, 0, &when, NULL);
}

static int line_rtt_open(int coid, int code)
{
    struct kymo_map map = {.len = sizeof(*line_rtt_block),
                           .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
    struct sigevent event;

    SIGEV_PULSE_INIT(&event, coid, SIGEV_PULSE_PRIO_INHERIT, code, 0);
    line_rtt_timer = TimerCreate(CLOCK_MONOTONIC, &event);
    if (line_rtt_timer < 0 || MemMap(&map) < 0) {
        return -1;
    }
    line_rtt_block = (struct rtt *)(uintptr_t)map.vaddr; /* zeroed */
    line_rtt_block->ups = line_rtt_block->downs = 1;
    line_rtt_block->up =
        (struct rtt_ring){.name = "link", .bytes = line_rtt_block->up_bytes, .size = UP_BYTES};
    line_rtt_block->down =
        (struct rtt_ring){.name = "link", .bytes = line_rtt_block->down_bytes, .size = DOWN_BYTES};
    line_rtt_show_block();
    line_rtt_rearm();
    printf("linkd: RTT at %p, %u bytes\n", (void *)line_rtt_block, LINK_RTT_BYTES);
    fflush(stdout);
    return 0;
}

/* The host's offset is used only if it is in the ring. */
static size_t line_rtt_read(uint8_t *bytes, size_t room)
{
    struct rtt_ring *ring = &line_rtt_block->down;
    uint32_t at = ring->read;
    const uint32_t end = __atomic_load_n(&ring->written, __ATOMIC_ACQUIRE);
    size_t count = 0;

    while (count < room && at != end && end < DOWN_BYTES) {
        bytes[count++] = line_rtt_block->down_bytes[at];
        at = at + 1 < DOWN_BYTES ? at + 1 : 0;
    }
    __atomic_store_n(&ring->read, at, __ATOMIC_RELEASE);
    line_rtt_quiet_rounds = count ? 0 : line_rtt_quiet_rounds;
    return count;
}

static size_t line_rtt_write(const uint8_t *bytes, size_t count)
{
    struct rtt_ring *ring = &line_rtt_block->up;
    uint32_t at = ring->written;
    const uint32_t end = __atomic_load_n(&ring->read, __ATOMIC_ACQUIRE);
    size_t done = 0;

    while (done < count && end < UP_BYTES) {
        const uint32_t next = at + 1 < UP_BYTES ? at + 1 : 0;
        if (next == end) {
            break;
        }
        line_rtt_block->up_bytes[at] = bytes[done++];
        at = next;
    }
    __atomic_store_n(&ring->written, at, __ATOMIC_RELEASE);
    line_rtt_quiet_rounds = done ? 0 : line_rtt_quiet_rounds;
    return done;
}

const struct line_driver line_rtt = {
    .name = "rtt",
    .open = line_rtt_open,
    .rearm = line_rtt_rearm,
    .read = line_rtt_read,
    .write = line_rtt_write,
};
