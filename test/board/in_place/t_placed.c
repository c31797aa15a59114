/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that are linked for their RAM, and tables whose entries are allocated: while other
 * programs of the image don't run, and all RAM is in use but theirs, tables grow as far as they
 * can. The programs must be able to start then: those that kernel.start names after this one.
 */
#include "test/board/programs/check.h"

#include <stdio.h>

#define PIECES 5 /* an MPU has eight regions */
#define LARGEST (32u << 10)
#define LEAST 256u /* physical memory's granule */
#define MOST 64u
#define THREADS 7u
#define STACK 512u

/* So large that its place begins where those of all programs do (board.mk: USER_RAM). */
static char mine[17 << 10] __attribute__((aligned(64)));
static struct kymo_map pieces[PIECES];
static unsigned npieces;
static struct link own;
static int nobodys; /* a channel to which nobody sends */

/* Maps so much below the places of programs. */
static bool take(size_t len)
{
    struct kymo_map map = {.len = len, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};

    if (npieces == PIECES || MemMap(&map) != 0) {
        return false;
    }
    if (map.vaddr > (uintptr_t)mine) {
        EXPECT_EQ(MemUnmap((void *)(uintptr_t)map.vaddr, (size_t)map.len), 0);
        return false;
    }
    pieces[npieces++] = map;
    return true;
}

/* Of each power of two the eighths that one region can have, the largest first. */
static void take_ram(void)
{
    for (size_t power = LARGEST; power >= LEAST; power /= 2) {
        size_t step = power / 8 >= LEAST ? power / 8 : LEAST;

        for (size_t len = power; len > power / 2; len -= step) {
            while (take(len)) {
            }
        }
    }
}

/* ---- tables ------------------------------------------------------------------------ */

static void *wait(void *unused)
{
    for (;;) {
        MsgReceive(nobodys, NULL, 0, NULL);
    }
    return unused;
}

static int new_thread(unsigned i)
{
    const struct _thread_attr attr = {.stackaddr = mine + (size_t)i * STACK, .stacksize = STACK};

    return ThreadCreate(0, wait, NULL, &attr);
}

static int new_timer(unsigned i)
{
    struct sigevent event = {.sigev_notify = SIGEV_NONE};

    (void)i;
    return TimerCreate(CLOCK_MONOTONIC, &event);
}

static int new_connection(unsigned i)
{
    (void)i;
    return ConnectAttach(0, 0, own.chid, _NTO_SIDE_CHANNEL, 0);
}

static int new_name(unsigned i)
{
    char name[KYMO_NAME_MAX];

    snprintf(name, sizeof(name), "placed/%u", i);
    return NameAttach(name, own.chid);
}

static int new_pulse(unsigned i)
{
    return MsgSendPulse(own.coid, 10, 1, (int)i);
}

/* Returns how many there were, at most so many, before one was refused. */
static unsigned fill(int (*one)(unsigned i), unsigned most)
{
    unsigned n = 0;

    while (n < most && one(n) >= 0) {
        n++;
    }
    EXPECT(n == most || errno == EAGAIN || errno == EMFILE);
    return n;
}

static void t_tables_grow_elsewhere(void)
{
    own = make_link(0);
    nobodys = ChannelCreate(0);
    take_ram();
    unsigned threads = fill(new_thread, THREADS), timers = fill(new_timer, MOST);
    unsigned connections = fill(new_connection, MOST), names = fill(new_name, MOST);
    unsigned pulses = fill(new_pulse, MOST);

    EXPECT(threads < THREADS); /* else there was RAM left */
    say("%u pieces of RAM; %u threads, %u timers, %u connections, %u names, %u pulses", npieces,
        threads, timers, connections, names, pulses);
}

int main(void)
{
    static const struct check tests[] = {{"tables grow elsewhere", t_tables_grow_elsewhere}};

    return check_run("placed", tests, COUNT(tests));
}
