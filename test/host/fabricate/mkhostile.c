/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures that are large, or that somebody has made to keep a reader busy: with a reader whose
 * work grows with the product of two of their counts, they take hours. For
 * test/host/flow/capacity_test.c and `mkcapture hostile`.
 */
#include <string.h>

#include "abi/sys/kercalls.h"
#include "abi/sys/states.h"
#include "abi/sys/trace.h"
#include "host/event_numbers.h"
#include "host/pr_th.h"
#include "test/host/fabricate/mkcapture.h"

#define FACTOR_INVERSE 0xf1de83e19937733dull /* times 0x9e3779b97f4a7c15 (mod 2^64): 1 */

static void mkhostile_put(struct mk *mk, unsigned class, unsigned number, uint32_t a, uint32_t b)
{
    const uint32_t words[2] = {a, b};

    mk_event(mk, 0, 1, class, number, words, 2);
}

static void mkhostile_thread(struct mk *mk, uint32_t pid, uint32_t tid)
{
    mkhostile_put(mk, TRACE_CLASS_PR_TH, PR_TH_CREATE, pid, tid);
    mkhostile_put(mk, TRACE_CLASS_PR_TH, STATE_RUNNING, pid, tid);
    mkhostile_put(mk, TRACE_CLASS_PR_TH, STATE_RECEIVE, pid, tid);
}

/* n threads of a few processes. */
static void mkhostile_threads(struct mk *mk, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        mkhostile_thread(mk, 2 + i % 3, 1 + i / 3);
    }
}

/* A thread in each of n processes, which have names, but the first ones have none. */
static void mkhostile_processes(struct mk *mk, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t words[2] = {1, 2 + i};

        if (i > n / 2) {
            mk_string(mk, 0, 1, TRACE_CLASS_PR_TH, PR_TH_PROCCREATE_NAME, words, 2, "many");
        }
        mkhostile_thread(mk, 2 + i, 1);
    }
}

/* n threads whose ids multiplicative hashes put into one place. */
static void mkhostile_colliding(struct mk *mk, uint32_t n)
{
    for (uint64_t i = 1; n > 0; i++) {
        uint64_t key = i * FACTOR_INVERSE;

        if ((key & 0x8000000080000000ull) == 0) {
            mkhostile_thread(mk, (uint32_t)(key >> 32), (uint32_t)key);
            n--;
        }
    }
}

/* n threads, one after the other, with one pid and tid. */
static void mkhostile_reused(struct mk *mk, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        mkhostile_thread(mk, 2, 7);
        mkhostile_put(mk, TRACE_CLASS_PR_TH, PR_TH_DESTROY, 2, 7);
    }
}

/* The ends of n threads, of which nothing else is there. */
static void mkhostile_ended(struct mk *mk, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        mkhostile_put(mk, TRACE_CLASS_PR_TH, PR_TH_DESTROY, 2, 1 + i);
    }
}

/* n clients of one rcvid and two servers: the messages to the first are never received. */
static void mkhostile_messages(struct mk *mk, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        bool second = i >= n / 2;

        mkhostile_put(mk, TRACE_CLASS_PR_TH, STATE_RUNNING, 3, 1 + i);
        mkhostile_put(mk, TRACE_CLASS_COMM, NUMBER_comm_snd_message, 77, second ? 5 : 4);
    }
    for (uint32_t i = 0; i < n; i++) { /* from the oldest on */
        mkhostile_put(mk, TRACE_CLASS_COMM, NUMBER_comm_rec_message, 77, 6);
        mkhostile_put(mk, TRACE_CLASS_COMM, NUMBER_comm_reply_message, 1 + i, 3);
    }
}

/* n functions that never return, and n returns from others. */
static void mkhostile_exits(struct mk *mk, uint32_t n)
{
    mkhostile_thread(mk, 2, 1);
    for (uint32_t i = 0; i < n; i++) {
        mkhostile_put(mk, TRACE_CLASS_SYSTEM, NUMBER_function_enter, 0x1000 + 4 * i, 0x8000);
    }
    for (uint32_t i = 0; i < n; i++) {
        mkhostile_put(mk, TRACE_CLASS_SYSTEM, NUMBER_function_exit, 0x1002 + 4 * i, 0x8000);
    }
}

