/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mapping RAM of all sizes, those that an MMU maps by blocks among them: the memory is clear, is
 * each mapping's own, and comes back whole, whatever the order; also if the process is killed while
 * one of its threads maps most of RAM and another maps and unmaps beside it (`t_map child` is that
 * process). What a thread unmaps or protects, a thread on another CPU can't write to any more.
 */
#include "test/board/programs/check.h"

#include <stdlib.h>

#define RW (KYMO_PROT_READ | KYMO_PROT_WRITE)
#define PAGE 4096u
#define MOST (1u << 30)
/* What is large here: an MMU's block, or so much that a small board has a few of it. */
#define LARGE (sizeof(void *) == 8 ? 2u << 20 : 128u << 10)
#define PIECES 5 /* at a time; an MPU has eight regions */
#define KILLS 12

static const size_t lengths[] = {
    LARGE - PAGE,     LARGE,     LARGE + PAGE, 3 * LARGE - 5 * PAGE, PAGE,
    4 * LARGE + PAGE, 2 * LARGE, 3 * PAGE};

static struct kymo_map map_of(size_t len)
{
    struct kymo_map map = {.len = len, .flags = RW};

    return MemMap(&map) == 0 ? map : (struct kymo_map){0};
}

static int unmap(const struct kymo_map *map)
{
    return MemUnmap((void *)(uintptr_t)map->vaddr, (size_t)map->len);
}

static uint32_t *word_at(const struct kymo_map *map, uint64_t offset)
{
    return (uint32_t *)(uintptr_t)(map->vaddr + offset);
}

/* Each page of it is clear; then each says whose it is. */
static void sign(const struct kymo_map *map, uint32_t name)
{
    for (uint64_t at = 0; at < map->len; at += PAGE) {
        if (*word_at(map, at) != 0) {
            EXPECT_EQ(*word_at(map, at), 0);
            return;
        }
        *word_at(map, at) = name + (uint32_t)(at / PAGE);
    }
    *word_at(map, map->len - 4) |= 0x80000000u;
}

static void check_signed(const struct kymo_map *map, uint32_t name)
{
    for (uint64_t at = 0; at < map->len; at += PAGE) {
        if (*word_at(map, at) != name + (uint32_t)(at / PAGE)) {
            EXPECT_EQ(*word_at(map, at), name + at / PAGE);
            return;
        }
    }
    EXPECT(*word_at(map, map->len - 4) & 0x80000000u);
}

/* The largest lengths that can be mapped one beside the other, in the powers of two there are. */
static uint64_t memory_left(void)
{
    struct kymo_map maps[PIECES] = {{0}};
    uint64_t sum = 0;
    unsigned n = 0;

    for (size_t len = MOST; len >= PAGE && n < PIECES; len /= 2) {
        maps[n] = map_of(len);
        if (maps[n].len) {
            sum += maps[n++].len;
        }
    }
    while (n-- > 0) {
        EXPECT_EQ(unmap(&maps[n]), 0);
    }
    return sum;
}

static void t_sizes(void)
{
    uint64_t before = memory_left();

    for (unsigned first = 0; first < COUNT(lengths); first++) {
        struct kymo_map maps[PIECES];

        for (unsigned i = 0; i < PIECES; i++) {
            maps[i] = map_of(lengths[(first + i) % COUNT(lengths)]);
            EXPECT(maps[i].len != 0);
            if (maps[i].len == 0) {
                return;
            }
            sign(&maps[i], 1000000 * (i + 1));
        }
        for (unsigned i = 0; i < PIECES; i++) { /* in another order */
            unsigned gone = (i * 2 + first) % PIECES;

            check_signed(&maps[gone], 1000000 * (gone + 1));
            EXPECT_EQ(unmap(&maps[gone]), 0);
        }
    }
    EXPECT_EQ(memory_left(), before);
}

/* Rights of all of a large mapping change at once. */
static void t_rights(void)
{
    struct kymo_map map = map_of(2 * LARGE);

    sign(&map, 7);
    EXPECT_EQ(MemProtect((void *)(uintptr_t)map.vaddr, (size_t)map.len, KYMO_PROT_READ), 0);
    check_signed(&map, 7);
    EXPECT_EQ(MemProtect((void *)(uintptr_t)map.vaddr, (size_t)map.len, RW), 0);
    *word_at(&map, LARGE) = 1;
    EXPECT_EQ(unmap(&map), 0);
    int status = 0, pid = spawn("victim", 0, 9, "fault", "protected", NULL);
    EXPECT(pid > 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    EXPECT_EQ(KYMO_STATUS_SIGNAL(status), KYMO_SIGSEGV);
}

/* ---- killed while it maps ---------------------------------------------------------- */

static void *maps_most(void *arg)
{
    for (;;) {
        size_t len = MOST;
        struct kymo_map map;

        do {
            len /= 2;
            map = map_of(len);
        } while (map.len == 0);
        unmap(&map);
    }
    return arg;
}

static void child(void)
{
    start_thread(maps_most, NULL, 8);
    for (unsigned i = 0;; i++) {
        struct kymo_map map = map_of(lengths[i % COUNT(lengths)]);

        if (map.len) {
            *word_at(&map, 0) = 1;
            unmap(&map);
        }
        SchedYield();
    }
}

static void t_killed(void)
{
    uint64_t before = memory_left();

    for (unsigned i = 0; i < KILLS; i++) {
        int status, pid = spawn("t_map", 0, 9, "child", NULL, NULL);
        uint64_t ns = (1 + i * 7 % KILLS) * MS;

        EXPECT(pid > 0);
        TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);
        SignalKill(0, pid, 0, KYMO_SIGKILL, 0, 0);
        EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    }
    EXPECT_EQ(memory_left(), before);
}

/* ---- what another CPU has in its TLB ----------------------------------------------- */

static void t_stale(void)
{
    static const char *const hows[] = {"stale-unmapped", "stale-protected"};

    for (unsigned i = 0; i < COUNT(hows); i++) {
        int status = 0, pid = spawn("victim", 0, 9, "fault", hows[i], NULL);

        EXPECT(pid > 0);
        EXPECT_EQ(ProcWait(pid, &status, 0), pid);
        EXPECT_EQ(KYMO_STATUS_SIGNAL(status), KYMO_SIGSEGV);
    }
}

int main(int argc, char **argv)
{
    static const struct check table[] = {{"of all sizes", t_sizes},
                                         {"rights", t_rights},
                                         {"killed half-way", t_killed},
                                         {"gone on other CPUs", t_stale}};

    if (argc >= 2 && strcmp(argv[1], "child") == 0) {
        child();
    }
    return check_run("map", table, COUNT(table));
}
