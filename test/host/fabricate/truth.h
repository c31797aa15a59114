/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The truth about a simulated system (simulate.h): what each thread did, what ended each wait, what
 * became of each message; kept by the simulator itself, independent of any reader in host/. Times
 * are cycles of the capture's clock (1 MHz), identities are indexes of arrays.
 *
 * A span is a thread in one state, as `kymo stat` and host/timeline count: RUNNING lasts from the
 * THRUNNING on a CPU to the next THRUNNING there; a state that a thread takes on while it is still
 * current begins when it leaves the CPU, and a wait that is over before that is no span.
 *
 * `seen` says whether the capture shows a fact, by these rules. They are strict: a reader must name
 * a fact that is seen; one that is not seen it may name, but never wrongly.
 *   a span        the events that begin and end it are in the file, and so are the start and the
 *                 end of the thread's life; over all of it every CPU is covered (RUNNING: its own),
 *                 and the thread that ran on the CPU of the first event is known
 *   its end       the span is seen, the event that ends it is in the file, and the CPU of that
 *                 event was covered from the THRUNNING of the thread that ran there on. RUNNING:
 *                 all CPUs are covered from the event of the state after it on.
 *                 TRUTH_ALIKE: the same events would stand there had another one ended the wait: an
 *                 interrupt came inside of a kernel call that could have done it, or two numbers
 *                 came before
 *   object, other the span is seen, and so is the kernel call (SEND, REPLY: the sending) that the
 *                 thread waits in
 *   a message     the client: SND_MESSAGE; the server: also REC_MESSAGE, and all CPUs from the
 *                 sending on; its end: also REPLY_MESSAGE, MSG_ERROR or the client's next state
 * A CPU is covered between two of its events if none between them is lost: up to the previous event
 * in the file for one that was overwritten, up to the start of the previous buffer else.
 */
#ifndef TEST_HOST_FABRICATE_TRUTH_H
#define TEST_HOST_FABRICATE_TRUTH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TRUTH_NONE UINT32_MAX /* an identity: none */

enum truth_seen {
    TRUTH_SEEN = 0,
    TRUTH_LOST = 1,     /* hidden by loss */
    TRUTH_FILTERED = 2, /* hidden by a filter, or by the fast form */
    TRUTH_ALIKE = 3,    /* nothing is missing, but the events would be the same for another cause */
    TRUTH_EDGE = 4,     /* it began before the capture, or had not ended at its end */
};

/* What ended a wait. */
enum truth_kind {
    TRUTH_END_NONE = 0,      /* it lasts at the capture's end */
    TRUTH_END_SELF = 1,      /* the thread itself: it blocked */
    TRUTH_END_THREAD = 2,    /* `by` is the thread */
    TRUTH_END_INTERRUPT = 3, /* `by` is the number of the interrupt */
    TRUTH_END_TIMER = 4,     /* likewise, the timer's: a time was over */
    TRUTH_END_DEATH = 5,     /* a thread or process ended: `by` is the thread */
    TRUTH_END_KILL = 6,      /* `by` killed the thread, or its process */
    TRUTH_END_PREEMPTED = 7, /* it lost its CPU */
    TRUTH_END_RUN = 8,       /* READY: it got a CPU */
    TRUTH_END_YIELD = 9,     /* RUNNING: it gave up the CPU to others of its priority */
};

struct truth_cause {
    uint64_t at;    /* when */
    uint32_t by;    /* thread or number, see `kind` */
    uint32_t actor; /* thread that ran on the event's CPU, for kinds of threads; TRUTH_NONE */
    int16_t cpu;    /* where; -1 */
    uint8_t kind;   /* enum truth_kind */
    bool timed_out; /* the wait ended with ETIMEDOUT */
};

struct truth_thread { /* one life */
    char name[16], process[16];
    uint64_t from, to; /* THCREATE, or 0: before the capture; THDESTROY, or UINT64_MAX */
    int32_t pid, tid;
    uint32_t instance; /* of its process: pids are used again */
    bool idle;
    uint8_t seen; /* its start and its end are in the file, or it had none in the capture */
    uint8_t seen_process, seen_name;            /* the events that name its process, and it */
    uint32_t began, ended, process_is, name_is; /* events, private */
};

struct truth_span {
    uint64_t from, to;
    uint64_t object; /* MUTEX, SEM, CONDVAR: address; else 0 */
    uint32_t thread;
    uint32_t other; /* MUTEX: the thread that owned it then; SEND, REPLY: the message */
    struct truth_cause end;
    int16_t cpu; /* RUNNING: where; -1 */
    uint8_t state;
    uint8_t priority, own; /* when it began: with inheritance, without */
    uint8_t seen, seen_end, seen_object, seen_other, seen_priority;
    uint32_t began, ended; /* events, private */
    uint32_t call; /* the kernel call's event; RUNNING: the event of the state after it; private */
};

enum truth_message_end {
    TRUTH_MESSAGE_OPEN = 0, /* at the capture's end */
    TRUTH_MESSAGE_REPLY = 1,
    TRUTH_MESSAGE_ERROR = 2,
    TRUTH_MESSAGE_SERVER_DEATH = 3,
    TRUTH_MESSAGE_CLIENT_DEATH = 4,
    TRUTH_MESSAGE_TIMEOUT = 5,
};

struct truth_message {
    uint64_t sent, received, replied; /* 0: not */
    uint32_t client, server;          /* threads; server TRUTH_NONE: nobody received it */
    uint32_t instance;                /* process instance of the server */
    uint32_t rcvid;
    int32_t server_pid;
    uint8_t end;
    uint8_t seen, seen_server, seen_end;
    uint32_t events[4]; /* sent, received, the server's READY if it was handed over, end; private */
};

struct truth_interrupt {
    uint64_t from, to;
    uint32_t number;
    int16_t cpu;
    uint8_t depth;
    uint8_t seen;
    uint32_t events[2]; /* private */
};

struct truth_call {    /* a kernel call */
    uint64_t from, to; /* to: when its end was recorded; UINT64_MAX: it never was */
    uint64_t object;
    uint32_t thread;
    uint16_t number;
    bool aborted; /* its wait was: an INT event comes before its end */
    uint8_t seen;
    uint32_t events[2]; /* private */
};

struct truth {
    struct truth_thread *threads;
    struct truth_span *spans; /* of each thread by time, in the order of their starts */
    struct truth_message *messages;
    struct truth_interrupt *interrupts;
    struct truth_call *calls;
    uint32_t nthreads, nspans, nmessages, ninterrupts, ncalls;
    uint64_t from, to; /* first and last event */
};

void truth_free(struct truth *truth);
/* One line a fact. */
void truth_print(const struct truth *truth, FILE *to);
const char *truth_kind_name(unsigned kind);
const char *truth_seen_name(unsigned seen);

#endif