/* n interrupts that never end. */
static void mkhostile_interrupts(struct mk *mk, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        mkhostile_put(mk, TRACE_CLASS_INT, NUMBER_int_entry, i, 0x8000);
    }
    for (uint32_t i = 0; i < n; i++) {
        mkhostile_put(mk, TRACE_CLASS_INT, NUMBER_int_exit, i + n, 0);
    }
}

/* n threads that are ready, and a CPU that runs n times one of which nothing is known. */
static void mkhostile_nobody(struct mk *mk, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        mkhostile_put(mk, TRACE_CLASS_PR_TH, STATE_READY, 2, 1 + i);
    }
    for (uint32_t i = 0; i < n; i++) {
        mkhostile_put(mk, TRACE_CLASS_PR_TH, STATE_RUNNING, 3, 1);
        mkhostile_put(mk, TRACE_CLASS_PR_TH, STATE_RUNNING, UINT32_MAX, UINT32_MAX);
    }
}

/* n threads that live at once, and end one after the other. */
static void mkhostile_crowd(struct mk *mk, uint32_t n)
{
    mkhostile_threads(mk, n);
    for (uint32_t i = 0; i < n; i++) {
        mkhostile_put(mk, TRACE_CLASS_PR_TH, PR_TH_DESTROY, 2 + i % 3, 1 + i / 3);
    }
}

/* n threads that wait for one mutex, and get it in turn, each from the one before. */
static void mkhostile_mutex(struct mk *mk, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        mkhostile_put(mk, TRACE_CLASS_PR_TH, STATE_RUNNING, 2, 2 + i);
        mkhostile_put(mk, TRACE_CLASS_KER_CALL, __KER_SYNC_MUTEX_LOCK, 0x1000, 1);
        mkhostile_put(mk, TRACE_CLASS_PR_TH, STATE_MUTEX, 2, 2 + i);
    }
    for (uint32_t i = 0; i < n; i++) {
        mkhostile_put(mk, TRACE_CLASS_PR_TH, STATE_RUNNING, 2, 1 + i);
        mkhostile_put(mk, TRACE_CLASS_KER_CALL, __KER_SYNC_MUTEX_UNLOCK, 0x1000, 0);
        mkhostile_put(mk, TRACE_CLASS_PR_TH, STATE_READY, 2, 2 + i);
    }
}

/* n threads, and n losses. */
static void mkhostile_losses(struct mk *mk, uint32_t n)
{
    mkhostile_threads(mk, n);
    for (uint32_t i = 0; i < n; i++) {
        mk_dropped(mk, 0, KYMO_DROP_NOBUFFER, TRACE_CLASS_PR_TH, 1);
        mkhostile_put(mk, TRACE_CLASS_PR_TH, STATE_READY, 2, 1 + i / 3);
    }
}

const struct mk_hostile mk_hostiles[] = {
    {"threads", mkhostile_threads},
    {"processes", mkhostile_processes},
    {"colliding", mkhostile_colliding},
    {"reused", mkhostile_reused},
    {"ended", mkhostile_ended},
    {"messages", mkhostile_messages},
    {"exits", mkhostile_exits},
    {"interrupts", mkhostile_interrupts},
    {"nobody", mkhostile_nobody},
    {"crowd", mkhostile_crowd},
    {"mutex", mkhostile_mutex},
    {"losses", mkhostile_losses},
    {NULL, NULL},
};

struct mk *mk_hostile_make(const char *name, uint32_t n)
{
    const struct mk_hostile *kind = mk_hostiles;
    struct mk *mk;

    while (kind->name != NULL && strcmp(kind->name, name) != 0) {
        kind++;
    }
    if (kind->name == NULL) {
        return NULL;
    }
    mk = mk_new(&(struct mk_options){.ncpu = 1, .checked = true, .filters = "all classes"});
    kind->put(mk, n);
    mk_flush_all(mk);
    mk_end(mk);
    return mk;
}
