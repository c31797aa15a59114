/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the roles of t_torture share; one program has all of them. The judge (t_torture.c) spawns
 * hostile processes (hostile.c, whose calls are typed by typed.c), victims (victims.c), and those
 * that measure what the system has left (accounts.c).
 */
#ifndef TEST_BOARD_TORTURE_TORTURE_H
#define TEST_BOARD_TORTURE_TORTURE_H

#include "test/board/programs/check.h"

/* Hostile processes have no ability to go above 63; victims are above whatever they do. */
#define PRIORITY_HOSTILE 10
#define PRIORITY_VICTIM 70

/* What a process tells the judge from time to time; the judge's reply has status 1 when it is to
 * end. Random memory is not taken for one. */
struct torture_report {
    uint64_t magic;
    uint32_t of[4]; /* what has been done since the last report; its meaning is the role's */
};
#define REPORT_MAGIC 0x7265706f72742121u
/* Of a hostile process: kernel calls. */
#define REPORT_CALLS 0

/* The channels that a child is told of: the judge's and the victims' server's. */
struct torture_addresses {
    int judge_pid, judge_chid, server_pid, server_chid;
    unsigned pace; /* milliseconds: of the victims' pauses and of the judge's steps */
};
/* Writes and reads them as an argument of a program: at most ADDRESSES_TEXT bytes. */
#define ADDRESSES_TEXT 48
void addresses_write(char *text, const struct torture_addresses *addresses);
struct torture_addresses addresses_read(const char *text);

static inline uint32_t torture_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}
/* Below n, n from 1 to 2^32 - 1. */
static inline uint32_t torture_pick(uint64_t *state, uint32_t n)
{
    return (uint32_t)((uint64_t)torture_random(state) * n >> 32);
}

/* Tells the judge over coid; returns whether the process is to go on. */
bool report(int coid, const struct torture_report *report);

/* ---- roles: main() of a child; its exit status --------------------------------------- */

int hostile_main(uint64_t seed, const struct torture_addresses *addresses);
int victim_main(const char *role, uint64_t seed, const struct torture_addresses *addresses);
int taker_main(const struct torture_addresses *addresses);

/* ---- accounts.c: what the system has left --------------------------------------------- */

enum account {
    ACCOUNT_PROCESSES, /* that run */
    ACCOUNT_THREADS,   /* of all processes, and so on */
    ACCOUNT_CHANNELS,
    ACCOUNT_CONNECTIONS,
    ACCOUNT_MAPPINGS,
    ACCOUNT_TIMERS,
    ACCOUNT_MEMORY, /* bytes */
    ACCOUNT_OBJECTS,
    LEFT_MEMORY, /* bytes that one process can map */
    LEFT_PROCESSES,
    LEFT_THREADS, /* those and below: what as many processes as there can be get together */
    LEFT_CHANNELS,
    LEFT_CONNECTIONS,
    LEFT_TIMERS,
    LEFT_NAMES,
    LEFT_PULSES,
    ACCOUNTS
};
#define LEFT_OF_TAKER LEFT_THREADS
#define TAKER_KINDS (ACCOUNTS - LEFT_OF_TAKER)
struct accounts {
    uint64_t of[ACCOUNTS];
};
/* Fills the accounts: takes what there is and gives it back. The judge's, when nobody else runs. */
void accounts_take(struct accounts *accounts, const struct torture_addresses *addresses);
/* Called by the judge with what a taker has told: see taker_main(). */
struct taker_report {
    uint64_t magic;
    uint32_t has_taken; /* 0: it waits for a reply to begin */
    uint32_t got[TAKER_KINDS];
};
#define TAKER_MAGIC 0x74616b6572212121u
void accounts_told(const struct taker_report *report, int rcvid);
const char *account_name(enum account account);

#endif
