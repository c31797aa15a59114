/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hostile process: threads make random calls all the time, while another one writes over what
 * they pass, and maps, protects and removes what they point to. It ends when somebody kills it, or
 * by what it does. `t_torture hostile SEED [ADDRESSES]`; without addresses one of its own kind has
 * spawned it.
 */
#include "test/board/torture/typed.h"

#include <pthread.h>

#define CALLERS 3 /* threads, the main one included */
#define CALLS_A_REPORT 64
#define SCRIBBLES 24 /* words of the area written over at a time */

static uint64_t seed;
static volatile int judge = -1; /* connection; any thread's random call may close it */
static struct torture_addresses told;

/* A thread may have no C library: raw calls only. */
static void connect_judge(struct typed *t)
{
    uintptr_t args[6] = {
        0, (uintptr_t)told.judge_pid, (uintptr_t)told.judge_chid, _NTO_SIDE_CHANNEL, 0, 0};
    struct raw_result result = typed_raw(t, NUMBER_CONNECT_ATTACH, args);

    judge = result.error == 0 ? (int)result.value : -1;
}

static void tell(struct typed *t)
{
    struct torture_report told_now = {.magic = REPORT_MAGIC};
    uintptr_t args[6] = {(uintptr_t)judge, (uintptr_t)&told_now, -sizeof(told_now), 0, 0, 0};

    told_now.of[REPORT_CALLS] = t->calls;
    if (typed_raw(t, NUMBER_MSG_SENDV, args).error == 0) {
        t->calls = 0;
    } else {
        connect_judge(t);
    }
}

static void call_for_ever(uint64_t own_seed)
{
    struct typed t = {.random = own_seed};

    for (;;) {
        typed_call(&t);
        if (t.calls >= CALLS_A_REPORT && told.judge_pid != 0) {
            tell(&t);
        }
    }
}

static void *caller(void *own)
{
    call_for_ever(seed + (uint64_t)(uintptr_t)own);
    return NULL;
}

/* A thread that a random call has created, with any argument. */
static void random_thread(void *any)
{
    call_for_ever(seed ^ (uintptr_t)any);
}

/* ---- the scribbler ------------------------------------------------------------------------ */

static void shift_map(struct typed *t, unsigned i)
{
    struct kymo_map map = {.len = 4096u << torture_pick(&t->random, 4),
                           .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
    uintptr_t args[6] = {(uintptr_t)&map};

    if (typed_raw(t, NUMBER_MEM_MAP, args).error == 0) {
        typed_shifting[i] = (uintptr_t)map.vaddr;
    }
}

static void shift_unmap(struct typed *t, unsigned i)
{
    uintptr_t args[6] = {typed_shifting[i], 0};

    typed_shifting[i] = 0;
    typed_raw(t, NUMBER_MEM_UNMAP, args);
}

/* Its rights go and come back; memory that can't be written is only passed to calls. */
static void shift_protect(struct typed *t, unsigned i)
{
    uintptr_t args[6] = {typed_shifting[i], 0, KYMO_PROT_READ};

    typed_raw(t, NUMBER_MEM_PROTECT, args);
    typed_raw(t, NUMBER_SCHED_YIELD, args);
    args[2] = KYMO_PROT_READ | KYMO_PROT_WRITE;
    typed_raw(t, NUMBER_MEM_PROTECT, args);
}

static void shift(struct typed *t)
{
    unsigned i = torture_pick(&t->random, TYPED_SHIFTING);

    if (typed_shifting[i] == 0) {
        shift_map(t, i);
    } else if (torture_pick(&t->random, 3) == 0) {
        shift_unmap(t, i);
    } else {
        shift_protect(t, i);
    }
}

static void *scribbler(void *unused)
{
    struct typed t = {.random = seed + 77};
    uintptr_t none[6] = {0};

    for (;;) {
        for (unsigned n = 0; n < SCRIBBLES; n++) {
            uint32_t at = torture_pick(&t.random, TYPED_AREA / 4);
            ((volatile uint32_t *)(void *)typed_area.bytes)[at] = torture_random(&t.random);
        }
        shift(&t);
        typed_raw(&t, NUMBER_SCHED_YIELD, none);
        if (t.calls >= CALLS_A_REPORT && told.judge_pid != 0) {
            tell(&t);
        }
    }
    return unused;
}

int hostile_main(uint64_t given, const struct torture_addresses *addresses)
{
    seed = given;
    told = *addresses;
    int server = ConnectAttach(0, told.server_pid, told.server_chid, _NTO_SIDE_CHANNEL, 0);
    judge = ConnectAttach(0, told.judge_pid, told.judge_chid, _NTO_SIDE_CHANNEL, 0);
    typed_start(addresses, (const int[]){judge, server}, random_thread);
    for (unsigned i = 1; i < CALLERS; i++) {
        start_thread(caller, (void *)(uintptr_t)i, 0); /* there may be no room for it */
    }
    start_thread(scribbler, NULL, 0);
    caller(NULL);
    return 0;
}
