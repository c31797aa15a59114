/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares a reader's answers about a capture with the truth that the simulator kept
 * (test/host/fabricate/truth.h). The answers are plain records, so any reader can be asked. Each
 * fact has a key ("end SEM timer"); what is wrong is counted by it, and so is what the reader does
 * not know although the capture shows it.
 */
#ifndef TEST_HOST_TIMELINE_ORACLE_H
#define TEST_HOST_TIMELINE_ORACLE_H

#include "test/host/fabricate/truth.h"

#define ORACLE_NEVER INT64_MAX /* a time: not known */
#define ORACLE_UNKNOWN 255     /* a state */
#define ORACLE_KEYS 512

enum oracle_cause {
    ORACLE_CAUSE_UNKNOWN,
    ORACLE_CAUSE_SELF,
    ORACLE_CAUSE_THREAD,
    ORACLE_CAUSE_INTERRUPT,
    ORACLE_CAUSE_PREEMPTED,
};

struct oracle_name { /* a thread's life; tid 0: not known */
    int32_t pid, tid;
    int64_t from, to; /* ns */
};

/* Times in ns; 0 is the capture's first event. */
struct oracle_span {
    struct oracle_name thread;
    int64_t from, to;
    uint64_t object;          /* 0: not known */
    struct oracle_name other; /* MUTEX: the owner */
    int64_t message;          /* SEND, REPLY: when that was sent; ORACLE_NEVER */
    struct oracle_name by;    /* what ended it, see `cause` */
    uint32_t number;
    int16_t cpu, priority; /* -1: not known */
    uint8_t state, cause;
    bool ends; /* that it ended at `to` is known */
};

struct oracle_message {
    struct oracle_name client, server;
    int64_t sent, received, replied;
    bool error, aborted;
};

struct oracle_interrupt {
    int64_t from, to;
    uint32_t number;
    int16_t cpu;
    uint8_t depth;
};

struct oracle_call {
    struct oracle_name thread;
    int64_t from, to;
    uint32_t number;
    bool ends;
};

struct oracle_thread {
    struct oracle_name thread;
    const char *name, *process; /* NULL: not known */
};

struct oracle_answers {
    struct oracle_thread *threads;
    struct oracle_span *spans; /* in any order */
    struct oracle_message *messages;
    struct oracle_interrupt *interrupts;
    struct oracle_call *calls;
    uint32_t nthreads, nspans, nmessages, ninterrupts, ncalls;
};

struct oracle_count {
    char key[40];
    uint64_t right, wrong, unknown; /* unknown: though the capture shows it */
    struct oracle_example {
        uint64_t seed;
        char text[200];
    } first_wrong, first_unknown;
};

struct oracle_counts {
    struct oracle_count keys[ORACLE_KEYS];
    unsigned nkeys;
    uint64_t waits; /* that were compared */
};

/* `start`: cycles at which ns is 0; a cycle has `cycle_ns`. Sorts the answers. */
void oracle_compare(const struct truth *truth, uint64_t start, int64_t cycle_ns,
                    struct oracle_answers *answers, uint64_t seed, struct oracle_counts *counts);

#endif
